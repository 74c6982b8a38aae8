"""What the rounds of a case did: always passed, never, or now and then; and in earlier runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gate.analysis.session_effect import rounds_of
from gate.analysis.table import Table
from gate.records import CaseCounts, Reliability
from gate.records.baseline import BaselineRun

RUNS = 10  # of a case's history, the newest


def count_cases(table: Table) -> CaseCounts:
    """How many of the cases that were asked always passed, never passed, or passed now and then."""
    success = table.column("success")
    rounds, passed = (~np.isnan(success)).sum(axis=1), np.nansum(success, axis=1)
    always, never = (rounds > 0) & (passed == rounds), (rounds > 0) & (passed == 0)
    return CaseCounts(
        asked=len(table.cases),
        passing=int(always.sum()),
        flaky=int(((rounds > 0) & ~always & ~never).sum()),
        failing=int(never.sum()),
    )


def measure_reliability(table: Table) -> Reliability | None:
    """The same counts for the cases with two rounds that passed or failed; None where there is
    none.
    """
    success = table.column("success")
    rounds, passed = (~np.isnan(success)).sum(axis=1), np.nansum(success, axis=1)
    several = rounds >= 2
    if not several.any():
        return None
    always, never = several & (passed == rounds), several & (passed == 0)
    return Reliability(
        rounds=int(rounds.max()),
        reliable=int(always.sum()),
        flaky=int((several & ~always & ~never).sum()),
        consistently_failing=int(never.sum()),
    )


def list_histories(
    baseline: Table, runs: Sequence[BaselineRun], current: Table, cases: Iterable[str]
) -> dict[str, tuple[tuple[int, int], ...]]:
    """Case -> (passed, rounds) in each of the newest RUNS that asked it, oldest first; of the same
    content as now. `runs`: whose `kept` rounds the baseline is, oldest first.
    """
    kept = [run for run in runs if run.kept]
    if sum(run.kept for run in kept) != baseline.rounds:
        return {}
    content = dict(zip(current.cases, current.digests, strict=True))
    rows = {case: row for row, case in enumerate(baseline.cases)}
    counted = [
        (np.nansum(block, axis=1).astype(int).tolist(), (~np.isnan(block)).sum(axis=1).tolist())
        for block in rounds_of(baseline.column("success"), kept)
    ]
    by_case = {}
    for case in cases:
        row = rows.get(case)
        if row is None or baseline.digests[row] != content.get(case):
            continue
        asked = [(passed[row], rounds[row]) for passed, rounds in counted if rounds[row]]
        by_case[case] = tuple(asked[-RUNS:])
    return by_case
