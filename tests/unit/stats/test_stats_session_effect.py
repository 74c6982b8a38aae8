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


def test_it_is_the_variance_of_the_means_less_the_noise() -> None:
    found = estimate_session_effect([era(0.0, 4.0, 1.0, 3.0, 2.0, noise=0.5)])
    assert found is not None
    assert found.variance == pytest.approx(2.5 - 0.5)
    assert found.runs == 5
    assert found.allowance == pytest.approx((3.747 / 2.326) ** 2, rel=1e-3)  # t tables, 4 df


def test_eras_share_one_effect_and_have_a_level_each() -> None:
    found = estimate_session_effect(
        [era(0.0, 4.0, 1.0, 3.0, 2.0), era(100.0, 104.0, 102.0), era(7.0)]
    )
    assert found is not None
    assert found.variance == pytest.approx((10.0 + 8.0) / 6)
    assert found.runs == 8  # a run alone says nothing


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
    found = estimate_session_effect([era(0.0, 4.0, 1.0, 3.0, 2.0, noise=1.5)])
    assert found == SessionEffect(variance=0.0, runs=5)


def test_runs_that_are_equal_but_for_rounding_have_none() -> None:
    found = estimate_session_effect([era(0.3, 0.1 + 0.2, 0.3, 0.1 + 0.2, 0.3, 0.3)])
    assert found is not None
    assert found.variance == 0.0


def test_an_effect_is_seen_in_one_of_ten_histories_without_one() -> None:
    rng = np.random.default_rng(1)
    seen = [estimate_session_effect([drawn(0.0, 10, rng)]) for _ in range(600)]
    assert 0.05 < np.mean([one is not None and one.variance > 0.0 for one in seen]) < 0.14


@pytest.mark.parametrize("runs", [10, 20])
def test_a_large_effect_is_measured_right_on_average(runs: int) -> None:
    rng = np.random.default_rng(2)
    found = [estimate_session_effect([drawn(3.0, runs, rng)]) for _ in range(300)]
    variances = [one.variance for one in found if one is not None]
    assert len(variances) == 300
    assert np.mean(variances) == pytest.approx(9.0, rel=0.12)  # some runs look like a step


@pytest.mark.parametrize("step", [5.0, 10.0, 50.0])
@pytest.mark.parametrize("at", [3, 10, 17])
def test_one_step_does_not_pass_for_an_effect(step: float, at: int) -> None:
    rng = np.random.default_rng(3)
    sizes = []
    for _ in range(60):
        means = drawn(0.0, 20, rng).means + np.where(np.arange(20) < at, step, 0.0)
        found = estimate_session_effect([era(*means, noise=1.0)])
        assert found is not None
        sizes.append(found.sd)
    assert np.mean(sizes) < 0.25  # in units of the noise; the variance of all means gives up to 25


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
