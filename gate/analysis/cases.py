"""The lists of cases of a verdict: what newly fails or passes, flips, came, went or erred."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.analysis.missing_answers import find_cases_without_opinion, find_errored_cases
from gate.analysis.pairing import pair_cases
from gate.analysis.table import Table
from gate.records import CaseChange, CaseChanges
from gate.stats.multiplicity import benjamini_hochberg
from gate.stats.pairs import pair
from gate.stats.permutation_test import case_p_values

Counts = npt.NDArray[np.int64]
Rows = npt.NDArray[np.bool_]
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Passes:
    """Rounds with a pass or fail of each row of a table, and how many of them passed."""

    cases: tuple[str, ...]
    passed: Counts
    rounds: Counts

    @property
    def mostly_passed(self) -> Rows:
        return np.asarray(2 * self.passed > self.rounds)

    @property
    def mostly_failed(self) -> Rows:
        return np.asarray(2 * self.passed < self.rounds)

    @property
    def sometimes_passed(self) -> Rows:
        return np.asarray((self.passed > 0) & (self.passed < self.rounds))

    def by_case(self) -> dict[str, tuple[int, int]]:
        """Case -> (passed, rounds) of those with a scored round."""
        both = zip(self.passed.tolist(), self.rounds.tolist(), strict=True)
        return {case: two for case, two in zip(self.cases, both, strict=True) if two[1]}

    def select(self, rows: Rows) -> list[str]:
        return [self.cases[row] for row in np.flatnonzero(rows).tolist()]


@dataclass(frozen=True, slots=True)
class _Lists:
    """Looks up one case after another."""

    suite: str
    was: dict[str, tuple[int, int]]
    now: dict[str, tuple[int, int]]
    categories: dict[str, str | None]
    p_values: dict[str, float]
    left_out: Set[str]

    def list_changes(self, cases: Iterable[str]) -> tuple[CaseChange, ...]:
        """Worst first, then by id."""
        listed = [case for case in cases if case not in self.left_out]
        listed.sort(key=lambda case: (self.p_values.get(case, 1.0), case))
        return tuple(self.change(case) for case in listed)

    def change(self, case: str) -> CaseChange:
        was, now = self.was.get(case), self.now.get(case)
        return CaseChange(
            suite=self.suite,
            case_id=case,
            category=self.categories.get(case),
            baseline_passed=was[0] if was else None,
            baseline_rounds=was[1] if was else None,
            current_passed=now[0] if now else None,
            current_rounds=now[1] if now else None,
            p_value=self.p_values.get(case),
        )


def case_changes(
    current: Table,
    baseline: Table | None,
    *,
    quarantined: Set[str] = _NONE,
    not_asked: Set[str] = _NONE,
    lost: Set[str] = _NONE,
) -> CaseChanges:
    """The lists of one suite. A case changes sides when the majority of its rounds does.

    `p_value` of a paired case is adjusted by Benjamini-Hochberg over all of them: at most 0.1 is
    more than chance explains. `lost`: cases without a result, because a part of the run is lost.
    """
    pairing = pair_cases(baseline or current.select([]), current, not_asked)
    before, after = _count_passes(pairing.baseline), _count_passes(pairing.current)
    now = _count_passes(current)
    lists = _Lists(
        current.suite,
        _count_passes(pairing.whole).by_case(),
        now.by_case(),
        {**_categories(pairing.whole), **_categories(current)},
        _alarms(pairing.baseline, pairing.current),
        quarantined,
    )
    unscored = frozenset(now.select(now.rounds == 0) if lists.now else ())
    no_opinion = (unscored & find_cases_without_opinion(current)) - lost
    return CaseChanges(
        newly_failing=lists.list_changes(after.select(before.mostly_passed & after.mostly_failed)),
        newly_passing=lists.list_changes(after.select(before.mostly_failed & after.mostly_passed)),
        flaky=lists.list_changes(now.select(now.sometimes_passed)),
        added=lists.list_changes(pairing.added if baseline is not None else ()),
        removed=lists.list_changes(pairing.removed),
        changed=lists.list_changes(pairing.changed),
        errored=lists.list_changes(
            (find_errored_cases(current) | unscored | lost) - no_opinion,
        ),
        no_opinion=lists.list_changes(no_opinion),
        quarantined=tuple(lists.change(c) for c in current.cases if c in quarantined),
    )


def _count_passes(table: Table) -> _Passes:
    success = table.column("success")
    return _Passes(
        table.cases,
        np.nansum(success, axis=1).astype(np.int64),
        np.asarray((~np.isnan(success)).sum(axis=1)),
    )


def _alarms(baseline: Table, current: Table) -> dict[str, float]:
    was, now = baseline.column("success"), current.column("success")
    both = np.flatnonzero(~(np.isnan(was).all(axis=1) | np.isnan(now).all(axis=1)))
    q = benjamini_hochberg(case_p_values(pair(was[both], now[both])))
    return {current.cases[row]: value for row, value in zip(both.tolist(), q.tolist(), strict=True)}


def _categories(table: Table) -> dict[str, str | None]:
    return dict(zip(table.cases, table.categories, strict=True)) if table.categories else {}
