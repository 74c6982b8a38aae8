"""Gathers what is known of newly failing cases and of the others, for their causes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from gate.analysis.answer_kinds import kind_of
from gate.analysis.causes import Known, find_causes, largest_first
from gate.analysis.expected import find_expected
from gate.records import CaseChanges, FailureCause
from gate.records.shown_case import is_failed_round
from gate.records.trial_row import RowsOf
from gate.verdict.step_diffs import (
    LOOKED_AT,
    Diffs,
    compare_steps,
    compare_unchanged,
    unchanged,
    with_steps,
)
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
        failing = _failing(cases, diffs, suite, rows_of)
        if failing.answers or failing.modes or failing.steps or failing.categories:
            causes += find_causes(suite.name, failing, _others(cases, failing, suite, rows_of))
    return with_steps(cases, diffs), largest_first(causes)


def _failing(cases: CaseChanges, diffs: Diffs, suite: SuiteData, rows_of: RowsOf) -> Known:
    changes = [change for change in cases.newly_failing if change.suite == suite.name]
    steps = {c.case_id: diffs.get((suite.name, c.case_id)) for c in changes}
    return Known(
        # A reference was not what the agent did before.
        steps={c: d.steps for c, d in steps.items() if d and d.against == "baseline"},
        answers=_kinds_of_answers(suite, [c.case_id for c in changes[:LOOKED_AT]], rows_of),
        modes={c.case_id: c.mode for c in changes if c.mode},
        categories={c.case_id: c.category for c in changes if c.category},
    )


def _others(cases: CaseChanges, failing: Known, suite: SuiteData, rows_of: RowsOf) -> Known:
    newly = {change.case_id for change in cases.newly_failing if change.suite == suite.name}
    steps = compare_unchanged(cases, suite, rows_of) if failing.steps else {}
    same = unchanged(cases, suite) if any(failing.answers.values()) else []
    modes = suite.tally.failures.mode_of_cases()
    table = suite.current
    categories = dict(zip(table.cases, table.categories, strict=True)) if table.categories else {}
    return Known(
        steps={case: diff.steps for case, diff in steps.items()},
        answers=_kinds_of_answers(suite, same, rows_of),
        modes={c: mode for c, mode in modes.items() if c not in newly},
        categories={c: name for c, name in categories.items() if name and c not in newly},
    )


def _kinds_of_answers(suite: SuiteData, case_ids: Sequence[str], rows_of: RowsOf) -> dict[str, str]:
    """Case -> how its answer misses what was expected: of its first failed round, else of its
    first; empty where the two do not tell.
    """
    if not case_ids:
        return {}
    rows = rows_of(suite.name, frozenset(case_ids))
    kinds = {}
    for case_id, group in groupby(rows, key=lambda row: row["case_id"]):
        rounds = list(group)
        worst = next(filter(is_failed_round, rounds), rounds[0])
        if worst["output"] is not None:
            kinds[case_id] = kind_of(find_expected(rounds), worst["output"])
    return kinds
