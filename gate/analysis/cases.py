"""The lists of cases of a verdict: what newly fails or passes, flips, came, went or erred."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass

import numpy as np

from gate.analysis.missing import errored_cases
from gate.analysis.pairing import pair_cases
from gate.plugins import Array
from gate.records import CaseChange, CaseChanges
from gate.stats.multiplicity import benjamini_hochberg
from gate.stats.pairs import pair
from gate.stats.shuffle import case_p_values
from gate.table import Table

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Count:
    """Rounds with a pass or fail, and how many of them passed."""

    passed: int
    rounds: int

    @property
    def mostly_passed(self) -> bool:
        return 2 * self.passed > self.rounds

    @property
    def mostly_failed(self) -> bool:
        return 2 * self.passed < self.rounds

    @property
    def mixed(self) -> bool:
        return 0 < self.passed < self.rounds


@dataclass(frozen=True, slots=True)
class _Lists:
    """Looks up one case after another."""

    suite: str
    was: dict[str, _Count]
    now: dict[str, _Count]
    categories: dict[str, str | None]
    p_values: dict[str, float]

    def of(self, cases: Iterable[str]) -> tuple[CaseChange, ...]:
        return tuple(self._change(case) for case in cases)

    def _change(self, case: str) -> CaseChange:
        was, now = self.was.get(case), self.now.get(case)
        return CaseChange(
            suite=self.suite,
            case_id=case,
            category=self.categories.get(case),
            baseline_passed=was.passed if was else None,
            baseline_rounds=was.rounds if was else None,
            current_passed=now.passed if now else None,
            current_rounds=now.rounds if now else None,
            p_value=self.p_values.get(case),
        )


def case_changes(
    current: Table,
    baseline: Table | None,
    *,
    quarantined: Set[str] = _NONE,
    not_asked: Set[str] = _NONE,
) -> CaseChanges:
    """The lists of one suite. A case changes sides when the majority of its rounds does.

    `p_value` of a paired case is adjusted by Benjamini-Hochberg over all of them: at most 0.1 is
    more than chance explains. Worst first, then by id.
    """
    if baseline is None:
        baseline = current.select([])
        added: tuple[str, ...] = ()
        pairing = pair_cases(baseline, current, not_asked)
    else:
        pairing = pair_cases(baseline, current, not_asked)
        added = pairing.added
    now, was = _counts(current), _counts(baseline)
    p_values = _alarms(pairing.baseline, pairing.current)
    lists = _Lists(
        current.suite, was, now, {**_categories(baseline), **_categories(current)}, p_values
    )
    shown = [case for case in current.cases if case not in quarantined]
    both = [c for c in pairing.current.cases if c in now and c in was and c not in quarantined]
    both.sort(key=lambda case: (p_values.get(case, 1.0), case))
    unscored = {case for case in current.cases if case not in now} if now else set()
    return CaseChanges(
        newly_failing=lists.of(c for c in both if was[c].mostly_passed and now[c].mostly_failed),
        newly_passing=lists.of(c for c in both if was[c].mostly_failed and now[c].mostly_passed),
        flaky=lists.of(sorted(c for c in shown if c in now and now[c].mixed)),
        added=lists.of(case for case in added if case not in quarantined),
        removed=lists.of(case for case in pairing.removed if case not in quarantined),
        changed=lists.of(case for case in pairing.changed if case not in quarantined),
        errored=lists.of(sorted({*errored_cases(current), *unscored} - quarantined)),
        quarantined=lists.of(sorted(quarantined & set(current.cases))),
    )


def _counts(table: Table) -> dict[str, _Count]:
    """Of the cases with at least one scored round."""
    success = table.column("success")
    rounds = (~np.isnan(success)).sum(axis=1).tolist()
    passed = np.nansum(success, axis=1).tolist()
    return {
        case: _Count(round(good), made)
        for case, good, made in zip(table.cases, passed, rounds, strict=True)
        if made
    }


def _alarms(baseline: Table, current: Table) -> dict[str, float]:
    was, now = baseline.column("success"), current.column("success")
    both = np.flatnonzero(~(np.isnan(was).all(axis=1) | np.isnan(now).all(axis=1)))
    q: Array = benjamini_hochberg(case_p_values(pair(was[both], now[both])))
    return {current.cases[int(row)]: float(value) for row, value in zip(both, q, strict=True)}


def _categories(table: Table) -> dict[str, str | None]:
    return dict(zip(table.cases, table.categories, strict=True)) if table.categories else {}
