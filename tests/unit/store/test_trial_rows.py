"""One trial as a row of details.jsonl."""

from dataclasses import replace

import pytest

from gate.files.json_schema_quick import compile_check
from gate.records import Attempt, Case, Judging, MetricSpec, Response, Score, Trial, Violation
from gate.store.trial_row_schema import schema
from gate.store.trial_rows import row_of

SPECS = {
    spec.column: spec
    for spec in (
        MetricSpec(
            name="correctness.faithfulness", column="correctness.faithfulness", low=1, high=5
        ),
        MetricSpec(name="correctness.exact_match", column="correctness.exact_match"),
        MetricSpec(name="operational.rate", column="operational.rate", direction="lower"),
        MetricSpec(name="operational.size", column="operational.size", high=None),
        MetricSpec(name="agent.way", column="agent.way", only_passed=True),
    )
}


def row(*attempts, **scores):
    case = Case(id="a", input="why?", keys={}, digest="d")
    tries = attempts or (attempt(1, scores=scores),)
    trial = Trial(
        suite="s", case=case, round=1, attempts=tries, started_at="t", judged=len(tries) - 1
    )
    return row_of(trial, cost_usd=None, on_agent_error={}, specs=SPECS)


def attempt(n, **more):
    return Attempt(
        n=n, status="completed", latency_ms=1.0, response=Response(answer="so"), passed=True, **more
    )


def values(**given):
    return Score(values={name.replace("__", "."): value for name, value in given.items()})


@pytest.mark.parametrize(
    ("given", "dimensions"),
    [
        ({"correctness__exact_match": 0.5}, {"correctness": 0.5}),
        ({"correctness__faithfulness": 4.0}, {"correctness": 0.75}),
        (
            {"correctness__faithfulness": 5.0, "correctness__exact_match": 0.0},
            {"correctness": 0.5},
        ),
        ({"operational__rate": 0.25}, {"operational": 0.75}),
        ({"correctness__exact_match": None}, {"correctness": None}),
        ({"operational__rate": 0.5, "operational__size": 900.0}, {"operational": 0.5}),
        ({"operational__size": 900.0}, {"operational": None}),
    ],
)
def test_a_dimension_is_the_mean_of_where_its_values_lie_between_worst_and_best(given, dimensions):
    assert row(g=values(**given))["dimension_scores"] == dimensions


def test_what_a_judge_was_unsure_of_is_told_by_grader():
    found = row(judge=Score(uncertainty=0.25), facts=Score())
    assert found["uncertain"] == {"judge": 0.25}
    assert compile_check(schema())(found)


def test_what_judging_cost_is_told_and_nothing_where_nobody_was_asked():
    assert row()["judging"] is None
    spent = attempt(1, judging=Judging(asked=1, scored=1, calls=2, usd=0.5))
    found = row(spent, attempt(2, judging=Judging(asked=1, scored=1, calls=1)))
    assert (found["judging"]["calls"], found["judging"]["usd"]) == (3, 0.5)
    assert found["judging"]["asked"] == 1
    assert compile_check(schema())(found)


def test_graders_that_fail_the_answer_give_their_reasons_first():
    kept = row(
        a=Score(passed=True, reason="fine"),
        b=Score(reason="so so"),
        c=Score(passed=False, reason="wrong"),
    )
    assert list(kept["reasons"]) == ["c", "a", "b"]


def test_who_failed_it_is_told():
    said = {"judge": Score(passed=None), "facts": Score(passed=False), "regex": Score(passed=True)}
    found = row(attempt(1, scores=said))
    assert found["failed_by"] == ["facts"]
    assert compile_check(schema())(found)


@pytest.mark.parametrize(
    ("tries", "told"),
    [([True], False), ([False, True], True), ([None, True], False), ([False, False], False)],
)
def test_a_pass_after_a_failed_try_is_flagged_and_one_after_an_outage_is_not(tries, told):
    attempts = [replace(attempt(n), passed=passed) for n, passed in enumerate(tries, 1)]
    assert row(*attempts)["recovered"] is told


@pytest.mark.parametrize(("passed", "told"), [(True, 1.0), (False, None), (None, None)])
def test_a_best_value_that_is_no_merit_is_told_of_trials_that_passed_only(passed, told):
    own = values(agent__way=1.0, operational__rate=0.5)
    tried = attempt(1, scores={"g": own})
    found = row(replace(tried, passed=passed))["scores"]
    assert found == {"agent.way": told, "operational.rate": 0.5}
    less = replace(tried, passed=passed, scores={"g": values(agent__way=0.5)})
    assert row(less)["scores"]["agent.way"] == 0.5


@pytest.mark.parametrize(
    ("reported", "found", "rules"),
    [
        (None, None, None),  # nobody looked
        ((), None, []),
        (None, (), []),
        (("leak",), None, [("", "leak")]),
        (("leak",), ("secret",), [("", "leak"), ("safety", "secret")]),
        (None, ("secret",), [("safety", "secret")]),
    ],
)
def test_violations_are_those_that_the_agent_reports_and_those_that_a_grader_finds(
    reported, found, rules
):
    listed = None if found is None else tuple(Violation(rule=rule) for rule in found)
    tried = attempt(1, scores={"safety": Score(violations=listed), "facts": Score()})
    told = row(replace(tried, response=Response(answer="so", safety_violations=reported)))
    logged = told["violations"]
    by_rule = logged and [(one["by"], one["violation"]["rule"]) for one in logged]
    assert by_rule == rules
    assert compile_check(schema())(told)


def test_what_is_odd_about_a_trace_and_what_was_not_kept_of_it_is_told():
    long = Response(
        answer="so", steps=(), omitted_steps=7, turns=3, trace_faults=("1 call never ran",)
    )
    told = row(replace(attempt(1), response=long))
    assert (told["omitted_steps"], told["turns"]) == (7, 3)
    assert told["trace_faults"] == ["1 call never ran"]
