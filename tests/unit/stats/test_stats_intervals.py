"""Intervals: edges, coverage, and what identical rounds may prove."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gate.records import Tolerance
from gate.stats.change import ChangeQuestion, change_in_mean
from gate.stats.distributions import gamma_quantile, interpolate_quantile, normal_quantile
from gate.stats.intervals import (
    Bounds,
    clopper_pearson,
    mean_of_these_cases,
    mean_on_logs,
    mean_over_cases,
    wilson,
)
from gate.stats.multiplicity import benjamini_hochberg
from gate.stats.noise import ChangeNoise
from gate.stats.quantiles import calls_needed, quantile, quantile_beyond, quantile_bounds
from tests.support.sights import high, holm, low, mde, sight

ASKED = ChangeQuestion(direction="higher", tolerance=Tolerance(value=0.02), span=1.0)
ALPHA = 0.05


def test_wilson_reaches_the_ends_only_at_the_ends() -> None:
    none = wilson(0.0, 20, 0.95)
    assert none.low == pytest.approx(0.0)
    assert 0.1 < none.high < 0.2
    assert clopper_pearson(0, 20, 0.95).low == 0.0
    assert clopper_pearson(20, 20, 0.95).high == 1.0


def test_bounds_are_cut_at_the_scale() -> None:
    bounds = Bounds(low=-0.2, high=1.3, method="m")
    assert bounds.within(0.0, 1.0) == Bounds(low=0.0, high=1.0, method="m")
    assert bounds.within(None, None) == bounds


def test_rounds_that_agree_still_leave_doubt() -> None:
    bounds = mean_of_these_cases(np.ones((50, 3)), 0.90, 1.0)
    assert bounds is not None
    assert 1.0 - bounds.low == pytest.approx(normal_quantile(0.95) ** 2 / 150)


def test_one_round_says_nothing_about_noise() -> None:
    values = np.array([[1.0, 1.0], [0.0, math.nan]])
    assert mean_of_these_cases(values, 0.95, 1.0) is None
    assert mean_of_these_cases(np.full((2, 2), math.nan), 0.95, 1.0) is None
    assert mean_over_cases(values[:1], 0.95, 1.0).low == -math.inf


def test_unmeasured_cases_do_not_count() -> None:
    values = np.array([[1.0, 0.0], [1.0, 1.0]])
    wider = np.vstack([values, [[math.nan, math.nan]]])
    assert mean_of_these_cases(values, 0.95, 1.0) == mean_of_these_cases(wider, 0.95, 1.0)


@pytest.mark.parametrize("span", [1.0, None])
def test_these_cases_interval_misses_as_often_as_it_says(span: float | None) -> None:
    rng = np.random.default_rng(11)
    p = rng.beta(0.5, 0.5, (60, 1))
    missed = 0
    for _ in range(600):
        bounds = mean_of_these_cases((rng.random((60, 4)) < p).astype(float), 0.90, span)
        assert bounds is not None
        missed += bounds.low > p.mean()
    assert missed <= 48  # one-sided: 30 expected, standard deviation 5


def test_where_one_case_makes_the_bill_the_interval_is_wide() -> None:
    """The scatter of its rounds is all that is known of the noise."""
    even = np.tile([[0.9, 1.0, 1.1]], (40, 1))
    dear = even.copy()
    dear[0] *= 400.0
    wide, narrow = (mean_on_logs(float(x.mean()), x, 0.95) for x in (dear, even))
    assert narrow.high / narrow.low < 1.05
    assert wide.high / wide.low > math.exp(2 * 4.0 * 0.1 / math.sqrt(3) * 400 / 439)  # t is 4.3


def test_rounds_of_the_dearest_case_that_happen_to_be_alike_prove_nothing() -> None:
    noisy = np.tile([[0.5, 1.0, 1.5]], (40, 1))
    noisy[0] = 400.0
    bounds = mean_on_logs(float(noisy.mean()), noisy, 0.95)
    assert bounds.high / bounds.low > 1.5


def test_an_interval_on_logarithms_is_positive_and_leaves_out_unmeasured_cases() -> None:
    values = np.exp(np.random.default_rng(4).standard_normal((20, 2)))
    padded = np.vstack([values, np.full((500, 2), math.nan)])
    one, two = (mean_on_logs(float(values.mean()), x, 0.95) for x in (values, padded))
    assert one == two
    assert 0.0 < one.low < values.mean() < one.high
    nothing = mean_on_logs(0.0, np.zeros((4, 2)), 0.95)
    assert (nothing.low, nothing.high) == (0.0, 0.0)
    alone = mean_on_logs(3.0, np.full((1, 1), 3.0), 0.95)
    assert (alone.low, alone.high, alone.method) == (0.0, math.inf, "one case")


def test_no_violation_in_300_trials_does_not_prove_that_there_are_none() -> None:
    """The exact bound of a Poisson mean of which none was seen is 3.7."""
    bounds = mean_of_these_cases(np.zeros((100, 3)), 0.95, None, count=1.0)
    assert bounds is not None
    assert 3.689 / 300 < bounds.high < 3.95 / 300


@pytest.mark.parametrize(
    ("p", "shape", "x"), [(0.975, 1.0, 3.6889), (0.025, 3.0, 0.6187), (0.975, 150.0, 174.94)]
)
def test_quantiles_of_the_gamma_distribution(p: float, shape: float, x: float) -> None:
    assert gamma_quantile(p, shape) == pytest.approx(x, rel=2e-4)


def test_bounds_of_a_difference_allow_for_an_agent_that_became_flakier() -> None:
    p = np.where(np.arange(60) % 2, 1.0, 0.0)[:, None]
    was = np.tile(p, 12)
    now = (np.random.default_rng(2).random((60, 3)) < 0.5).astype(float)
    change = change_in_mean(was, now, ASKED)
    own = math.sqrt(float((now.var(axis=1, ddof=1) / 3).sum())) / 60
    z = normal_quantile(0.95)
    assert high(change, ALPHA) - change.delta == pytest.approx(
        z * math.sqrt(own**2 + (z / 180) ** 2)
    )


def test_interval_of_a_difference_excludes_zero_when_the_test_does() -> None:
    rng = np.random.default_rng(6)
    agree = 0
    for _ in range(200):
        p = rng.beta(0.5, 0.5, (200, 1))
        was = (rng.random((200, 3)) < p).astype(float)
        now = (rng.random((200, 3)) < p * 0.95).astype(float)
        change = change_in_mean(was, now, ASKED)
        agree += (high(change, ALPHA) < 0.0) == (change.p_worse <= 0.05)
    assert agree >= 190


@pytest.mark.parametrize(("cases", "rounds"), [(10, 3), (40, 3)])
def test_bound_of_a_difference_misses_no_more_than_it_says(cases: int, rounds: int) -> None:
    rng = np.random.default_rng(cases)
    missed = 0
    for _ in range(500):
        p = rng.beta(0.5, 0.5, (cases, 1))
        q = p * 0.9
        was = (rng.random((cases, 4 * rounds)) < p).astype(float)
        now = (rng.random((cases, rounds)) < q).astype(float)
        missed += low(change_in_mean(was, now, ASKED), ALPHA) > (q - p).mean()
    assert missed <= 40  # 25 expected, standard deviation 5


def test_identical_calls_prove_two_points_only_from_enough_of_them() -> None:
    """The rule of three: z^2 / d calls (136 at 5 %, 2 points)."""
    few, enough = (
        low(change_in_mean(np.ones((n, 1)), np.ones((n, 1)), ASKED), ALPHA) for n in (135, 136)
    )
    assert few <= -0.02 < enough


def test_relative_tolerance_makes_the_change_relative() -> None:
    asked = ChangeQuestion(direction="lower", tolerance=Tolerance(value=0.1, relative=True))
    rng = np.random.default_rng(1)
    was = 10.0 + rng.standard_normal((30, 3))
    change = change_in_mean(was, was * 1.5, asked)
    assert change.relative
    assert change.delta == pytest.approx(0.5)
    assert change.p_worse < 1e-6
    assert mde(change, ALPHA) >= 0.1
    zero = change_in_mean(np.zeros((9, 2)), np.zeros((9, 2)), asked)
    assert not zero.relative


def test_a_change_that_could_never_be_flagged_has_no_size() -> None:
    change = change_in_mean(np.ones((5, 1)), np.ones((5, 1)), ASKED)
    assert mde(change, ALPHA) < math.inf  # 1/64 is below 5 %
    assert mde(change, 0.01) == math.inf


def test_nothing_in_common() -> None:
    change = change_in_mean(np.full((3, 1), math.nan), np.ones((3, 1)), ASKED)
    assert change.n_paired == 0
    assert change.too_few == "no case has a value in both runs"
    assert math.isnan(change.delta)


def test_detectable_change_follows_the_textbook() -> None:
    """v = .084, R = 3, Rb = 12, 100 cases: 3.17 standard errors at 1 % and 80 %."""
    se = math.sqrt(0.084 * (1 / 3 + 1 / 12) / 100)
    noise = ChangeNoise(delta=0.0, variance=se**2, quantum=1 / 300, tolerance=0.02, least_p=0.0)
    found = noise.detectable(sight(0.01))
    assert found == pytest.approx(3.168 * se, rel=1e-3)


def test_nothing_below_the_tolerance_is_detectable() -> None:
    noise = ChangeNoise(delta=0.0, variance=1e-8, quantum=0.0, tolerance=0.02, least_p=0.0)
    found = noise.detectable(sight(0.01, 0.5))
    assert found == pytest.approx(0.02)


def test_detectable_change_is_what_a_simulation_finds() -> None:
    rng = np.random.default_rng(12)
    p, drop, caught = 0.8, 0.0, 0
    was = (rng.random((150, 12)) < p).astype(float)
    now = (rng.random((150, 3)) < p).astype(float)
    drop = mde(change_in_mean(was, now, ASKED), ALPHA)
    for _ in range(300):
        was = (rng.random((150, 12)) < p).astype(float)
        now = (rng.random((150, 3)) < p - drop).astype(float)
        caught += change_in_mean(was, now, ASKED).p_worse <= 0.05
    assert 210 <= caught <= 270  # 240 wanted


def test_holm_steps_down() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_benjamini_hochberg_steps_up() -> None:
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.9]).tolist() == pytest.approx(
        [0.04, 0.04 * 4 / 3, 0.04 * 4 / 3, 0.9]
    )
    assert benjamini_hochberg([]).size == 0


def test_quantiles() -> None:
    values = np.arange(1.0, 201.0).reshape(100, 2)
    assert quantile(values, 0.5) == 100.5
    bounds = quantile_bounds(values, 0.95, 0.95)
    assert 180.0 < bounds.low < 190.0 < bounds.high < 200.0
    assert math.isnan(quantile(np.full((2, 2), math.nan), 0.5))
    assert [calls_needed(q) for q in (0.5, 0.9, 0.95, 0.99)] == [10, 50, 100, 500]


def test_a_quantile_beyond_the_data_is_unknown() -> None:
    values = np.arange(10.0)
    assert quantile_beyond(values, -0.1) == -math.inf
    assert quantile_beyond(values, 1.1) == math.inf
    assert quantile_bounds(values, 0.95, 0.99).high == math.inf


def test_woodruffs_interval_covers() -> None:
    rng = np.random.default_rng(5)
    truth = -math.log(0.05)
    covered = 0
    for _ in range(200):
        bounds = quantile_bounds(rng.standard_exponential((100, 3)), 0.95, 0.95)
        covered += bounds.low <= truth <= bounds.high
    assert covered >= 182


@given(
    st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=30),
    st.floats(0.0, 1.0) | st.sampled_from([0.5, 0.95]),
)
def test_a_quantile_is_numpys_to_the_bit(values, tau):
    assert quantile(np.array(values), tau) == float(np.quantile(np.array(values), tau))


@given(
    # One zero only: which of 0.0 and -0.0 comes first in a sorted list is nobody's promise.
    st.lists(st.floats(allow_nan=False).map(lambda value: value + 0.0), min_size=1),
    st.floats(0.0, 1.0) | st.sampled_from([0.0, 0.5, 0.95, 1.0]),
)
@example([-0.0], 0.95)
def test_a_quantile_is_that_of_numpy_to_the_sign_of_zero(values: list[float], tau: float) -> None:
    with np.errstate(all="ignore"):
        told = interpolate_quantile(np.sort(values), tau)
        assert repr(told) == repr(float(np.quantile(values, tau)))
