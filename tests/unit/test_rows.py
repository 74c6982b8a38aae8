"""One trial as a row of details.jsonl."""

import pytest

from gate.fits import compiled
from gate.records import Attempt, Case, Judging, MetricSpec, Response, Score, Trial
from gate.row_schema import schema
from gate.rows import row_of

SPECS = {
    spec.column: spec
    for spec in (
        MetricSpec(
            name="correctness.faithfulness", column="correctness.faithfulness", low=1, high=5
        ),
        MetricSpec(name="correctness.exact_match", column="correctness.exact_match"),
        MetricSpec(name="operational.rate", column="operational.rate", direction="lower"),
        MetricSpec(name="operational.size", column="operational.size", high=None),
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
    assert compiled(schema())(found)


def test_what_judging_cost_is_told_and_nothing_where_nobody_was_asked():
    assert row()["judging"] is None
    spent = attempt(1, judging=Judging(asked=1, scored=1, calls=2, usd=0.5))
    found = row(spent, attempt(2, judging=Judging(asked=1, scored=1, calls=1)))
    assert (found["judging"]["calls"], found["judging"]["usd"]) == (3, 0.5)
    assert found["judging"]["asked"] == 1
    assert compiled(schema())(found)


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
    assert compiled(schema())(found)
