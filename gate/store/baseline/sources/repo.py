"""The baseline file as the base branch has it; the working tree's own copy only where there is no
repository.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from shlex import quote

from gate.files.plain_file import is_there, read_bytes, read_if_there
from gate.plugins import BASELINES
from gate.records.forge import BaselineRequest, Forge, FoundBaseline
from gate.text import figures


@BASELINES.register("repo")
@dataclass(frozen=True, slots=True, kw_only=True)
class Repo:
    """`<path>/<suite>.json` at the commit to compare with, else at the tip of the branch."""

    def find(
        self, request: BaselineRequest, forge: Forge | None, root: Path
    ) -> FoundBaseline | None:
        file = request.file
        has_own = is_there(root / file, file)
        if forge is None and request.no_branch and not has_own:
            request.cannot_ask(f"this folder is no git repository, and has no {file}")
            return None
        if forge is None and not request.no_branch:
            request.cannot_ask("repo: neither git nor GitHub's API is available here")
            return None
        if forge is not None and request.base_sha is None and request.why_no_base:
            request.cannot_ask(f"repo: {request.why_no_base}")
            return None
        ref = request.base_sha or request.branch
        where = request.base_name or (ref[:7] if len(ref) == 40 else ref)
        text = forge.read(file, ref) if forge else read_bytes(root / file)
        if text is None:
            request.explain(f"repo: no {file} at {where}{_hint(has_own, request, forge)}")
            return None
        from gate.store.baseline.file import newest_run

        run = newest_run(text, file)
        beside = f"{request.path.strip('/')}/{request.answers_file}"
        return FoundBaseline(
            text=text,
            source="repo",
            detail=f"{file} at {where}" if forge else f"{file} in the working tree",
            file=file,
            answers=(
                partial(forge.read, beside, ref) if forge else partial(read_if_there, root / beside)
            ),
            notes=_old(run.created_at if run else None, request),
        )


def _hint(has_own: bool, request: BaselineRequest, forge: Forge | None) -> str:
    """What a file that is here lacks to be there: a commit, or a push; its remedy is advised."""
    if request.base_name is not None or not has_own:
        return ""
    committed = forge is not None and request.head and forge.read(request.file, request.head)
    if committed:
        request.advise(f"push the branch, or merge it into {request.branch}")
        return f" yet: it is committed here; push it, or merge it into {request.branch}"
    if request.head:
        request.advise(f"commit it: {commit_command(request.path)}")
    return f" yet: commit it to {request.branch}"


def commit_command(folder: str) -> str:
    """What makes the saved files of a folder those that runs compare with."""
    return f"git add {quote(folder)} && git commit"


def _old(created_at: str | None, request: BaselineRequest) -> tuple[str, ...]:
    """A stale file is better than none, but the reader must see that it is stale."""
    moment = _moment(created_at)
    if moment is None:
        return ("the baseline file does not say when it was measured",)
    days = (request.now - moment).total_seconds() / 86_400
    if days <= request.max_age_days:
        return ()
    return (
        f"the baseline is older than max_age_days {request.max_age_days:g}: its newest run was "
        f"measured {figures.age(days)}",
    )


def _moment(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment
