"""The interval of the success rate over cases like these, against a loop and by simulation."""

import numpy as np
import pytest

from gate.stats.distributions import normal_cdf, normal_quantile
from gate.stats.intervals import share_of_cases_like_these, wilson


def passing(share, *, cases=40, rounds=3, alike=0.3, seed=0):
    """Cases x rounds of 0 and 1, whose chances differ so much that rounds correlate by `alike`."""
    rng = np.random.default_rng(seed)
    spread = 1 / alike - 1
    chances = rng.beta(share * spread, (1 - share) * spread, size=cases)
    return (rng.random((cases, rounds)) < chances[:, None]).astype(float)


def by_a_loop(values, *, resamples=4_000, seed=1):
    """BCa, case by case and with a real jackknife (Efron 1987)."""
    rng, means = np.random.default_rng(seed), np.nanmean(values, axis=1)
    n, seen = len(means), float(means.mean())
    drawn = sorted(float(np.mean(rng.choice(means, n))) for _ in range(resamples))
    tied = sum(one < seen - 1e-12 for one in drawn) + sum(one <= seen + 1e-12 for one in drawn)
    bias = normal_quantile(tied / 2 / resamples)
    left_out = np.array([np.delete(means, i).mean() for i in range(n)])
    away = left_out.mean() - left_out
    skew = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
    ends = []
    for tail in (0.025, 0.975):
        z = bias + normal_quantile(tail)
        ends.append(drawn[int(normal_cdf(bias + z / (1 - skew * z)) * resamples)])
    return ends


@pytest.mark.parametrize("share", [0.5, 0.8, 0.93])
def test_it_is_what_a_loop_over_resampled_cases_gives(share):
    values = passing(share)
    found = share_of_cases_like_these(values, 0.95, seed=0, resamples=20_000)
    assert (found.low, found.high) == pytest.approx(by_a_loop(values), abs=0.012)


def test_cases_are_drawn_with_all_their_rounds():
    """Rounds that all agree tell no more than one of them does."""
    once = passing(0.8, rounds=1)
    found = [
        share_of_cases_like_these(values, 0.95, seed=0)
        for values in (once, np.repeat(once, 5, axis=1))
    ]
    assert (found[0].low, found[0].high) == (found[1].low, found[1].high)


def test_the_seed_is_all_that_chance_has():
    values = passing(0.7)
    first, same, other = (share_of_cases_like_these(values, 0.95, seed=n) for n in (0, 0, 1))
    assert first == same != other
    assert first.drawn
    assert first.method == "BCa bootstrap over 40 cases, 2,000 resamples"


@pytest.mark.parametrize(
    ("values", "share", "n"),
    [
        (np.ones((20, 3)), 1.0, 20),
        (np.zeros((20, 3)), 0.0, 20),
        (np.tile([1.0, 1.0, 0.0], (6, 1)), 2 / 3, 6),
        (np.array([[1.0, 0.0, 1.0, np.nan]]), 2 / 3, 3),
        (np.array([[1.0, 1.0, 0.0]] * 4 + [[0.0, 0.0, np.nan]] * 5), 8 / 27, 9),
    ],
)
def test_where_drawing_shows_no_spread_or_has_too_few_cases_it_is_wilsons(values, share, n):
    assert share_of_cases_like_these(values, 0.95, seed=0) == wilson(share, n, 0.95)


def test_cases_and_rounds_without_a_value_are_left_out():
    values = passing(0.7)
    holes = np.vstack([np.hstack([values, np.full((40, 1), np.nan)]), np.full((3, 4), np.nan)])
    expected = share_of_cases_like_these(values, 0.95, seed=0)
    assert share_of_cases_like_these(holes, 0.95, seed=0) == expected
    assert share_of_cases_like_these(np.full((2, 2), np.nan), 0.95, seed=0) is None


@pytest.mark.parametrize(("share", "cases"), [(0.7, 40), (0.95, 40), (0.7, 6)])
def test_it_covers_the_rate_of_all_cases_as_often_as_it_says(share, cases):
    """300 suites of 3 rounds; within 4 standard errors of 95 %, about."""
    missed = 0
    for n in range(300):
        values = passing(share, cases=cases, seed=n)
        found = share_of_cases_like_these(values, 0.95, seed=0, resamples=500)
        missed += not found.low <= share <= found.high
    assert missed <= 30
