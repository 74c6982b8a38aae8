"""The artifact of the base branch's newest run, for repositories that commit no baseline."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from gate.plugins import BASELINES
from gate.records.forge import BaselineRequest, Forge, FoundBaseline
from gate.text import figures


@BASELINES.register("artifact")
@dataclass(frozen=True, slots=True, kw_only=True)
class FromArtifact:
    """`<suite>.json` in the artifact; one older than max_age_days is not used."""

    def find(
        self, request: BaselineRequest, forge: Forge | None, root: Path
    ) -> FoundBaseline | None:
        if forge is None and request.no_branch:  # which the other source says
            return None
        if forge is None or not forge.has_artifacts:
            request.cannot_ask("artifact: GitHub's API is not available here")
            return None
        artifact = forge.artifact(request)
        name, limit = f"artifact: '{request.artifact}'", f"{request.max_age_days:g} days"
        if artifact is None:
            before = f" at {request.base_name} or before it" if request.base_name else ""
            where = f"no trusted run of {request.branch}{before} within {limit}"
            request.explain(f"{name}: {where} has it")
            return None
        days = _age_days(artifact.created_at, request.now)
        if days is None or days > request.max_age_days:
            age = (
                "of unknown age"
                if days is None
                else f"{figures.value(days, '', limits=(request.max_age_days,))} days old"
            )
            request.explain(f"{name} is {age}, more than {limit}")
            return None
        file = f"{request.suite}.json"
        if file not in artifact.files:
            request.explain(f"{name} of {artifact.url or artifact.commit} has no {file}")
            return None
        return FoundBaseline(
            text=artifact.files[file],
            source="artifact",
            detail=f"{artifact.url or request.artifact} ({artifact.chosen_by})",
            file=f"{request.artifact}/{file}",
            answers=partial(artifact.files.get, request.answers_file),
        )


def _age_days(created_at: str, now: datetime) -> float | None:
    try:
        return (now - datetime.fromisoformat(created_at)).total_seconds() / 86_400
    except (ValueError, TypeError):
        return None
