"""What stands behind a verdict: failure codes, and what the graders said of the cases it is about.

Only rows of the cases that a report shows are read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np

from gate.analysis.failures.modes import mode_in, most_frequent, speaks
from gate.analysis.metric_families import collapse
from gate.analysis.pairing import pair_cases
from gate.analysis.reliability import list_histories
from gate.analysis.table import Array, Table
from gate.records import (
    CaseChange,
    CaseChanges,
    CaseFall,
    FailureMode,
    MetricFall,
    MetricSpec,
    ToldBy,
    TrialRow,
    Verdict,
)
from gate.records.trial_row import RowsOf
from gate.text.shortening import shorten
from gate.verdict.suite_data import SuiteData

_NONE: frozenset[str] = frozenset()

LISTED = 200  # cases of a list whose evidence is looked up
METRICS = 10  # of a suite, whose worst cases are told
_REASON = 300  # characters
_WHOLE = 4_000  # of all criteria


def with_evidence(cases: CaseChanges, rows_of: RowsOf) -> CaseChanges:
    """Failure codes and one line of evidence for the first LISTED cases of those that newly fail,
    flip or are new.
    """
    return replace(
        cases,
        newly_failing=_with_rounds(cases.newly_failing, rows_of),
        flaky=_with_rounds(cases.flaky, rows_of),
        added=_with_rounds(cases.added, rows_of),
        errored=_with_rounds(cases.errored, rows_of),
    )


def with_modes(cases: CaseChanges, measured: Sequence[SuiteData]) -> CaseChanges:
    """The cases beyond LISTED, whose rows nobody reads, with the mode that was counted of them:
    what is said of all newly failing cases adds up to their number.
    """
    lists = (cases.newly_failing, cases.flaky, cases.added)
    if all(len(changes) <= LISTED for changes in lists):
        return cases
    modes = {
        (suite.name, case): mode
        for suite in measured
        for case, mode in suite.tally.failures.mode_of_cases().items()
    }
    if not modes:
        return cases

    def add_mode(changes: tuple[CaseChange, ...]) -> tuple[CaseChange, ...]:
        rest = (replace(c, mode=modes.get((c.suite, c.case_id))) for c in changes[LISTED:])
        return (*changes[:LISTED], *rest)

    return replace(
        cases,
        newly_failing=add_mode(cases.newly_failing),
        flaky=add_mode(cases.flaky),
        added=add_mode(cases.added),
    )


def with_history(cases: CaseChanges, measured: Sequence[SuiteData]) -> CaseChanges:
    """What the cases that flip or change sides did in each stored run."""
    stored: dict[tuple[str, str], tuple[tuple[int, int], ...]] = {}
    listed = (*cases.newly_failing, *cases.newly_passing, *cases.flaky)
    for suite in measured:
        if suite.baseline is not None:
            ids = {change.case_id for change in listed if change.suite == suite.name}
            histories = list_histories(suite.baseline, suite.compared.runs, suite.current, ids)
            stored.update({(suite.name, case): runs for case, runs in histories.items()})

    def add_history(changes: tuple[CaseChange, ...]) -> tuple[CaseChange, ...]:
        return tuple(
            replace(change, history=history)
            if (history := stored.get((change.suite, change.case_id)))
            else change
            for change in changes
        )

    return replace(
        cases,
        newly_failing=add_history(cases.newly_failing),
        newly_passing=add_history(cases.newly_passing),
        flaky=add_history(cases.flaky),
    )


def worst_cases(
    measured: Sequence[SuiteData], verdict: Verdict, rows_of: RowsOf
) -> tuple[MetricFall, ...]:
    """The cases behind each grader's metric that got worse or broke a limit, what blocks before
    what warns. Those that newly fail are left out: they are listed already.
    """
    failing = {(change.suite, change.case_id) for change in verdict.cases.newly_failing}
    falls = []
    for measured_suite in measured:
        shown = {case for suite, case in failing if suite == measured_suite.name}
        for worse in _list_worse(measured_suite, verdict):
            spec = measured_suite.current.specs[worse.metric]
            fall = find_falls(
                measured_suite.current,
                measured_suite.baseline,
                spec,
                limit=worse.limit,
                skip=shown,
            )
            if fall is not None:
                fall = replace(fall, blocks=worse.blocks)
                falls.append(_with_reasons(fall, measured_suite.meta.told_by, rows_of))
    return tuple(sorted(falls, key=lambda fall: not fall.blocks))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Worse:
    """A metric that got worse."""

    metric: str
    blocks: bool
    limit: float | None = None  # that it broke
    excess: float = 0.0  # how many times its tolerance it changed


def _list_worse(suite: SuiteData, verdict: Verdict) -> list[_Worse]:
    """Metrics of graders that got worse, of a family that does not block the leading one; one
    without reasons in the rows has no case to show.
    """
    by_metric: dict[str, _Worse] = {}
    for row in verdict.comparisons:
        if row.suite == suite.name and row.status in ("regression", "suspected"):
            by_metric[row.metric] = _Worse(
                metric=row.metric,
                blocks=row.level == "block",
                excess=abs(row.delta or 0.0) / (row.tolerance or 1.0),
            )
    for gate in verdict.gates:
        if gate.suite == suite.name and gate.status == "fail":
            before = gate.metric in by_metric and by_metric[gate.metric].blocks
            limit = gate.max if gate.min is None else gate.min
            blocks = before or gate.level == "block"
            by_metric[gate.metric] = _Worse(metric=gate.metric, blocks=blocks, limit=limit)
    specs, told_by = suite.current.specs, suite.meta.told_by
    graded = [w for n, w in by_metric.items() if n in specs and specs[n].column in told_by]
    blocking = sorted((w for w in graded if w.blocks), key=lambda worse: worse.metric)
    milder = sorted((w for w in graded if not w.blocks), key=lambda worse: worse.metric)
    leading = [
        lead for lead, _ in collapse(milder, lambda w: (suite.name, w.metric), lambda w: w.excess)
    ]
    return [*blocking, *leading][:METRICS]


def _with_reasons(fall: MetricFall, told_by: Mapping[str, ToldBy], rows_of: RowsOf) -> MetricFall:
    """With what the grader said in the round of each case that it scored worst."""
    ids = frozenset(case.case_id for case in fall.worst)
    sign = 1.0 if fall.direction == "higher" else -1.0
    lowest: dict[str, tuple[float, str]] = {}
    for row in rows_of(fall.suite, ids):
        value, case = row["scores"].get(fall.column), row["case_id"]
        if value is not None and (case not in lowest or sign * value < lowest[case][0]):
            lowest[case] = (sign * value, _metric_reason(row, fall.column, told_by))
    worst = (
        replace(case, reason=lowest[case.case_id][1] if case.case_id in lowest else "")
        for case in fall.worst
    )
    return replace(fall, worst=tuple(worst))


def _metric_reason(row: TrialRow, column: str, told_by: Mapping[str, ToldBy]) -> str:
    """The error, or what the grader said; of a judge what it said of this criterion."""
    by = told_by[column]
    reason = shorten(str(row["error"] or row["reasons"].get(by.grader, "")), _WHOLE)
    others = [one.about for one in told_by.values() if one.grader == by.grader and one.about]
    if not by.about or row["error"]:
        return reason[:_REASON]
    begin = re.search(rf"(?:^|; ){_criterion(by.about)}", reason)
    if begin is None:
        return reason[:_REASON]
    text = reason[begin.end() :]
    end = re.search("|".join(f"; {_criterion(name)}" for name in others), text)
    return text[: end.start() if end else None][:_REASON]


def _criterion(name: str) -> str:
    """How a judge's reason begins to speak of it: `name 2 of 5 (votes 2, 3, 2): `."""
    return rf"{re.escape(name)}(?: [\d.]+ of [\d.]+(?: \(votes [\d, ]+\))?)?: "


def _with_rounds(changes: tuple[CaseChange, ...], rows_of: RowsOf) -> tuple[CaseChange, ...]:
    wanted: dict[str, set[str]] = {}
    for change in changes[:LISTED]:
        wanted.setdefault(change.suite, set()).add(change.case_id)
    by_case: dict[tuple[str, str], _CaseRounds] = {}
    for suite, ids in wanted.items():
        for row in rows_of(suite, frozenset(ids)):
            by_case.setdefault((suite, row["case_id"]), _CaseRounds()).add(row)
    nothing = _CaseRounds()
    return tuple(
        by_case.get((change.suite, change.case_id), nothing).beside(change) for change in changes
    )


@dataclass(slots=True)
class _CaseRounds:
    """What the rounds of one case say."""

    codes: Counter[str] = field(default_factory=Counter)
    modes: Counter[FailureMode] = field(default_factory=Counter)
    reason: str | None = None  # of the first round that did not pass

    def add(self, row: TrialRow) -> None:
        self.codes.update(row["failures"])
        mode = mode_in(row)
        if mode is not None:
            self.modes[mode] += 1
        if row["passed"] is not True and self.reason is None:
            self.reason = reason_of(row)

    def beside(self, change: CaseChange) -> CaseChange:
        return replace(
            change,
            failures=tuple(code for code, _ in self.codes.most_common(5)),
            reason=self.reason or "",
            mode=most_frequent(self.modes),
        )


def reason_of(row: TrialRow) -> str:
    """The error, or what the graders said that failed it, first what is about its failure mode;
    where nobody knows which failed it, what all of them said.
    """
    mode, reasons = mode_in(row), row["reasons"]
    names = sorted(row.get("failed_by") or (), key=lambda name: not speaks(name, mode))
    failed = [reasons[name] for name in names if name in reasons]
    return row["error"] or "; ".join(map(str, failed or reasons.values()))


def find_falls(
    current: Table,
    baseline: Table | None,
    spec: MetricSpec,
    *,
    limit: float | None = None,
    skip: Set[str] = _NONE,
    most: int = 20,
) -> MetricFall | None:
    """The cases whose mean over their rounds got worse, the largest fall first, at most `most`.

    Where no paired case fell, those beyond the `limit` of a gate, the worst first. `skip`: cases
    that another list shows already. None when nothing is left to show.
    """
    sign = 1.0 if spec.direction == "higher" else -1.0
    pairing = pair_cases(baseline or current.select([]), current)
    was = _by_case(pairing.baseline, spec)
    now = _by_case(current, spec)
    fallen = {c: sign * (was[c] - now[c]) for c in was if c in now and sign * (was[c] - now[c]) > 0}
    if not fallen and limit is not None:
        fallen = {c: 0.0 for c, value in now.items() if sign * (limit - value) > 0}
    ranked = sorted(fallen, key=lambda c: (-fallen[c], sign * now[c], c))
    cases = [case for case in ranked if case not in skip]
    if not cases:
        return None
    categories = dict(zip(current.cases, current.categories or [None] * len(now), strict=False))

    def fell(case: str) -> CaseFall:
        category = categories.get(case)
        return CaseFall(case_id=case, category=category, baseline=was.get(case), current=now[case])

    return MetricFall(
        suite=current.suite,
        metric=spec.name,
        column=spec.column,
        unit=spec.unit,
        direction=spec.direction,
        cases=len(cases),
        fell=any(fallen.values()),
        worst=tuple(map(fell, cases[:most])),
        failing=tuple(fell(case) for case in ranked if case in skip)[:LISTED],
    )


def _by_case(table: Table, spec: MetricSpec) -> dict[str, float]:
    """Case -> mean over its rounds, of those with a value."""
    values: Array = table.column(spec.column)
    measured = ~np.isnan(values)
    rounds = measured.sum(axis=1)
    means = np.where(measured, values, 0.0).sum(axis=1) / np.maximum(rounds, 1)
    rows = np.flatnonzero(rounds).tolist()
    return {table.cases[row]: float(means[row]) for row in rows}
