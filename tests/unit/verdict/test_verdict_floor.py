"""The floor: a suite in which nothing passes fails, and when it does not."""

from dataclasses import replace

import numpy as np
import pytest

from gate.records import Floor, Policy, RegressionRules, Verdict
from gate.verdict.decide import decide
from tests.support.verdict_tables import build, passing, suite_data

NAN = float("nan")
LENIENT = Policy(no_baseline="pass", not_comparable="pass", error="pass", inconclusive="pass")


def judged(now: np.ndarray, was: np.ndarray | None = None, **extra: object) -> Verdict:
    current = build({"success": now})
    baseline = None if was is None else build({"success": was})
    data = suite_data(name="s", current=current, baseline=baseline, **{"floor": True, **extra})
    return decide([data], gates=(), regression=RegressionRules(), policy=LENIENT)


def test_nothing_passed_fails_without_a_baseline_or_a_limit() -> None:
    found = judged(np.zeros((5, 1)))
    assert (found.outcome, found.exit_code) == ("fail", 1)
    assert found.reason == (
        "none of the 5 graded answers passed, which fails a suite even without a baseline (`floor`)"
    )
    assert found.floors == {"s": Floor(answers=5)}


def test_one_answer_that_passed_or_fewer_than_five_are_enough_not_to() -> None:
    one = np.zeros((5, 3))
    one[4, 2] = 1.0
    assert judged(one).outcome == "no_baseline"
    assert judged(np.zeros((4, 1))).outcome == "no_baseline"
    ungraded = np.full((9, 1), NAN)
    ungraded[:4] = 0.0
    assert judged(ungraded).outcome == "no_baseline"
    assert judged(np.full((9, 1), NAN)).outcome == "no_baseline"


def test_it_can_be_turned_off() -> None:
    assert judged(np.zeros((5, 3)), floor=False).outcome == "no_baseline"


def test_graders_that_give_no_pass_or_fail_have_none() -> None:
    table = replace(build({"success": np.zeros((5, 3))}), graders={"success": ""})
    data = suite_data(name="s", current=table, baseline=None, floor=True)
    found = decide([data], gates=(), regression=RegressionRules(), policy=LENIENT)
    assert found.outcome == "no_baseline"


def test_a_crash_is_no_graded_answer_where_no_grader_says_pass_or_fail() -> None:
    """Crashes score 0; three of the eight cases have a grader with an opinion."""
    crashed, ungraded = np.zeros((8, 1)), np.ones((8, 1))
    ungraded[:3] = 0.0
    table = build({"success": crashed, "ungraded": ungraded})
    data = suite_data(name="s", current=table, baseline=None, floor=True)
    rules = {"gates": (), "regression": RegressionRules(), "policy": LENIENT}
    assert decide([data], **rules).outcome == "no_baseline"
    graded = build({"success": crashed, "ungraded": 0.0 * ungraded})
    found = decide([replace(data, current=graded)], **rules)
    assert found.outcome == "fail"


def test_it_holds_beside_a_baseline_too() -> None:
    """Three cases that ran once are too few to tell a regression by."""
    few = judged(np.zeros((5, 1)), passing(5, 1))
    assert few.comparisons[0].status != "regression"
    assert (few.outcome, few.exit_code) == ("fail", 1)
    worse = judged(np.zeros((5, 3)), passing(5, 3))
    assert worse.reason.startswith("`agent.success_rate` fell by 100.0 points")
    assert worse.reason.endswith("; and 1 more reason")


def test_where_the_baseline_passed_nothing_either_it_warns() -> None:
    found = judged(np.zeros((6, 3)), np.zeros((6, 3)))
    assert found.outcome == "pass"
    assert found.floors["s"].mild == "nothing passed in the baseline either"


@pytest.mark.parametrize(
    "extra", [{"accepts_all": True}, {"accepted": frozenset({"agent.success_rate"})}]
)
def test_an_accepted_fall_to_nothing_warns(extra: dict[str, object]) -> None:
    found = judged(np.zeros((6, 3)), passing(6, 3), **extra)
    assert found.outcome == "pass"
    assert found.floors["s"].mild


def test_an_outage_goes_first() -> None:
    found = judged(np.zeros((6, 3)), unreachable="nobody answered")
    assert (found.outcome, found.floors) == ("error", {})


def test_cases_that_do_not_gate_do_not_count() -> None:
    new = frozenset(build({"success": np.zeros((6, 3))}).cases)
    assert judged(np.zeros((6, 3)), new_cases=new).outcome == "no_baseline"
