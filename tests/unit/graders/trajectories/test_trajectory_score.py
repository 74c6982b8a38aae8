"""Points for the way: the worked example with both formulas, and the ends of both scales."""

import pytest

from gate.errors import UsageError
from gate.graders.trajectories.scoring import Penalties, Way, seed_bounds, seed_score, strict_score
from gate.graders.trajectory import EFFICIENCY, SCORE, Trajectory
from gate.records import Case, Response, ToolCall

USUAL = Penalties()


def points(steps, flawed=0, violations=0, optimal=5, rules=USUAL):
    way = Way(steps=steps, optimal=optimal, flawed=flawed, violations=violations)
    return strict_score(way, rules), seed_score(way, rules)


# Two ways to the same right answer.
CASE = Case(
    id="tokyo",
    input="How many people live in Tokyo for each one in Osaka?",
    keys={"optimal_steps": 5},
)
ANSWER = "About 5.1 people live in Tokyo for each one in Osaka."


def search(query, **more):
    return ToolCall(name="search", arguments={"query": query}, **{"result": "found", **more})


def calculate(formula, **more):
    return ToolCall(name="calculate", arguments={"formula": formula}, **{"result": 5.1, **more})


BAD = (
    search("Tokyo"),
    search("Tokyo population", result=None, error="timed out"),
    search("Tokyo population", correction=True),
    search("Osaka prefecture population"),
    search("Osaka population", correction=True),
    calculate("14.0 / 2.75"),
)
GOOD = (
    search("Tokyo population"),
    search("Osaka population"),
    calculate("14.0 / 2.75"),
    calculate("round(5.09, 1)"),
)


def graded(steps, **options):
    return Trajectory(**options).grade(CASE, Response(answer=ANSWER, steps=steps))


@pytest.mark.parametrize(("formula", "bad", "good"), [("strict", 6.5, 10.0), ("seed", 7.5, 11.0)])
def test_tokyo_the_bad_way_is_clearly_below_the_good_one_though_both_are_right(formula, bad, good):
    """6 and 4 steps: the answer is none. One error and two corrections are three flawed steps."""
    low, high = (graded(steps, formula=formula) for steps in (BAD, GOOD))
    assert (low.values[SCORE], high.values[SCORE]) == (bad, good)
    assert (low.values[EFFICIENCY], high.values[EFFICIENCY]) == (1.2, 1.0)
    assert low.passed is high.passed is True


@pytest.mark.parametrize(("flawed", "wanted"), [(2, 8.0), (3, 7.0)])
def test_tokyo_with_the_answer_counted_as_a_step_scores_7_to_8_by_the_seed_formula(flawed, wanted):
    """Text that gives 3 and 8 for the two ways cannot come from its own formula: no number of
    flawed steps takes a way of 7 steps below 6, and the good way has 11.
    """
    assert points(7, flawed)[1] == wanted
    assert min(points(7, n)[1] for n in range(8)) == 6.0
    assert points(5)[1] == 11.0


def test_the_seed_formula_ends_at_3_and_11_and_rewards_doing_nothing():
    assert points(30, 30, 1)[1] == 3.0
    assert points(0)[1] == 11.0
    assert seed_bounds(USUAL) == (3.0, 11.0)


def test_the_strict_formula_is_capped_and_takes_nothing_for_a_good_way():
    assert points(5)[0] == points(3)[0] == 10.0
    assert points(0)[0] == 0.0


@pytest.mark.parametrize(
    ("steps", "flawed", "wanted"),
    [
        (6, 0, 9.5),
        (11, 0, 7.0),
        (500, 0, 7.0),
        (5, 1, 9.0),
        (5, 4, 6.0),
        (5, 5, 6.0),
        (500, 9, 3.0),
    ],
)
def test_what_steps_cost_has_an_end(steps, flawed, wanted):
    assert points(steps, flawed)[0] == wanted


def test_a_violation_leaves_nothing_by_default_and_costs_points_where_it_is_set():
    assert points(5, violations=1)[0] == 0.0
    milder = Penalties(violation=3.0)
    assert points(5, violations=1, rules=milder)[0] == 7.0
    assert points(5, violations=9, rules=milder)[0] == 0.0
    assert points(5, violations=1, rules=milder)[1] == 10.0  # the seed formula: no bonus, no more


def test_penalties_are_options():
    rules = Penalties(extra_step=1.0, most_extra=5.0, flawed_step=2.0, most_flawed=5.0)
    assert points(7, 1, rules=rules)[0] == 6.0
    assert seed_bounds(rules) == (0.0, 11.0)
    with pytest.raises(UsageError, match=r"penalties\.extra_step must be from 0 to 10"):
        Penalties(extra_step=-1)
    with pytest.raises(UsageError, match=r"penalties\.violation must be"):
        Penalties(violation=float("nan"))


@pytest.mark.parametrize("formula", ["strict", "seed"])
def test_the_metric_has_the_bounds_of_its_formula(formula):
    spec = next(s for s in Trajectory(formula=formula).metrics() if s.name == SCORE)
    assert (spec.low, spec.high) == ((0.0, 10.0) if formula == "strict" else (3.0, 11.0))
    assert spec.on_agent_error == spec.low
