"""How often the bounds of a share are wrong, by exact arithmetic over the chance to pass."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from gate.analysis.metrics.rate import Rate
from gate.records import MetricSpec
from gate.stats.intervals import clopper_pearson, wilson

SHARE = MetricSpec(name="agent.success_rate", column="success", family="rate")
CHANCES = (0.001, 0.01, 0.03, 0.07, 0.2, 0.35, 0.5, 0.65, 0.8, 0.93, 0.97, 0.99, 0.999)
HAIR = 1e-12


def binomial(n: int, p: float) -> np.ndarray:
    k = np.arange(n + 1)
    ways = np.array([math.comb(n, int(i)) for i in k], dtype=np.float64)
    return ways * p**k * (1.0 - p) ** (n - k)


def wrong(chances: np.ndarray, bounds: list[tuple[float, float]], truth: float) -> float:
    """The larger of the chances that the low and that the high bound is on the wrong side."""
    low, high = np.array(bounds).T
    return float(max(chances[low > truth + HAIR].sum(), chances[high < truth - HAIR].sum()))


def of_one_round(n: int, alpha: float) -> list[tuple[float, float]]:
    """What gates use where n cases ran once and 0, 1, ..., n passed."""
    found = []
    for passed in range(n + 1):
        values = (np.arange(n) < passed).astype(float)[:, None]
        bounds = Rate().interval(values, SHARE, confidence=1.0 - 2.0 * alpha)
        found.append((bounds.low, bounds.high))
    return found


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.002])
@pytest.mark.parametrize("n", [5, 20, 60, 200])
def test_bounds_of_one_round_are_wrong_no_more_often_than_they_say(n: int, alpha: float) -> None:
    bounds = of_one_round(n, alpha)
    assert max(wrong(binomial(n, p), bounds, p) for p in CHANCES) <= alpha


def test_wilsons_bounds_are_wrong_near_the_ends() -> None:
    """Why gates do not use them: 13 % where 1 % is promised."""
    n, scored = 20, [wilson(k / 20, 20, 0.98) for k in range(21)]
    bounds = [(one.low, one.high) for one in scored]
    worst = max(wrong(binomial(n, p), bounds, p) for p in np.linspace(0.98, 0.999, 39))
    assert worst > 0.10


@pytest.mark.parametrize("p", [0.5, 0.9, 0.97])
def test_bounds_hold_for_cases_that_are_not_alike(p: float) -> None:
    """Hoeffding 1956: half of the cases pass surely, the others with chance 2p - 1."""
    n, alpha = 60, 0.01
    own = 2.0 * p - 1.0
    chances = np.concatenate([np.zeros(n // 2), binomial(n // 2, own)])
    assert wrong(chances, of_one_round(n, alpha), p) <= alpha


def of_rounds(n: int, rounds: int, p: float) -> np.ndarray:
    """Chances of all pairs of passed calls and sum of s (R - s), which the interval depends on."""
    most = n * (rounds * rounds // 4)
    one = np.zeros((n * rounds + 1, most + 1))
    for s, chance in enumerate(binomial(rounds, p)):
        one[s, s * (rounds - s)] += chance
    return np.clip(np.fft.irfft2(np.fft.rfft2(one) ** n, s=one.shape), 0.0, 1.0)


@pytest.mark.parametrize("alpha", [0.01, 0.002])
@pytest.mark.parametrize(("n", "rounds"), [(10, 2), (40, 2), (10, 3), (40, 3), (20, 5)])
def test_bounds_of_several_rounds_are_wrong_no_more_often_than_they_say(
    n: int, rounds: int, alpha: float
) -> None:
    """At the levels that gates use; all cases alike, so that only rounds of a case differ. It is a
    normal curve with a widened variance: 1.05 % at 40 x 3 (1.5 % at 300 x 3).
    """
    worst = 0.0
    for p in CHANCES:
        chances = of_rounds(n, rounds, p)
        passed, mixed = np.nonzero(chances > HAIR)
        bounds = [around(n, rounds, *pair, alpha) for pair in zip(passed, mixed, strict=True)]
        worst = max(worst, wrong(chances[passed, mixed], bounds, p))
    assert worst <= 1.06 * alpha


def around(n: int, rounds: int, passed: int, mixed: int, alpha: float) -> tuple[float, float]:
    """`gate.stats.intervals.mean_of_these_cases` as a formula of the two sums: see below."""
    z = NormalDist().inv_cdf(1.0 - alpha)
    variance = mixed / (rounds * (rounds - 1)) / rounds / n**2
    half = z * math.sqrt(variance + (z / (n * rounds)) ** 2)
    value = passed / (n * rounds)
    return max(0.0, value - half), min(1.0, value + half)


def test_the_formula_above_is_the_gates_own() -> None:
    values = (np.random.default_rng(1).random((40, 3)) < 0.7).astype(float)
    sums = values.sum(axis=1).astype(int)
    own = Rate().interval(values, SHARE, confidence=0.98)
    mixed = int((sums * (3 - sums)).sum())
    assert (own.low, own.high) == pytest.approx(around(40, 3, int(sums.sum()), mixed, 0.01))


def test_a_run_that_ended_within_a_round_counts_its_calls_by_their_weight() -> None:
    """60 cases, 30 of them with a second call: worth 80 calls, not 90."""
    values = np.ones((60, 2))
    values[30:, 1] = math.nan
    found = Rate().interval(values, SHARE, confidence=0.98)
    assert found.low == pytest.approx(clopper_pearson(80, 80, 0.98).low)
