"""How much a call varies, told from the stored rounds of an unchanged agent."""

import math

import numpy as np
import pytest

from gate.analysis.noise import assume_noise, measure_noise, share_never_changing
from gate.analysis.table import ratio_of
from gate.records import MetricSpec, Tolerance
from tests.support.verdict_tables import COST, JUDGE, P95, RECALL, SUCCESS, latencies, noisy

ABSOLUTE, RELATIVE = Tolerance(value=0.02), Tolerance(value=0.05, relative=True)
STEPS = MetricSpec(name="agent.avg_steps", column="steps", direction="lower", high=None)
WORST = MetricSpec(name="operational.worst", column="w", family="max", direction="lower", high=None)


@pytest.mark.parametrize("rounds", [2, 5, 12])
def test_passes_vary_as_the_formula_says(rounds):
    """v = mean of S (N - S) / (N (N - 1)) over the cases."""
    values = noisy(60, rounds, 0.7, seed=1)
    s = values.sum(axis=1)
    expected = (s * (rounds - s) / (rounds * (rounds - 1))).mean()
    found = measure_noise(SUCCESS, values, ABSOLUTE)
    assert found.sd**2 == pytest.approx(expected)
    assert (found.cases, found.rounds, found.guess, found.unknown) == (60, rounds, "", "")


def test_scores_vary_by_their_variance_within_cases():
    values = np.random.default_rng(2).uniform(1, 5, (30, 1)) + np.array([-0.5, 0.0, 0.5, 0.0])
    found = measure_noise(JUDGE, values, ABSOLUTE)
    assert found.sd**2 == pytest.approx(values.var(axis=1, ddof=1).mean())
    assert found.multiple(0.4) * found.sd == pytest.approx(0.4)


def test_rounds_that_only_some_cases_have_are_used():
    values = np.full((40, 9), np.nan)
    values[:, ::3] = noisy(40, 3, 0.5, seed=3)
    dense = measure_noise(SUCCESS, values[:, ::3], ABSOLUTE)
    sparse = measure_noise(SUCCESS, values, ABSOLUTE)
    assert sparse.sd == pytest.approx(dense.sd)
    assert sparse.rounds == 3


def test_one_round_gives_half_of_all_variance_as_a_guess():
    values = noisy(2_000, 1, 0.8, seed=4)
    found = measure_noise(SUCCESS, values, ABSOLUTE)
    assert found.sd**2 == pytest.approx(0.8 * 0.2 / 2, rel=0.05)
    assert found.guess == "from one round a case"


def test_latency_and_cost_are_told_on_logarithms():
    values = latencies(400, 6) * np.exp(np.random.default_rng(5).normal(0, 1, (400, 1)))
    found = measure_noise(COST, values, RELATIVE)
    assert found.relative
    assert found.sd == pytest.approx(math.exp(0.3) - 1, rel=0.05)
    assert found.multiple(0.10) * 0.3 == pytest.approx(math.log(1.10), rel=0.05)
    assert found.between > 0.7


def test_a_quantile_is_told_where_there_are_enough_calls():
    assert measure_noise(P95, latencies(60, 4), RELATIVE).unknown == ""
    few = measure_noise(P95, latencies(10, 4), RELATIVE)
    assert few.unknown == "40 of the 100 calls that a p95 needs"


def test_calls_that_all_agree_still_leave_room_for_one_that_does_not():
    found = measure_noise(SUCCESS, np.ones((10, 10)), ABSOLUTE)
    assert found.sd == pytest.approx(0.1)
    assert measure_noise(RECALL, np.ones((10, 10)), RELATIVE).sd == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("spec", "values", "why"),
    [
        (STEPS, np.full((5, 3), 2.0), "it never varied"),
        (STEPS, np.full((5, 3), np.nan), "the baseline has no value"),
        (STEPS, np.array([[1.0]]), "calls like these cannot prove anything about it"),
        (WORST, latencies(20, 5), "calls like these cannot prove anything about it"),
    ],
)
def test_what_cannot_be_told_says_why(spec, values, why):
    assert measure_noise(spec, values, RELATIVE).unknown == why


def test_a_share_that_nobody_measured_is_assumed():
    found = assume_noise(SUCCESS, 0.8, ABSOLUTE, cases=10, rounds=3)
    assert found.sd**2 == pytest.approx(0.08)
    assert found.guess == "from a value of 0.80, which is assumed"
    assert assume_noise(SUCCESS, 0.8, RELATIVE, cases=10, rounds=3).sd ** 2 == pytest.approx(0.125)
    assert assume_noise(SUCCESS, 1.0, ABSOLUTE, cases=25, rounds=4).sd == pytest.approx(0.1)
    assert assume_noise(COST, 0.8, RELATIVE, cases=10, rounds=3).unknown


def test_cases_that_never_change():
    values = np.array([[1, 1, np.nan], [0, 0, 0], [0, 1, 1], [1, np.nan, np.nan]])
    assert share_never_changing(values) == pytest.approx(2 / 3)
    assert math.isnan(share_never_changing(values[:, :1]))


def test_few_cases_with_very_many_rounds():
    """More ways to shuffle them than a float can count."""
    assert measure_noise(SUCCESS, noisy(3, 800, 0.5, seed=6), ABSOLUTE).sd == pytest.approx(
        0.5, abs=0.01
    )


def test_a_ratio_varies_as_its_two_sums_do():
    """Each call adds cost / mean cost - success / success rate."""
    rng = np.random.default_rng(11)
    success = (rng.random((400, 6)) < 0.8).astype(float)
    cost = np.exp(0.3 * rng.standard_normal(success.shape))
    spec = MetricSpec(
        name="agent.cost_per_success",
        column="cost_usd",
        per="success",
        family="ratio",
        direction="lower",
        high=None,
    )
    found = measure_noise(spec, ratio_of(cost, success), RELATIVE)
    each = (cost / cost.mean() - success / success.mean()).std(ddof=1)
    assert found.relative
    assert found.sd == pytest.approx(math.exp(each) - 1, rel=0.05)
    assert math.isnan(found.between)
    nothing = measure_noise(spec, ratio_of(cost, np.zeros_like(success)), RELATIVE)
    assert nothing.unknown
