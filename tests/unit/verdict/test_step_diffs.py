"""Which cases show their steps beside others, which round of them, and beside what."""

from dataclasses import replace

import pytest

from gate.graders.trajectories.path import path_of
from gate.records import CaseChange, CaseChanges, ToolCall
from gate.records.codec import to_json
from gate.verdict.step_diffs import CASES, compare_steps, with_steps
from tests.support.measured_suites import measured_suite, success_table

WAS = path_of([ToolCall(name="was", arguments={})])


def change(case, suite="s"):
    return CaseChange(suite=suite, case_id=case)


def row(case, number, name, *, passed=False):
    steps = None if name is None else to_json((ToolCall(name=name, arguments={}),))
    return {"case_id": case, "round": number, "passed": passed, "steps": steps}


def compared(current=None, *, known=("c000", "c001"), name="s", references=()):
    """A suite whose baseline has the paths of `known` cases."""
    one = measured_suite(current, baseline=success_table(name=name), name=name)
    stored = replace(one.compared, paths_of=lambda ids: dict.fromkeys(ids & {*known}, WAS))
    written = dict.fromkeys(references, WAS)
    return replace(
        one,
        compared=stored,
        references_of=lambda ids: {case: path for case, path in written.items() if case in ids},
    )


def shown(cases, rows, *suites):
    def rows_of(suite, ids):
        return (row for row in rows if row["case_id"] in ids)

    found = with_steps(cases, compare_steps(cases, suites or [compared()], rows_of))
    return [
        one.steps and (one.steps.against, one.steps.round, one.steps.steps[-1].now)
        for one in (*found.newly_failing, *found.flaky, *found.newly_passing)
    ]


def test_the_first_failed_round_is_shown_whatever_the_order_of_the_rows():
    rows = [row("c000", 3, "c"), row("c000", 2, "b"), row("c000", 1, "a", passed=True)]
    failing = CaseChanges(newly_failing=(change("c000"),))
    assert shown(failing, rows) == [("baseline", 2, "b()")]
    assert shown(failing, rows[::-1]) == [("baseline", 2, "b()")]


def test_a_round_that_does_not_tell_its_steps_gives_way_to_the_next():
    failing = CaseChanges(newly_failing=(change("c000"),))
    assert shown(failing, [row("c000", 1, None), row("c000", 2, "b")])[0][1] == 2
    assert shown(failing, [row("c000", 1, None)]) == [None]


def test_flaky_cases_are_shown_and_cases_that_newly_pass_are_not():
    rows = [row("c000", 1, "a"), row("c001", 1, "b")]
    both = CaseChanges(flaky=(change("c000"),), newly_passing=(change("c001"),))
    assert shown(both, rows) == [("baseline", 1, "a()"), None]


@pytest.mark.parametrize("kind", ["newly_failing", "flaky"])
def test_of_many_cases_the_first_are_shown(kind):
    ids = [f"c{n:03}" for n in range(CASES + 5)]
    one = compared(success_table(cases=len(ids)), known=ids)
    one = replace(one, compared=replace(one.compared, table=success_table(cases=len(ids))))
    many = CaseChanges(**{kind: tuple(map(change, ids))})
    found = shown(many, [row(case, 1, "a") for case in ids], one)
    assert [told is not None for told in found] == [True] * CASES + [False] * 5


def test_an_edited_case_is_beside_its_reference_and_not_beside_the_baseline():
    now = success_table()
    edited = replace(now, digests=("other", *now.digests[1:]))
    failing = CaseChanges(newly_failing=(change("c000"), change("c001")))
    rows = [row("c000", 1, "a"), row("c001", 1, "a")]
    ways = ["c000", "c001"]
    found = shown(failing, rows, compared(edited, references=ways))
    assert [told[0] for told in found] == ["reference", "baseline"]
    assert shown(failing, rows, compared(edited))[0] is None


def test_a_case_of_another_suite_with_the_same_name_is_another_case():
    rows = [row("c000", 1, "a")]
    failing = CaseChanges(newly_failing=(change("c000", "t"),))
    assert shown(failing, rows) == [None]
    assert shown(failing, rows, compared(), compared(name="t"))[0] is not None
