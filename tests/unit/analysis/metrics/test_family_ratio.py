"""The family of cost per success: one sum over another."""

import math

import numpy as np
import pytest

from gate.analysis.estimates import estimates
from gate.analysis.metrics.ratio import Ratio
from gate.analysis.table import ratio_of
from gate.records import Evidence, MetricSpec, Sight, Tolerance
from tests.support.verdict_tables import build

NAN = math.nan
SPEC = MetricSpec(
    name="agent.cost_per_success",
    column="cost_usd",
    per="success",
    family="ratio",
    unit="USD",
    direction="lower",
    high=None,
)
FAMILY = Ratio()
FIVE_PERCENT = Tolerance(value=0.05, relative=True)


def trials(cost: object, success: object) -> np.ndarray:
    return ratio_of(np.array(cost, dtype=float), np.array(success, dtype=float))


def compare(was: np.ndarray, now: np.ndarray, **changes: object) -> Evidence:
    return FAMILY.compare(was, now, SPEC, **{"tolerance": FIVE_PERCENT, **changes})


def drawn(
    rng: np.random.Generator, chance: np.ndarray, rounds: int, factor: float = 1.0
) -> np.ndarray:
    """Costs around each case's own, failing ones dearer."""
    success = (rng.random((len(chance), rounds)) < chance[:, None]).astype(float)
    own = 0.01 * np.linspace(1.0, 3.0, len(chance))[:, None]
    noise = np.exp(0.4 * rng.standard_normal(success.shape) + 0.3 * (1.0 - success))
    return ratio_of(factor * own * noise, success)


# ------------------------------------------------------------------------------------------- values


def test_total_cost_over_successes() -> None:
    values = trials([[1.0, 2.0], [3.0, 6.0]], [[1, 0], [1, 1]])
    assert FAMILY.reduce(values) == pytest.approx(12.0 / 3)
    assert FAMILY.per_case(values).tolist() == [3.0, 4.5]


def test_a_case_counts_once_whatever_its_rounds() -> None:
    values = trials([[1.0, NAN], [3.0, 3.0]], [[1, NAN], [0, 1]])
    assert FAMILY.reduce(values) == pytest.approx((1.0 + 3.0) / (1.0 + 0.5))


def test_a_trial_of_unknown_cost_or_outcome_is_left_out() -> None:
    values = trials([[1.0, NAN, 5.0]], [[1, 1, NAN]])
    assert FAMILY.reduce(values) == 1.0


def test_without_a_success_there_is_no_number_and_never_infinity() -> None:
    table = build(
        {
            "cost_usd": np.ones((6, 2)),
            "success": np.zeros((6, 2)),
            "agent_error": np.zeros((6, 2)),
        },
        specs=(SPEC,),
    )
    found = estimates(table, {SPEC.name: SPEC})[SPEC.name]
    assert found.value is None
    assert found.reason == "there is nothing to divide by: no trial passed"
    assert FAMILY.interval(table.values(SPEC), SPEC, confidence=0.95) is None
    assert np.isnan(FAMILY.per_case(table.values(SPEC))).all()


def test_the_estimate_says_how_many_trials_have_both() -> None:
    cost = np.array([[1.0, NAN], [2.0, 2.0]])
    table = build({"cost_usd": cost, "success": np.ones((2, 2))}, specs=(SPEC,))
    found = estimates(table, {SPEC.name: SPEC})[SPEC.name]
    assert (found.value, found.n, found.min, found.max) == (1.5, 3, 1.0, 2.0)


def test_what_costs_nothing_costs_nothing_per_success() -> None:
    values = trials(np.zeros((8, 3)), np.ones((8, 3)))
    found = FAMILY.interval(values, SPEC, confidence=0.95)
    assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)
    assert compare(values, values).delta == 0.0


# ---------------------------------------------------------------------------------------- intervals


def test_an_interval_holds_the_value_and_grows_with_confidence() -> None:
    values = drawn(np.random.default_rng(1), np.full(40, 0.6), 3)
    narrow, wide = (FAMILY.interval(values, SPEC, confidence=c) for c in (0.9, 0.99))
    assert 0.0 < wide.low < narrow.low < narrow.value < narrow.high < wide.high


@pytest.mark.parametrize(("cases", "rounds", "mean"), [(40, 3, 0.5), (100, 1, 0.9), (10, 5, 0.3)])
def test_an_interval_misses_as_often_as_it_says(cases: int, rounds: int, mean: float) -> None:
    rng = np.random.default_rng(2)
    missed = np.zeros(2)
    for _ in range(200):
        chance = rng.beta(2 * mean, 2 - 2 * mean, cases)
        truth = FAMILY.reduce(_expected(chance))
        found = FAMILY.interval(drawn(rng, chance, rounds), SPEC, confidence=0.9)
        if found is not None:
            missed += (found.low > truth, found.high < truth)
    assert (missed <= 22).all()  # 5 % of 200 are 10, standard deviation 3


def _expected(chance: np.ndarray) -> np.ndarray:
    """One round a case, with its mean cost and its chance."""
    own = 0.01 * np.linspace(1.0, 3.0, len(chance)) * math.exp(0.08)
    return ratio_of(own * (chance + (1.0 - chance) * math.exp(0.3)), chance)[:, None]


def test_the_noise_is_that_of_the_rounds_or_of_the_cases_where_each_ran_once() -> None:
    values = drawn(np.random.default_rng(1), np.full(40, 0.6), 3)
    several, once = (FAMILY.interval(v, SPEC, confidence=0.9) for v in (values, values[:, :1]))
    assert several.method == "within-case variance, on logarithms, linearised"
    assert once.method == "between cases, on logarithms, linearised"


def test_where_half_the_trials_pass_one_of_them_moves_the_ratio_twice_as_far() -> None:
    success = np.repeat([[1.0], [0.0]], 10, axis=0) * np.ones((20, 3))
    found = FAMILY.interval(trials(np.ones((20, 3)), success), SPEC, confidence=0.9)
    assert math.log(found.high / found.value) == pytest.approx(1.6449**2 * 2 / 60, rel=1e-3)


def test_rounds_that_all_agree_still_leave_doubt() -> None:
    found = FAMILY.interval(trials(np.ones((20, 3)), np.ones((20, 3))), SPEC, confidence=0.9)
    assert found.low < 1.0 < found.high


# -------------------------------------------------------------------------------------- comparisons


def test_the_same_data_are_no_change() -> None:
    values = drawn(np.random.default_rng(3), np.full(30, 0.7), 3)
    found = compare(values, values)
    assert (found.delta, found.relative) == (0.0, True)
    assert found.baseline == found.current
    assert found.p_worse == pytest.approx(found.p_better)


def test_dearer_answers_and_fewer_successes_are_both_worse() -> None:
    rng = np.random.default_rng(4)
    chance = rng.beta(6, 2, 80)
    was = drawn(rng, chance, 12)
    for now in (drawn(rng, chance, 3, factor=1.5), drawn(rng, chance * 0.7, 3)):
        found = compare(was, now)
        assert found.p_worse < 1e-3
        assert found.delta == pytest.approx(found.current / found.baseline - 1.0)
        low, high = found.bounds(0.01)
        assert 0.0 < low < found.delta < high


def test_a_cost_that_rises_with_the_successes_is_no_change() -> None:
    """Twice the money for twice the successes."""
    rng = np.random.default_rng(5)
    was = drawn(rng, np.full(200, 0.4), 3)
    now = drawn(rng, np.full(200, 0.8), 3, factor=2.2)
    found = compare(was, now)
    assert abs(found.delta) < 0.2
    assert found.p_worse > 0.01
    assert found.p_better > 0.01


def test_a_case_counts_by_what_both_runs_know_of_it() -> None:
    was = trials([[1.0, 1.0], [4.0, 4.0]], np.ones((2, 2)))
    now = trials([[1.0, 1.0], [4.0, NAN]], np.ones((2, 2)))
    assert compare(was, now).baseline == pytest.approx((1.0 + 4.0 * 2 / 3) / (1.0 + 2 / 3))


def test_swapping_the_runs_mirrors_it() -> None:
    rng = np.random.default_rng(6)
    was, now = drawn(rng, np.full(50, 0.8), 4), drawn(rng, np.full(50, 0.6), 4)
    there, back = compare(was, now), compare(now, was)
    assert there.p_worse == pytest.approx(back.p_better)
    assert (1.0 + there.delta) * (1.0 + back.delta) == pytest.approx(1.0)


def test_the_unit_of_money_does_not_matter() -> None:
    rng = np.random.default_rng(7)
    was, now = drawn(rng, np.full(30, 0.8), 4), drawn(rng, np.full(30, 0.6), 4)
    usd = compare(was, now)
    cents = compare(*(ratio_of(arm.real * 100, arm.imag) for arm in (was, now)))
    assert cents.p_worse == pytest.approx(usd.p_worse)
    assert cents.delta == pytest.approx(usd.delta)
    drifting = compare(was, now, drift=1e-6)
    in_cents = (ratio_of(arm.real * 100, arm.imag) for arm in (was, now))
    assert compare(*in_cents, drift=1e-2).p_worse == pytest.approx(drifting.p_worse)
    assert drifting.p_worse > usd.p_worse
    absolute = compare(was, now, tolerance=Tolerance(value=0.001))
    assert not absolute.relative
    assert absolute.delta == pytest.approx(usd.delta * usd.baseline)


@pytest.mark.parametrize("rounds_b", [3, 12])
def test_false_alarms_when_nothing_changed(rounds_b: int) -> None:
    rng = np.random.default_rng(rounds_b)
    alarms = 0
    for _ in range(150):
        chance = rng.beta(1.0, 0.7, 40)
        found = compare(drawn(rng, chance, rounds_b), drawn(rng, chance, 3))
        alarms += found.p_worse <= 0.05
    assert alarms <= 15  # 7.5 expected, standard deviation 2.7


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        (1.0, 0.0, "the denominator is 0 in this run"),
        (0.0, 1.0, "the denominator is 0 in the baseline"),
    ],
)
def test_a_run_without_a_success_is_not_compared(was: float, now: float, why: str) -> None:
    arms = [trials(np.ones((9, 3)), np.full((9, 3), success)) for success in (was, now)]
    found = compare(*arms)
    assert why in found.too_few
    assert (found.p_worse, found.n_paired) == (1.0, 9)


def test_only_cases_that_both_runs_have_are_compared() -> None:
    rng = np.random.default_rng(8)
    was, now = drawn(rng, np.full(20, 0.8), 3), drawn(rng, np.full(20, 0.8), 3)
    now[5:] = NAN
    assert compare(was, now).n_paired == 5
    now[:] = NAN
    assert compare(was, now).too_few == "no case has a value in both runs"


def test_more_calls_see_smaller_changes() -> None:
    rng = np.random.default_rng(9)
    sight = Sight(drift=3.17, power=0.8, level=0.01)
    was, now = drawn(rng, np.full(400, 0.8), 12), drawn(rng, np.full(400, 0.8), 3)
    few = compare(was[:40], now[:40]).detectable(sight)
    many = compare(was, now).detectable(sight)
    assert 0.05 < many < few
