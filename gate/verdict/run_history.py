"""What a report tells of stored runs: blocking metrics, commits, changes of level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gate.records import Comparison, GateResult, LevelShift, StoredRun, Verdict
from gate.records.baseline import BaselineRun
from gate.verdict.suite_data import SuiteData


def tell_history(data: SuiteData, verdict: Verdict) -> dict[str, Any]:  # of SuiteReport
    """Its fields by name; none below two runs of the same cases."""
    runs = _stored_runs(data)
    if not runs:
        return {}
    return {
        "history": _history(data, verdict, runs),
        "history_runs": tuple(
            StoredRun(commit=run.commit, created_at=run.created_at) for run in runs
        ),
        **_marks(data, runs),
    }


def _history(
    data: SuiteData, verdict: Verdict, runs: Sequence[BaselineRun]
) -> dict[str, tuple[float | None, ...]]:
    """Means of the runs, of what blocks."""
    rows: tuple[Comparison | GateResult, ...] = (*verdict.comparisons, *verdict.gates)
    names = {row.metric for row in rows if row.suite == data.name and row.level == "block"}
    return {name: tuple(run.means.get(name) for run in runs) for name in sorted(names)}


def _marks(data: SuiteData, runs: Sequence[BaselineRun]) -> dict[str, Any]:  # as well
    """Where the level of a metric changed among the stored runs, and where a pool began."""
    from gate.store.history import Chain, history_of

    chain = Chain(suite=data.name, source="", runs=tuple(runs), accepted=data.compared.accepted)
    found = history_of(chain, last=None, since=None)
    at = {run.session_id: number for number, run in enumerate(runs)}
    shifts = (
        LevelShift(
            metric=change.metric,
            at=at[change.first.session_id],
            before=change.before,
            after=change.after,
            runs_before=change.runs_before,
            runs_after=change.runs_after,
        )
        for change in found.changes
    )
    return {"history_shifts": tuple(shifts), "history_starts": found.starts}


def _stored_runs(data: SuiteData) -> list[BaselineRun]:
    """Those whose means are of the same cases, oldest first: a sample's are not those of all cases.
    Empty below two.
    """
    most = max((run.cases for run in data.compared.history), default=0)
    runs = [run for run in data.compared.history if not 0 < run.cases < most / 2]
    return [] if len(runs) < 2 or data.meta.not_selected else runs
