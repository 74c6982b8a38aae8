"""tau^2 between runs: the estimate, its rule of silence, and what a step does to it."""

from __future__ import annotations

import numpy as np
import pytest

from gate.stats.session_effect import Era, SessionEffect, estimate_session_effect


def era(*means: float, noise: float = 0.0) -> Era:
    return Era(means=np.array(means), noise=np.full(len(means), noise))


def drawn(tau: float, runs: int, rng: np.random.Generator) -> Era:
    """Runs around 0 with noise of variance 1."""
    return era(*rng.normal(0.0, np.hypot(tau, 1.0), runs), noise=1.0)


MEDIAN = 0.78  # of chi-squared with 2.9 degrees of freedom, as a share of them (R: qchisq)


def test_it_is_half_the_mean_squared_step_less_the_noise() -> None:
    found = estimate_session_effect([era(0.0, 4.0, 1.0, 3.0, 2.0, noise=0.5)])
    assert found is not None
    assert found.variance == pytest.approx((16 + 9 + 4 + 1) / 8 - 0.5 * MEDIAN, rel=0.01)
    assert found.runs == 5
    assert found.allowance == pytest.approx((4.63 / 2.326) ** 2, rel=0.02)  # t tables, 2.9 df


def test_eras_share_one_effect_and_have_a_level_each() -> None:
    found = estimate_session_effect(
        [era(0.0, 4.0, 1.0, 3.0, 2.0), era(100.0, 104.0, 102.0), era(7.0)]
    )
    assert found is not None
    assert found.variance == pytest.approx((30 + 20) / 12)
    assert found.runs == 8  # a run alone says nothing


def test_a_trend_adds_half_its_squared_step_and_no_more() -> None:
    """Ten runs that lose 1.5 points each: 1.1 points^2, and not the 20.6 of their variance."""
    found = estimate_session_effect([era(*np.arange(10) * -1.5)])
    assert found is not None
    assert found.variance == pytest.approx(1.5**2 / 2)


@pytest.mark.parametrize(
    "eras",
    [
        [],
        [era(0.0, 4.0, 1.0, 3.0)],
        [era(0.0, 4.0), era(1.0, 3.0), era(2.0)],
        [era(0.0, 1.0), era(1.0, 0.0), era(0.0)],
    ],
)
def test_too_few_runs_say_nothing(eras: list[Era]) -> None:
    assert estimate_session_effect(eras) is None


def test_what_noise_explains_is_no_effect() -> None:
    found = estimate_session_effect([era(0.0, 4.0, 1.0, 3.0, 2.0, noise=5.0)])
    assert found is not None
    assert (found.variance, found.seen) == (0.0, False)


def test_an_effect_that_may_be_noise_is_allowed_for_but_not_seen() -> None:
    found = estimate_session_effect([era(0.0, 4.0, 1.0, 3.0, 2.0, noise=3.0)])
    assert found is not None
    assert found.variance > 0.0
    assert not found.seen


def test_runs_that_are_equal_but_for_rounding_have_none() -> None:
    found = estimate_session_effect([era(0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2, 0.3, 0.3)])
    assert found is not None
    assert found.variance == 0.0


def test_an_effect_is_seen_in_one_of_ten_histories_without_one() -> None:
    rng = np.random.default_rng(1)
    seen = [estimate_session_effect([drawn(0.0, 10, rng)]) for _ in range(600)]
    assert 0.05 < np.mean([one is not None and one.seen for one in seen]) < 0.14


@pytest.mark.parametrize("runs", [10, 20])
def test_a_large_effect_is_measured_right_on_average(runs: int) -> None:
    rng = np.random.default_rng(2)
    found = [estimate_session_effect([drawn(3.0, runs, rng)]) for _ in range(300)]
    variances = [one.variance for one in found if one is not None]
    assert len(variances) == 300
    assert np.mean(variances) == pytest.approx(9.0, rel=0.12)  # some runs look like a step


def test_a_run_and_a_pool_that_differ_by_tau_are_seldom_told_apart() -> None:
    """One more run against five, at 1 %, of agents that did not change: about 2 % are blocked, were
    it without the effect 14 %.
    """
    rng = np.random.default_rng(3)
    blocked = []
    for _ in range(2000):
        past = drawn(1.6, 5, rng)
        found = estimate_session_effect([past])
        drift = found.drift(1 / 5) if found else 0.0
        fall = past.means.mean() - rng.normal(0.0, np.hypot(1.6, 1.0))
        blocked.append(fall > 2.326 * np.sqrt(1.2 + drift))
    assert 0.005 < np.mean(blocked) < 0.03


@pytest.mark.parametrize("jump", [5.0, 10.0, 50.0])
@pytest.mark.parametrize("at", [3, 10, 17])
def test_one_jump_does_not_pass_for_an_effect(jump: float, at: int) -> None:
    rng = np.random.default_rng(3)
    sizes = []
    for _ in range(60):
        means = drawn(0.0, 20, rng).means + np.where(np.arange(20) < at, jump, 0.0)
        found = estimate_session_effect([era(*means, noise=1.0)])
        assert found is not None
        sizes.append(found.sd)
    assert np.mean(sizes) < 0.4  # as without a jump; the variance of all means gives up to 25


def test_two_steps_do_not_either() -> None:
    quiet = np.random.default_rng(4).normal(0.0, 1.0, 20)
    levels = np.repeat([0.0, 12.0, 4.0], [6, 8, 6])
    found = estimate_session_effect([era(*(quiet + levels), noise=1.0)])
    assert found is not None
    assert found.sd < 0.2 * np.std(quiet + levels)


def test_the_drift_of_a_run_against_a_pool() -> None:
    effect = SessionEffect(variance=4.0, runs=9, allowance=1.5)
    assert effect.drift(1 / 5) == pytest.approx(4.0 * 1.5 * 1.2)
    assert effect.sd == 2.0
