"""What the agent did otherwise in cases that newly fail or flip, beside the baseline's steps or the
reference trajectory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gate.analysis.table import Table
from gate.graders.trajectories.alignment import align_paths
from gate.graders.trajectories.path import Path, path_of_row
from gate.records import CaseChange, CaseChanges, StepDiff, TrialRow
from gate.records.trial_row import RowsOf
from gate.verdict.suite_data import SuiteData

CASES = 50  # of a list, the first ones, whose steps are told
LOOKED_AT = 300  # of the newly failing cases, the first ones, whose steps are compared
UNCHANGED = 150  # cases of a suite that pass as before, beside them

Diffs = Mapping[tuple[str, str], StepDiff]  # by suite and case
_Changes = tuple[CaseChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reference:
    """What a case's steps are compared with."""

    against: Literal["baseline", "reference"]
    path: Path


def compare_steps(cases: CaseChanges, measured: Sequence[SuiteData], rows_of: RowsOf) -> Diffs:
    """The steps of the first failed round of cases that newly fail or are flaky, beside the
    baseline's where it has them, else beside the case's reference.
    """
    compared = (*cases.newly_failing[:LOOKED_AT], *cases.flaky[:CASES])
    diffs: dict[tuple[str, str], StepDiff] = {}
    for suite in measured:
        ids = frozenset(change.case_id for change in compared if change.suite == suite.name)
        beside = _references(suite, ids)
        for case, diff in _compare(suite, beside, rows_of, passed=False).items():
            diffs[suite.name, case] = diff
    return diffs


def compare_unchanged(cases: CaseChanges, suite: SuiteData, rows_of: RowsOf) -> dict[str, StepDiff]:
    """Case -> the steps of its first round that passed, beside the baseline's: of the first cases
    by name that changed no sides.
    """
    ids = frozenset(unchanged(cases, suite))
    beside = {c: r for c, r in _references(suite, ids).items() if r.against == "baseline"}
    return _compare(suite, beside, rows_of, passed=True)


def unchanged(cases: CaseChanges, suite: SuiteData) -> list[str]:
    """The first cases by name that changed no sides."""
    lists = (cases.newly_failing, cases.newly_passing, cases.flaky)
    changed = {change.case_id for some in lists for change in some if change.suite == suite.name}
    return sorted({*suite.current.cases} - changed)[:UNCHANGED]


def _compare(
    suite: SuiteData, beside: Mapping[str, _Reference], rows_of: RowsOf, *, passed: bool
) -> dict[str, StepDiff]:
    rows = rows_of(suite.name, frozenset(beside)) if beside else iter(())
    diffs = {}
    for case, (number, now) in _first_rounds(rows, passed=passed).items():
        if steps := align_paths(beside[case].path, now):
            diffs[case] = StepDiff(against=beside[case].against, round=number, steps=steps)
    return diffs


def with_steps(cases: CaseChanges, diffs: Diffs) -> CaseChanges:
    """The first cases that newly fail or are flaky, with what the agent did otherwise."""
    return replace(
        cases,
        newly_failing=_with(cases.newly_failing, diffs),
        flaky=_with(cases.flaky, diffs),
    )


def _with(changes: _Changes, diffs: Diffs) -> _Changes:
    first = (
        replace(change, steps=diffs.get((change.suite, change.case_id)))
        for change in changes[:CASES]
    )
    return (*first, *changes[CASES:])


def _references(suite: SuiteData, ids: frozenset[str]) -> dict[str, _Reference]:
    """A case that was edited since is not the baseline's."""
    was, now = _digests(suite.baseline), _digests(suite.current)
    same = frozenset(case for case in ids if case in was and was[case] == now.get(case))
    stored = suite.compared.paths_of(same) if same else {}
    rest = ids - stored.keys()
    given = suite.references_of(rest) if rest else {}
    return {
        **{case: _Reference(against="reference", path=path) for case, path in given.items()},
        **{case: _Reference(against="baseline", path=path) for case, path in stored.items()},
    }


def _digests(table: Table | None) -> dict[str, str]:
    return dict(zip(table.cases, table.digests, strict=True)) if table else {}


def _first_rounds(rows: Iterator[TrialRow], *, passed: bool) -> dict[str, tuple[int, Path]]:
    """Case -> its first round that passed, or failed, whose steps are told."""
    first: dict[str, tuple[int, Path]] = {}
    for row in rows:
        case, number = row["case_id"], row["round"]
        if row["passed"] is passed and (case not in first or number < first[case][0]):
            path = path_of_row(row)
            if path is not None:
                first[case] = (number, path)
    return first
