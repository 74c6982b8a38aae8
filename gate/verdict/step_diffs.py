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

CASES = 50  # of a list, the first ones, whose steps are compared

_Changes = tuple[CaseChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reference:
    """What a case's steps are compared with."""

    against: Literal["baseline", "reference"]
    path: Path


def with_steps(cases: CaseChanges, measured: Sequence[SuiteData], rows_of: RowsOf) -> CaseChanges:
    """The cases that newly fail or are flaky with the steps of their first failed round, beside
    the baseline's where it has them, else beside the case's reference.
    """
    shown = (*cases.newly_failing[:CASES], *cases.flaky[:CASES])
    diffs: dict[tuple[str, str], StepDiff] = {}
    for suite in measured:
        ids = frozenset(change.case_id for change in shown if change.suite == suite.name)
        beside = _references(suite, ids)
        rows = rows_of(suite.name, frozenset(beside)) if beside else iter(())
        for case, (number, now) in _first_failures(rows).items():
            steps = align_paths(beside[case].path, now)
            if steps:
                diff = StepDiff(against=beside[case].against, round=number, steps=steps)
                diffs[suite.name, case] = diff
    return replace(
        cases,
        newly_failing=_with(cases.newly_failing, diffs),
        flaky=_with(cases.flaky, diffs),
    )


def _with(changes: _Changes, diffs: Mapping[tuple[str, str], StepDiff]) -> _Changes:
    return tuple(
        replace(change, steps=steps)
        if (steps := diffs.get((change.suite, change.case_id)))
        else change
        for change in changes
    )


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


def _first_failures(rows: Iterator[TrialRow]) -> dict[str, tuple[int, Path]]:
    """Case -> its first failed round whose steps are told."""
    first: dict[str, tuple[int, Path]] = {}
    for row in rows:
        case, number = row["case_id"], row["round"]
        if row["passed"] is False and (case not in first or number < first[case][0]):
            path = path_of_row(row)
            if path is not None:
                first[case] = (number, path)
    return first
