"""What the trajectory grader measures, what it fails by, and when it says nothing."""

from dataclasses import replace
from pathlib import Path

import pytest

from gate.analysis.columns import TrialColumns
from gate.errors import InvalidInput, UsageError
from gate.files.rows import DatasetSource
from gate.graders.trajectories.reference import reference_path
from gate.graders.trajectory import (
    EFFICIENCY,
    LOOPS,
    METRICS,
    RECOVERY,
    REPEATED,
    SCORE,
    SILENT,
    Trajectory,
)
from gate.records import Case, MetricSpec, Response, ToolCall, Trial
from gate.run.grade import grade_attempt
from gate.store.trial_rows import row_of
from gate.suites.cases.dataset import check
from tests.support.growth import calls


def ok(name="search", **arguments):
    return ToolCall(name=name, arguments=arguments, result="found")


def bad(name="search", **arguments):
    return ToolCall(name=name, arguments=arguments, error="boom")


def score(*steps, keys=None, answer="It is 12.", omitted=0, violations=None, **options):
    case = Case(id="a", input="?", keys={"optimal_steps": 2} if keys is None else keys)
    response = Response(
        answer=answer, steps=steps, omitted_steps=omitted, safety_violations=violations
    )
    return Trajectory(**options).grade(case, response)


def different(count):
    return [ok(n=n) for n in range(count)]


# -------------------------------------------------------------------------------- efficiency, score


@pytest.mark.parametrize(("count", "wanted"), [(1, 1.0), (2, 1.0), (3, 1.5), (8, 4.0)])
def test_efficiency_is_steps_by_needed_steps_and_fewer_are_no_merit(count, wanted):
    assert score(*different(count)).values[EFFICIENCY] == wanted


def test_who_claims_no_step_at_all_is_not_efficient():
    assert score(keys={"optimal_steps": 3}).values[EFFICIENCY] is None


def test_a_ratio_below_one_is_shown():
    assert score(*different(1)).reason == "1 steps, 2 needed (ratio 0.5, fewer than needed)"


def test_steps_that_were_not_handed_over_count():
    found = score(*different(2), omitted=2_998)
    assert found.values[EFFICIENCY] == 1500.0
    assert found.reason.startswith("3000 steps, 2 needed (ratio 1500, inefficient)")


def test_efficiency_is_told_of_trials_that_passed_only():
    graders = {"trajectory": Trajectory()}
    specs: dict[str, MetricSpec] = {spec.column: spec for spec in Trajectory().metrics()}
    case = Case(id="a", input="?", keys={"optimal_steps": 2})

    def values(steps, case=case):
        attempt = grade_attempt(case, Response(answer="x", steps=steps), graders)
        trial = Trial(suite="s", case=case, round=1, attempts=(attempt,), judged=0, started_at="")
        return row_of(trial, cost_usd=None, on_agent_error={}, specs=specs)["scores"]

    assert values(tuple(different(2)))[EFFICIENCY] == 1.0
    assert values(tuple(different(3)))[EFFICIENCY] == 1.5
    looping = values((ok(),) * 3)  # failed, and not at its best
    assert (looping[EFFICIENCY], looping[SCORE]) == (1.5, 9.5)
    few = replace(case, keys={"optimal_steps": 3})
    assert values((ok(),) * 3, few)[EFFICIENCY] is None
    assert values(tuple(different(3)), few)[EFFICIENCY] == 1.0


def test_inefficient_trials_that_fail_by_it_are_in_the_mean():
    graders = {"trajectory": Trajectory(fail_on=("inefficient",))}
    specs = {spec.column: spec for spec in Trajectory().metrics()}
    case = Case(id="a", input="?", keys={"optimal_steps": 1})
    columns = TrialColumns("s")
    for n in range(10):
        steps = tuple(different(8 if n < 4 else 1))
        attempt = grade_attempt(case, Response(answer="x", steps=steps), graders)
        trial = Trial(
            suite="s",
            case=replace(case, id=f"c{n}"),
            round=1,
            attempts=(attempt,),
            judged=0,
            started_at="",
        )
        row = row_of(trial, cost_usd=None, on_agent_error={}, specs=specs)
        assert (row["mode"], len(row["steps"])) == (("inefficient", 8) if n < 4 else (None, 1))
        columns.add(row)
    assert list(columns.values[EFFICIENCY]) == [8.0] * 4 + [1.0] * 6
    assert list(columns.values["steps"]) == [8.0] * 4 + [1.0] * 6


def test_the_reference_tells_how_many_steps_are_needed_where_the_case_does_not():
    calls = [{"name": "search"}, {"name": "get", "args": {"id": 7}}]
    assert score(*different(4), keys={"reference_trajectory": calls}).values[EFFICIENCY] == 2.0
    both = {"reference_trajectory": calls, "optimal_steps": 4}
    assert score(*different(4), keys=both).values[EFFICIENCY] == 1.0


@pytest.mark.parametrize("keys", [{}, {"reference_trajectory": []}, {"optimal_steps": None}])
def test_without_a_known_minimum_there_is_no_ratio_and_no_score_but_the_rest(keys):
    values = score(*different(4), keys=keys).values
    assert values[EFFICIENCY] is values[SCORE] is None
    assert values[LOOPS] == 0.0


def test_what_the_agent_reports_as_a_violation_leaves_no_points():
    assert score(*different(2), violations=("deleted a file",)).values[SCORE] == 0.0
    assert score(*different(2), violations=()).values[SCORE] == 10.0


def test_a_reference_may_be_messages():
    made = [
        {"id": "1", "type": "function", "function": {"name": "a", "arguments": '{"q": 1}'}},
        {"id": "2", "type": "function", "function": {"name": "b", "arguments": '{"q": 2}'}},
    ]
    messages = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": "", "tool_calls": made},
        {"role": "tool", "content": "r", "tool_call_id": "1"},
        {"role": "tool", "content": "r", "tool_call_id": "2"},
        {"role": "assistant", "content": "done"},
    ]
    keys = {"reference_trajectory": messages}
    assert score(*different(3), keys=keys).values[EFFICIENCY] == 1.5
    path = reference_path(Case(id="a", input="?", keys=keys))
    assert [step.text for step in path.steps] == ['a({"q":1})', 'b({"q":2})']


# -------------------------------------------------------------------------- loops, errors, recovery


def test_repeated_calls_are_a_share_of_all_calls():
    assert score(ok(n=1), ok(n=2), ok(n=1), ok(n=1)).values[REPEATED] == 0.5


def test_calls_that_were_not_handed_over_are_neither_repeats_nor_none():
    assert score(ok(n=1), ok(n=1), omitted=98).values[REPEATED] == 0.5


@pytest.mark.parametrize(("most", "codes"), [(5, ()), (4, ("too_many_steps:5",))])
def test_as_many_steps_as_allowed_are_not_too_many(most, codes):
    assert score(*different(5), max_steps=most).failures == codes


def test_a_loop_fails_the_trial_by_default():
    found = score(*[ok("search", q="a")] * 4)
    assert (found.passed, found.failures) == (False, ("loop:search",))
    assert found.values[LOOPS] == 1.0
    assert "step 1: search 4 times in a row with the same arguments" in found.reason


def test_nothing_else_fails_it_by_default():
    steps = [*different(20), bad("get", id=1)]
    found = score(*steps)
    assert (found.passed, found.failures) == (True, ())
    assert (found.values[SILENT], found.values[RECOVERY]) == (1.0, 0.0)


def test_what_fails_a_trial_can_be_chosen():
    every = ("loop", "inefficient", "unrecovered_error", "silent_failure")
    found = score(*[ok()] * 6, bad("get", id=1), fail_on=every, max_steps=5)
    assert found.failures == (
        "loop:search",
        "too_many_steps:7",
        "inefficient:3.5",
        "silent_failure:get",
        "unrecovered_error:get",
    )


def test_a_grader_that_fails_nobody_has_no_opinion():
    grader = Trajectory(fail_on=())
    assert not grader.decides
    assert score(*[ok()] * 9, fail_on=()).passed is None
    assert Trajectory(fail_on=(), max_steps=3).decides


@pytest.mark.parametrize(("ratio", "codes"), [(6, ()), (7, ("inefficient:3.5",))])
def test_a_ratio_above_three_is_inefficient(ratio, codes):
    assert score(*different(ratio), fail_on=("inefficient",)).failures == codes


@pytest.mark.parametrize(("ratio", "flagged"), [(6, False), (7, True)])
def test_a_trial_that_is_not_failed_by_it_is_flagged_all_the_same(ratio, flagged):
    found = score(*different(ratio))
    assert found.passed is True
    assert ("inefficient" in found.reason) is flagged


def test_what_is_inefficient_can_be_set():
    assert score(*different(3), fail_on=("inefficient",), flag_above=1.4).passed is False


def test_recovery_is_the_share_of_failed_steps_that_were_mended():
    found = score(bad(q=1), ok(q=1), bad("get", id=1))
    assert found.values[RECOVERY] == 0.5
    assert "step 1, search, failed: mended; step 3, get, failed: not mended" in found.reason


def test_without_a_failed_step_there_is_nothing_to_recover_from():
    values = score(*different(2)).values
    assert (values[RECOVERY], values[SILENT]) == (None, 0.0)


def test_an_answer_that_tells_of_the_error_hides_nothing():
    steps = (ok(), bad("get", id=1))
    assert score(*steps, answer="I could not read the file.").values[SILENT] == 0.0
    assert score(*steps, answer="Das ging nicht.").values[SILENT] == 1.0
    assert score(*steps, answer="Das ging nicht.", admits=("ging nicht",)).values[SILENT] == 0.0


def test_a_call_of_a_tool_that_is_not_defined_failed():
    keys = {"optimal_steps": 1, "tools": [{"type": "function", "function": {"name": "search"}}]}
    found = score(ToolCall(name="serach", arguments={}), keys=keys)
    assert (found.values[SILENT], found.values[SCORE]) == (1.0, 9.0)
    assert score(ToolCall(name="search", arguments={}), keys=keys).values[SILENT] == 0.0


def test_what_came_of_an_error_is_unknown_where_the_trace_is_cut():
    values = score(ok(), bad("get"), omitted=3).values
    assert values[RECOVERY] is values[SILENT] is None
    assert score(bad(q=1), ok(q=1), omitted=3).values[RECOVERY] == 1.0


def test_without_any_call_there_is_nothing_to_share_out():
    values = score().values
    assert {name for name in METRICS if values[name] is not None} == {SCORE}
    assert values[SCORE] == 0.0


# ---------------------------------------------------------------------------------------- bad input


def test_an_agent_that_does_not_tell_its_steps_is_unscored():
    case = Case(id="a", input="?", keys={"optimal_steps": 2})
    found = Trajectory().grade(case, Response(answer="x"))
    assert found.unscored.startswith("the agent does not say which tools it called")


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ('"optimal_steps": 0', "optimal_steps: "),
        ('"optimal_steps": -1', "optimal_steps: "),
        ('"optimal_steps": 1.5', "optimal_steps: "),
        ('"optimal_steps": NaN', "not"),
        ('"reference_trajectory": [{"args": {}}]', "reference_trajectory[0]"),
        ('"reference_trajectory": "search"', "reference_trajectory: "),
    ],
)
def test_a_dataset_that_makes_no_sense_is_refused_with_its_line(tmp_path: Path, row, told):
    file = tmp_path / "cases.jsonl"
    file.write_text('{"id": "a", "input": "?", ' + row + "}\n")
    source = DatasetSource(name="cases.jsonl", open=lambda: file.open("rb"))
    with pytest.raises(InvalidInput) as caught:
        check(source, {"trajectory": Trajectory()})
    assert "cases.jsonl:1" in str(caught.value)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"flag_above": 0.5}, "flag_above must be 1 or more"),
        ({"flag_above": float("nan")}, "flag_above must be 1 or more"),
        ({"loop_at": 1}, "loop_at must be 2 or more"),
        ({"max_steps": -1}, "max_steps must be 0 or more"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        Trajectory(**options)


def test_a_thousand_failing_steps_are_graded_in_no_time():
    steps = [
        ToolCall(name=f"t{n % 9}", arguments={"n": n % 5}, error="x" * 200) for n in range(1_000)
    ]
    fail_on = ("loop", "unrecovered_error", "silent_failure")
    assert calls(lambda: score(*steps, fail_on=fail_on)) < 200_000  # 90 a step
    found = score(*steps, fail_on=fail_on)
    assert len(found.failures) <= 20
    assert len(found.reason) <= 2_000
