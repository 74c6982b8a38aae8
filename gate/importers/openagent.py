"""`openagent`: a session folder of the OpenAgent benchmark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from gate.agents.http_client.route import format_address
from gate.errors import Place, UsageError
from gate.files.json_values import as_amount, is_integer, is_number, line_or_none
from gate.files.problems import Findings, refuse_problems
from gate.files.sniff import FirstLook
from gate.files.timestamps import iso, moment_of
from gate.importers.formats.openagent.files import (
    DETAILS,
    META,
    SUMMARY,
    detail_files,
    read_object,
    records,
)
from gate.importers.formats.openagent.summary import SuiteTotals, contradictions
from gate.importers.formats.openagent.trials import TOOL, trial_of
from gate.importers.trials.build import name_judge
from gate.plugins import IMPORTERS
from gate.records import MOST_ROUNDS, Health, Json, Provenance, Trial
from gate.records.imported import Imported, ImportedSuite
from gate.text.escaping import one_line

_SESSION = re.compile(r"(\d{8}-\d{6})-[0-9a-f]{8}")


@IMPORTERS.register("openagent")
@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAgentSession:
    """One trial for each task and round, as upstream judged it."""

    reads: ClassVar[str] = "a session's folder"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        """Not a session of Agent Gate, which has the log of its trials beside them."""
        return "events.jsonl" not in found.names and {META, DETAILS} <= found.names

    def read(self, path: Path) -> Imported:
        files = detail_files(path)
        meta = _Meta.of(path)
        found = _check_records(files, path)
        made = iso(meta.created_at)
        return Imported(
            files=tuple(file for file in (path / META, *files) if file.exists()),
            created_at=made,
            provenance=Provenance(agent=meta.agent, tool_version=TOOL, event="import"),
            suites={name: _suite(one, meta) for name, one in found.items()},
            trials=lambda: _trials(files, made, meta.model),
            options={**meta.options, "session": meta.session_id},
            health=meta.health,
            notes=tuple(_notes(found, meta)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meta:
    """meta.json as far as it is needed; what it lacks is unknown."""

    session_id: str
    created_at: datetime
    model: str | None = None
    agent: str = "openagent"
    rounds: int = 0
    suites: tuple[str, ...] = ()
    health: Health | None = None
    options: Mapping[str, Json] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> _Meta:
        """Raises UsageError when nothing says which session it is: its id has the time."""
        data = read_object(folder / META) or {}
        session_id = data.get("session_id") or folder.resolve().name.removeprefix("session-")
        model, address = (line_or_none(data.get(key)) for key in ("model", "base_url"))
        agent = " ".join(filter(None, ("openagent", model)))
        suites, rounds = data.get("suites"), data.get("rounds")
        numbers = {key: data.get(key) for key in ("rounds", "max_attempts", "timeout_s")}
        return cls(
            session_id=str(session_id),
            created_at=_moment(session_id, folder / META),
            model=model,
            agent=f"{agent} at {format_address(address)}" if address else agent,
            rounds=int(rounds) if rounds and _count(rounds) else 0,
            suites=tuple(map(str, suites)) if isinstance(suites, list) else (),
            health=_health(data.get("health")),
            options={key: value for key, value in numbers.items() if _count(value)},
        )


def _moment(session_id: Json, file: Path) -> datetime:
    found = _SESSION.fullmatch(session_id) if isinstance(session_id, str) else None
    if found and (moment := moment_of(found[1].replace("-", "T"))):
        return moment
    raise UsageError(
        f"{file}: session_id: '{one_line(str(session_id), 80)}' is none of the benchmark's "
        "(20260512-143052-1a2b3c4d), which says when it ran; put it right, or take it out and "
        "name the folder so"
    )


def _count(value: Json) -> bool:
    return is_number(value) and 0 < value <= MOST_ROUNDS


def _health(data: Json) -> Health | None:
    if not isinstance(data, dict) or not isinstance(data.get("ok"), bool):
        return None
    status = data.get("status")
    return Health(
        ok=data["ok"],
        latency_ms=as_amount(data.get("latency_ms")) or 0.0,
        status=status if is_integer(status) else None,
    )


# ------------------------------------------------------------------------------------------ checks


def _check_records(files: Sequence[Path], folder: Path) -> dict[str, SuiteTotals]:
    """By suite. Raises InvalidInput with everything that is wrong with the records, or with the
    summary beside them.
    """
    found: dict[str, SuiteTotals] = {}
    problems = Findings()
    seen: dict[tuple[str, str, int], int | None] = {}
    for record in problems.keep_good(records(tuple(files))):
        if record.key in seen:
            message = f"the same suite, task and round as line {seen[record.key]} - keep one"
            problems.add(record.place, message)
        else:
            seen[record.key] = record.place.line
            found.setdefault(record.key[0], SuiteTotals()).add(record)
    if not problems and not found:
        problems.add(Place(files[0].as_posix()), "no record in it")
    summary = None if problems else read_object(folder / SUMMARY)
    if summary is not None:
        problems.take(*contradictions(summary, found, (folder / SUMMARY).as_posix()))
    problems.refuse()
    return {name: found[name] for name in sorted(found)}


def _suite(own: SuiteTotals, meta: _Meta) -> ImportedSuite:
    return ImportedSuite(
        rounds=max(own.rounds, meta.rounds),
        cases=len(own.tasks),
        dataset="tasks of an imported session",
        graders=name_judge(TOOL),
    )


def _notes(found: Mapping[str, SuiteTotals], meta: _Meta) -> Iterator[str]:
    yield (
        f"imported from session {one_line(meta.session_id, 80)} of the OpenAgent benchmark, which "
        "judged it"
    )
    for name, own in found.items():
        if own.recovered:
            yield (
                f"{name}: {own.recovered} of {own.passed} passed trials did so at a later attempt, "
                "which the benchmark counts as passed (retry: any_failure)"
            )
    for name in meta.suites:
        if name not in found:
            yield f"{one_line(name, 80)}: {META} has this suite, and there is no record of it"


def _trials(files: Sequence[Path], created_at: str, model: str | None) -> Iterator[Trial]:
    for record in refuse_problems(records(tuple(files))):
        yield trial_of(record, created_at, model)
