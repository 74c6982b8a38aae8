"""Gathers what is known of newly failing cases and of the others, for their causes."""

from __future__ import annotations

from collections.abc import Sequence

from gate.analysis.causes import Known, find_causes, largest_first
from gate.records import CaseChanges, FailureCause
from gate.records.trial_row import RowsOf
from gate.verdict.step_diffs import Diffs, compare_steps, compare_unchanged, with_steps
from gate.verdict.suite_data import SuiteData


def with_causes(
    cases: CaseChanges, measured: Sequence[SuiteData], rows_of: RowsOf
) -> tuple[CaseChanges, tuple[FailureCause, ...]]:
    """The cases with what the agent did otherwise, and what seems to be behind the newly failing
    ones, of most cases first.
    """
    diffs = compare_steps(cases, measured, rows_of)
    causes: list[FailureCause] = []
    for suite in measured:
        failing = _failing(cases, diffs, suite)
        if failing.modes or failing.steps or failing.categories:
            causes += find_causes(suite.name, failing, _others(cases, failing, suite, rows_of))
    return with_steps(cases, diffs), largest_first(causes)


def _failing(cases: CaseChanges, diffs: Diffs, suite: SuiteData) -> Known:
    changes = [change for change in cases.newly_failing if change.suite == suite.name]
    steps = {c.case_id: diffs.get((suite.name, c.case_id)) for c in changes}
    return Known(
        # A reference was not what the agent did before.
        steps={c: d.steps for c, d in steps.items() if d and d.against == "baseline"},
        modes={c.case_id: c.mode for c in changes if c.mode},
        categories={c.case_id: c.category for c in changes if c.category},
    )


def _others(cases: CaseChanges, failing: Known, suite: SuiteData, rows_of: RowsOf) -> Known:
    newly = {change.case_id for change in cases.newly_failing if change.suite == suite.name}
    steps = compare_unchanged(cases, suite, rows_of) if failing.steps else {}
    modes = suite.tally.failures.mode_of_cases()
    table = suite.current
    categories = dict(zip(table.cases, table.categories, strict=True)) if table.categories else {}
    return Known(
        steps={case: diff.steps for case, diff in steps.items()},
        modes={c: mode for c, mode in modes.items() if c not in newly},
        categories={c: name for c, name in categories.items() if name and c not in newly},
    )
