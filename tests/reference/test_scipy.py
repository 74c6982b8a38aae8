"""Our formulas against scipy's, where scipy has them."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from gate.stats.distributions import (
    beta_cdf,
    normal_cdf,
    normal_quantile,
    t_cdf,
    t_quantile,
    upper_tail,
)
from gate.stats.intervals import clopper_pearson, wilson
from gate.stats.pairs import pair
from gate.stats.permutation_test import case_p_values, hypergeometric, shuffle_test
from gate.stats.quantiles import quantile_bounds


@pytest.mark.parametrize("df", [1, 2, 5, 30, 999, 2e6])
@pytest.mark.parametrize("t", [-40.0, -2.3, 0.0, 0.4, 6.0])
def test_students_t(df: float, t: float) -> None:
    assert t_cdf(t, df) == pytest.approx(stats.t.cdf(t, df), abs=1e-6)


def test_an_unknown_number_stays_unknown() -> None:
    assert math.isnan(t_cdf(math.nan, 5.0))


@pytest.mark.parametrize("df", [1, 3, 5, 40, 2e6])
@pytest.mark.parametrize("p", [0.001, 0.3, 0.5, 0.975, 0.99])
def test_quantiles_of_students_t(df: float, p: float) -> None:
    assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("a", [0.5, 3.0, 250.0])
@pytest.mark.parametrize("b", [0.5, 8.0, 4000.0])
def test_the_beta_distribution(a: float, b: float) -> None:
    for x in (0.0, 1e-4, 0.05, 0.5, 0.999, 1.0):
        assert beta_cdf(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), abs=1e-9)


def test_the_normal_distribution_far_out() -> None:
    for z in (-30.0, -8.0, 0.0, 3.0):
        assert normal_cdf(z) == pytest.approx(stats.norm.cdf(z), rel=1e-9)
    assert normal_quantile(0.995) == pytest.approx(stats.norm.ppf(0.995))
    z = np.linspace(-10.0, 10.0, 401)
    assert upper_tail(z) == pytest.approx(stats.norm.sf(z), rel=2e-7)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (1, 10), (7, 30), (30, 30), (480, 1000)])
@pytest.mark.parametrize("confidence", [0.95, 0.98])
def test_intervals_of_a_share(k: int, n: int, confidence: float) -> None:
    ours = clopper_pearson(k, n, confidence)
    theirs = stats.binomtest(k, n).proportion_ci(confidence, method="exact")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    ours = wilson(k / n, n, confidence)
    theirs = stats.binomtest(k, n).proportion_ci(confidence, method="wilson")
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_hypergeometric_chances() -> None:
    for rounds, drawn, successes in [(5, 2, 3), (15, 3, 14), (60, 12, 30), (2500, 3, 1200)]:
        expected = stats.hypergeom.pmf(np.arange(drawn + 1), rounds, successes, drawn)
        assert hypergeometric(rounds, drawn, successes) == pytest.approx(expected, abs=1e-9)


def test_one_round_is_mcnemars_mid_p() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        was = (rng.random((14, 1)) < 0.7).astype(float)
        now = (rng.random((14, 1)) < 0.5).astype(float)
        worse, better = int(((was == 1) & (now == 0)).sum()), int(((was == 0) & (now == 1)).sum())
        n = worse + better
        mid = stats.binom.cdf(better - 1, n, 0.5) + stats.binom.pmf(better, n, 0.5) / 2
        assert shuffle_test(pair(was, now)).p_down == pytest.approx(mid, abs=1e-9)


def _exact_mid_p(was: Sequence[np.ndarray], now: Sequence[np.ndarray]) -> float:
    """By convolving scipy's hypergeometric distributions case by case."""
    total = np.ones(1)
    for b, c in zip(was, now, strict=True):
        k = np.arange(len(c) + 1)
        successes = int(b.sum() + c.sum())
        one = stats.hypergeom.pmf(k, len(b) + len(c), successes, len(c))
        total = np.convolve(total, one)
    seen = int(sum(row.sum() for row in now))
    return float(total[:seen].sum() + total[seen] / 2)


@pytest.mark.parametrize("rounds", [1, 2, 4])
@pytest.mark.parametrize("cases", [5, 12])
def test_the_exact_stratified_test(cases: int, rounds: int) -> None:
    rng = np.random.default_rng(cases * rounds)
    p = rng.beta(0.5, 0.5, (cases, 1))
    was, now = ((rng.random((cases, rounds)) < p).astype(float) for _ in range(2))
    test = shuffle_test(pair(was, now))
    close = 1e-9 if test.method == "exact shuffle test" else 6e-3
    assert test.p_down == pytest.approx(_exact_mid_p(was, now), abs=close)


@pytest.mark.parametrize(("rounds_b", "rounds_c"), [(4, 1), (6, 2), (2, 5), (12, 3)])
def test_the_exact_test_with_unlike_numbers_of_rounds(rounds_b: int, rounds_c: int) -> None:
    """One of the two tests that are made then; the weaker one accuses."""
    rng = np.random.default_rng(rounds_b)
    for _ in range(10):
        p = rng.beta(0.5, 0.5, (6, 1))
        was, now = (rng.random((6, rounds)) < p for rounds in (rounds_b, rounds_c))
        test = shuffle_test(pair(was.astype(float), now.astype(float)))
        exact = _exact_mid_p(was, now)
        close = 1e-9 if test.method == "exact shuffle test" else 6e-3
        assert min(abs(test.p_down - exact), abs(test.doubt_down - exact)) <= close
        assert test.p_down >= exact - close
        assert test.doubt_down <= exact + close


def test_the_exact_test_with_gaps() -> None:
    """Calls that were not made are not shuffled."""
    rng = np.random.default_rng(12)
    for _ in range(10):
        was, now = (
            (rng.random((7, 3)) < 0.6).astype(float),
            (rng.random((7, 3)) < 0.6).astype(float),
        )
        was[rng.random(was.shape) < 0.2] = now[rng.random(now.shape) < 0.2] = math.nan
        was[:, 0] = now[:, 0] = 1.0
        test = shuffle_test(pair(was, now))
        arms = [[row[~np.isnan(row)] for row in arm] for arm in (was, now)]
        exact = _exact_mid_p(*arms)
        assert test.method == "exact shuffle test"
        assert min(abs(test.p_down - exact), abs(test.doubt_down - exact)) <= 1e-9


def test_the_normal_curve_is_close_where_it_takes_over() -> None:
    rng = np.random.default_rng(8)
    p = rng.beta(0.5, 0.5, (60, 1))
    was, now = ((rng.random((60, 3)) < p).astype(float) for _ in range(2))
    test = shuffle_test(pair(was, now))
    assert test.method == "shuffle test"
    assert test.p_down == pytest.approx(_exact_mid_p(was, now), abs=2e-3)


def test_the_correction_for_skewness_points_the_right_way() -> None:
    was, now = np.ones((150, 12)), np.ones((150, 3))
    was[:75, 0] = now[75:83, 0] = 0.0  # rare failures: a long tail downwards
    test, exact = shuffle_test(pair(was, now)), 1.0 - _exact_mid_p(was, now)
    assert test.method == "shuffle test"
    assert test.p_up == pytest.approx(exact, rel=0.05)
    assert normal_cdf(-test.z) > 1.2 * exact


def test_extreme_skewness_stays_exact() -> None:
    """Many baseline rounds, all passed but in the current run: the correction would bend back."""
    was, now = np.ones((110, 60)), np.ones((110, 3))
    now[:, 0] = 0.0
    test = shuffle_test(pair(np.ones((110, 60)), now))
    assert test.z < -20
    assert test.p_down < 1e-12
    assert shuffle_test(pair(was, np.ones((110, 3)))).p_down == 0.5


def test_p_value_of_a_single_case_is_fishers() -> None:
    was, now = np.ones((1, 12)), np.zeros((1, 3))
    one_sided = stats.fisher_exact([[12, 0], [0, 3]], alternative="greater").pvalue
    assert case_p_values(pair(was, now))[0] == pytest.approx(2 * one_sided / 2)


def test_scores_of_one_round_are_a_sign_permutation() -> None:
    rng = np.random.default_rng(5)
    was, now = rng.random((9, 1)), rng.random((9, 1))
    theirs = stats.permutation_test(
        ((now - was).ravel(),),
        lambda x: x.sum(),
        permutation_type="samples",
        alternative="less",
        n_resamples=math.inf,
    )
    assert shuffle_test(pair(was, now)).p_down == pytest.approx(theirs.pvalue)


def _share_as_low(was: np.ndarray, now: np.ndarray) -> float:
    """Of all ways to shuffle each case's rounds between the arms: how many are at least as low."""
    rounds = now.shape[1]
    weight = rounds * was.shape[1] / (rounds + was.shape[1])
    sums = np.zeros(1)
    for pool in np.hstack([now, was]):
        ways = [
            weight * (pool[list(chosen)].mean() - np.delete(pool, list(chosen)).mean())
            for chosen in itertools.combinations(range(len(pool)), rounds)
        ]
        sums = np.add.outer(sums, ways).ravel()
    seen = weight * (now.mean(axis=1) - was.mean(axis=1)).sum()
    return float(np.mean(sums <= seen + 1e-12))


@pytest.mark.parametrize(("cases", "rounds_b", "rounds_c"), [(6, 2, 2), (4, 3, 3), (5, 4, 1)])
@pytest.mark.parametrize("drop", [0.0, 0.1])
def test_scores_of_several_rounds_are_close_to_all_their_shuffles(
    cases: int, rounds_b: int, rounds_c: int, drop: float
) -> None:
    """7,776, 160,000 and 3,125 ways: the closed form is for many more."""
    rng = np.random.default_rng(1)
    level = rng.random((cases, 1))
    was = level + 0.3 * rng.random((cases, rounds_b))
    now = level - drop + 0.3 * rng.random((cases, rounds_c))
    test, exact = shuffle_test(pair(was, now)), _share_as_low(was, now)
    assert min(abs(test.p_down - exact), abs(test.doubt_down - exact)) <= 0.012
    assert test.p_down >= 0.9 * exact


def test_many_scores_of_one_round_are_a_sign_permutation() -> None:
    rng = np.random.default_rng(6)
    was = rng.random((40, 1))
    now = was - 0.05 + 0.3 * rng.standard_normal((40, 1))
    theirs = stats.permutation_test(
        ((now - was).ravel(),),
        lambda x, axis: x.sum(axis=axis),
        permutation_type="samples",
        alternative="less",
        n_resamples=40_000,
        vectorized=True,
        rng=np.random.default_rng(7),
    )
    assert shuffle_test(pair(was, now)).p_down == pytest.approx(theirs.pvalue, abs=0.01)


@pytest.mark.parametrize(("n", "tau"), [(100, 0.5), (300, 0.9), (1000, 0.95), (150, 0.99)])
def test_the_interval_of_a_quantile_has_scipys_order_statistics(n: int, tau: float) -> None:
    values = np.random.default_rng(n).permutation(np.arange(1.0, n + 1.0))
    ours = quantile_bounds(values[:, None], tau, 0.95)
    theirs = stats.quantile_test(values, q=tau * n, p=tau).confidence_interval(0.95)
    end = theirs.high if not math.isnan(theirs.high) else math.inf  # scipy's word for "no end"
    assert (ours.low, ours.high) == (theirs.low, end)


@pytest.mark.parametrize(("rounds_b", "rounds_c"), [(3, 3), (12, 3), (7, 2)])
def test_p_values_of_single_cases_are_hypergeometric(rounds_b: int, rounds_c: int) -> None:
    rng = np.random.default_rng(2)
    was = (rng.random((30, rounds_b)) < 0.6).astype(float)
    now = (rng.random((30, rounds_c)) < 0.4).astype(float)
    seen = now.sum(axis=1)
    table = (rounds_b + rounds_c, was.sum(axis=1) + seen, rounds_c)
    below = stats.hypergeom.cdf(seen - 1, *table) + stats.hypergeom.pmf(seen, *table) / 2
    expected = np.minimum(1.0, 2.0 * np.minimum(below, 1.0 - below))
    assert case_p_values(pair(was, now)) == pytest.approx(expected, abs=1e-12)
