"""The life of a baseline: a run is appended, old rounds go, a change is accepted.

Told to users in docs/semantics.md 7.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gate.analysis.metric_names import renamed_beside
from gate.analysis.table import Table, append_rounds, last_rounds
from gate.graders.trajectories.path import Path, limit_paths
from gate.records import AcceptedChange
from gate.records.baseline import BaselineRun
from gate.store.baseline.file import BaselineFile, newest, render, with_names
from gate.store.baseline.schema import AcceptanceNote


def append(
    baseline: BaselineFile | None,
    table: Table,
    run: BaselineRun,
    *,
    keep_rounds: int,
    keep_means: int = 20,
    partial: bool = False,
    paths: Mapping[str, Path] | None = None,
) -> BaselineFile:
    """The pool with one more run (`run.rounds`, `.kept` and `.cases` are filled in here), and its
    `paths` by case.

    Only the newest `keep_rounds` rounds of a case keep their values and the newest `keep_means`
    runs their means. A changed case or grader starts anew; cases that `table` lacks go, unless it
    is `partial` (a sample). After `accept` all older values go.
    """
    run = replace(run, rounds=table.rounds, kept=table.rounds, cases=len(table.cases))
    runs: tuple[BaselineRun, ...] = (run,)
    accepted: tuple[AcceptanceNote, ...] = ()
    pooled, known_paths = table, dict(paths or {})
    if baseline is not None:
        fresh = starts_anew(baseline)
        past = last_rounds(baseline.table, 0) if fresh else baseline.table
        old = tuple(replace(r, kept=0) for r in baseline.runs) if fresh else baseline.runs
        pooled = append_rounds(past, table, keep_absent=partial and not fresh)
        runs, accepted = (*old, run), baseline.accepted
        known_paths |= _not_run(baseline.paths, pooled, table)
    pool = BaselineFile(
        table=pooled,
        runs=runs,
        accepted=accepted,
        paths=limit_paths(known_paths),
        anchor=baseline.anchor if baseline is not None else None,
    )
    pool = newest(pool, keep_rounds)
    runs = pool.runs[-keep_means:]
    return replace(pool, runs=runs, table=last_rounds(pool.table, sum(r.kept for r in runs)))


def _not_run(paths: Mapping[str, Path], pooled: Table, run: Table) -> dict[str, Path]:
    """Those of the cases that a sample left out and the pool keeps."""
    kept = set(pooled.cases) - set(run.cases)
    return {case: path for case, path in paths.items() if case in kept}


def accept(
    baseline: BaselineFile, *, who: str, when: str, why: str, metrics: Sequence[str] = ()
) -> BaselineFile:
    """The same values with one more accept record; the next `append` starts a new pool."""
    record = AcceptanceNote(
        who=who, when=when, why=why, old_digest=digest(baseline), metrics=tuple(metrics)
    )
    return replace(baseline, accepted=(*baseline.accepted, record))


def with_accepted(baseline: BaselineFile, changes: Sequence[AcceptedChange]) -> BaselineFile:
    """What was accepted on the merged pull request, newest first, as far as it concerns the suite
    and is new to it.
    """
    for change in reversed(not_yet_in(baseline.accepted, changes)):
        if not change.metrics or any(name in baseline.table.specs for name in change.metrics):
            baseline = accept(
                baseline, who=change.who, when=change.when, why=change.why, metrics=change.metrics
            )
    return baseline


def not_yet_in(
    accepted: Sequence[AcceptanceNote], changes: Sequence[AcceptedChange]
) -> tuple[AcceptedChange, ...]:
    """Those that the baseline has not taken in yet: afterwards they excuse nothing more."""
    used = {(one.who, one.when) for one in accepted}
    return tuple(change for change in changes if (change.who, change.when) not in used)


def starts_anew(baseline: BaselineFile) -> bool:
    """Whether the values were accepted away and no run has come since."""
    return bool(baseline.accepted) and baseline.accepted[-1].old_digest == digest(baseline)


def digest(baseline: BaselineFile) -> str:
    """sha256 of runs, rules and values; accept records and the anchor do not count. Metrics have
    their oldest names in it, so that somebody's consent holds whichever version wrote the file.
    """
    oldest = {new: old for old, new in renamed_beside(baseline.table.specs).items()}
    hashed = with_names(replace(baseline, accepted=(), anchor=None), oldest)
    return hashlib.sha256(render(hashed).encode()).hexdigest()
