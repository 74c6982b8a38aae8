"""Where a series of runs changed its level, how rarely it is said for nothing."""

import numpy as np
import pytest
from scipy.stats import ttest_ind

from gate.stats.change_points import MOST, chance_noise, change_points

QUIET = 0.0005  # variance of a success rate of 300 calls or so


def found(values, noise=QUIET, alpha=0.01):
    return change_points(values, [noise] * len(values), alpha=alpha)


def test_a_step_is_found_where_it_is_with_its_levels():
    (point,) = found([0.95, 0.94, 0.96, 0.95, 0.70, 0.72, 0.71])
    assert (point.at, point.runs_before, point.runs_after) == (4, 4, 3)
    assert (point.before, point.after) == (pytest.approx(0.95), pytest.approx(0.71))
    assert point.p < 0.01


@pytest.mark.parametrize(
    ("values", "at", "places"),
    [
        ([0.90, 0.91, 0.50, 0.51, 0.50], 2, 2),  # a step at one of two places, and no stretch
        ([0.95, 0.94, 0.96, 0.95, 0.70, 0.72, 0.71], 4, 4 * 2),  # or one of three stretches
    ],
)
def test_its_p_is_that_of_a_t_test_for_every_place_that_was_looked_at(values, at, places):
    (point,) = found(values, alpha=0.05)
    wanted = places * ttest_ind(values[:at], values[at:]).pvalue
    assert (point.at, point.p) == (at, pytest.approx(wanted))


def test_the_last_digit_of_a_float_is_no_change():
    assert found([0.3] * 5 + [0.1 + 0.2] * 5, noise=0.0) == ()


def test_a_stretch_that_came_and_went_has_two_ends():
    first, second = found([0.95, 0.94, 0.96, 0.95, 0.70, 0.72, 0.71, 0.95, 0.94, 0.96])
    assert (first.at, second.at) == (4, 7)
    assert first.after == second.before == pytest.approx(0.71)


def test_six_runs_are_the_least_in_which_a_stretch_is_seen():
    values = [0.95, 0.96, 0.50, 0.51, 0.95, 0.96]
    assert [one.at for one in found(values)] == [2, 4]


def test_steps_in_a_row_are_all_found():
    levels = [0.9] * 6 + [0.7] * 6 + [0.4] * 6
    wobble = np.random.default_rng(1).normal(0.0, 0.01, 18)
    assert [one.at for one in found([a + b for a, b in zip(levels, wobble, strict=True)])] == [
        6,
        12,
    ]


@pytest.mark.parametrize(
    "values",
    [[], [0.9], [0.9, 0.2, 0.9], [0.9] * 12, [0.95, 0.94, 0.96, 0.95, 0.94, 0.95]],
    ids=len,
)
def test_nothing_is_found_where_nothing_changed_or_too_little_is_there(values):
    assert found(values) == ()


def test_a_single_odd_run_is_no_change():
    assert found([0.95, 0.94, 0.96, 0.95, 0.40, 0.95, 0.94, 0.96, 0.95, 0.96]) == ()


def test_equal_values_of_few_calls_prove_nothing():
    """Ten cases, once: 0.9, 0.9, 1.0, 1.0 happens by chance, though it has no scatter."""
    values = [0.9, 0.9, 0.9, 1.0, 1.0, 1.0]
    assert found(values, chance_noise(0.95, [10], share=True)[0]) == ()
    assert len(found(values, chance_noise(0.95, [5_000], share=True)[0])) == 1


def test_days_that_differ_widely_hide_what_their_calls_alone_would_prove():
    days = [0.95, 0.75, 0.90, 0.70, 0.85, 0.65, 0.80, 0.70]
    assert found(days, 0.00001) == ()


@pytest.mark.parametrize("tau", [0.0, 0.02])
def test_false_alarms_keep_to_alpha(tau):
    rng, alarms, reps = np.random.default_rng(7), 0, 400
    for _ in range(reps):
        rates = rng.binomial(90, np.clip(0.8 + tau * rng.normal(size=12), 0, 1)) / 90
        noise = chance_noise(float(rates.mean()), [90] * 12, share=True)
        alarms += bool(change_points(rates.tolist(), noise, alpha=0.05))
    assert alarms / reps <= 0.05


def test_a_drop_of_ten_points_after_ten_runs_is_seen():
    rng, seen, reps = np.random.default_rng(8), 0, 100
    for _ in range(reps):
        rates = rng.binomial(300, [0.85] * 10 + [0.70] * 10) / 300
        noise = chance_noise(float(rates.mean()), [300] * 20, share=True)
        seen += [one.at for one in change_points(rates.tolist(), noise, alpha=0.01)] == [10]
    assert seen > 60


def test_of_a_very_long_series_the_newest_runs_are_searched():
    values = [0.5] * 50 + [0.9] * (MOST - 10) + [0.6] * 10
    assert [one.at for one in found(values)] == [MOST + 40]


def test_the_noise_of_chance():
    assert chance_noise(0.5, [100, 0], share=True) == [0.0025, float("inf")]
    assert chance_noise(2.0, [100], share=False) == [0.04]
    assert chance_noise(1.0000001, [100], share=True) == [0.0]
