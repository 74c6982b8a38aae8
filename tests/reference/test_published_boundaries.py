"""Group-sequential boundaries against published figures and against scipy's normal integrals.

Sources of the figures, each named with its rows below:

* ldbounds: vignette of the R package ldbounds 2.0 (Casper, Cook and Perez 2023), which repeats the
  examples of Reboussin, DeMets, Kim and Lan, Controlled Clinical Trials 21 (2000), 190-207.
* SeqBounds.jl: README of the Julia package, one-sided example.
* rpact: expected values in the unit tests of the R package rpact 3 (Wassmer and Pahlke),
  test-f_design_group_sequential.R.
* J & T: Jennison and Turnbull, Group Sequential Methods (2000), section 7.2: inflation factors of
  two-sided designs that spend alpha t^rho; the unit tests of the R package gsDesign hold to them.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from gate.stats.boundaries import boundaries, crossing

Spending = Callable[[float], float]
CLOSE = 2e-6  # of scipy's integrals


def obrien_fleming(alpha: float) -> Spending:
    """The spending function of Lan and DeMets (1983) that resembles O'Brien and Fleming's test."""
    return lambda t: 2.0 - 2.0 * stats.norm.cdf(stats.norm.ppf(1.0 - alpha / 2.0) / math.sqrt(t))


def pocock(alpha: float) -> Spending:
    return lambda t: alpha * math.log(1.0 + (math.e - 1.0) * t)


def power_family(alpha: float, rho: float) -> Spending:
    return lambda t: alpha * t**rho


def equally(looks: int) -> tuple[float, ...]:
    return tuple((k + 1) / looks for k in range(looks))


@pytest.mark.parametrize(
    ("times", "spent", "published"),
    [
        pytest.param(
            equally(5),
            obrien_fleming(0.025),
            (4.8769, 3.3569, 2.6803, 2.2898, 2.0310),
            id="ldbounds",
        ),
        pytest.param(
            equally(4),
            obrien_fleming(0.05),
            (3.74955, 2.53993, 2.01604, 1.72014),
            id="SeqBounds.jl",
        ),
        pytest.param((0.4, 0.7), pocock(0.025), (2.223875, 2.3050796), id="rpact, Pocock"),
        pytest.param(
            (0.2, 0.4, 1.0),
            power_family(0.03, 1.0),
            (2.5121443, 2.4228747, 2.0280392),
            id="rpact, t",
        ),
        pytest.param(
            (0.3, 0.7, 1.0),
            power_family(0.03, 2.2),
            (2.8594012, 2.2435708, 1.9735737),
            id="rpact, t^2.2",
        ),
    ],
)
def test_boundaries_that_others_computed(
    times: tuple[float, ...], spent: Spending, published: tuple[float, ...]
) -> None:
    """ldbounds and SeqBounds.jl integrate on grids of their own, so the fourth decimal may move."""
    assert crossing(times, spent) == pytest.approx(published, abs=2e-4)


def inside(
    times: tuple[float, ...],
    low: list[float],
    high: list[float],
    drift: float = 0.0,
    close: float = CLOSE,
) -> float:
    """Chance that a path is between the bounds at every look."""
    t = np.array(times)
    return float(
        stats.multivariate_normal.cdf(
            high,
            lower_limit=low,
            mean=drift * np.sqrt(t),
            cov=np.sqrt(np.minimum.outer(t, t) / np.maximum.outer(t, t)),
            abseps=close,
            rng=np.random.default_rng(1),  # three and more dimensions are sampled
        )
    )


@pytest.mark.parametrize(
    ("looks", "rho", "inflation"), [(3, 1.0, 1.117), (10, 2.0, 1.081), (2, 3.0, 1.010)]
)
def test_power_of_the_boundaries_is_that_of_the_textbook(
    looks: int, rho: float, inflation: float
) -> None:
    """J & T: so much more information at the last look gives the 80 % of a test without looks."""
    times = equally(looks)
    harm = list(crossing(times, power_family(0.025, rho)))
    fixed = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    missed = inside(times, [-math.inf] * looks, harm, math.sqrt(inflation) * fixed, close=2e-5)
    assert missed == pytest.approx(0.2, abs=3e-4)  # what the third digit of the factor leaves open


TIMES = (0.15, 0.6, 1.0)


@pytest.mark.parametrize(("alpha", "beta"), [(0.05, 0.2), (0.01, 0.1), (0.001, 0.2)])
def test_every_look_spends_what_it_may(alpha: float, beta: float) -> None:
    """Harm without drift: alpha t^2; proof without drift and futility with it: beta t^1.5, as in
    all plans of few looks.
    """
    found = boundaries(TIMES, alpha, beta)
    harm, futility, proof = (list(x) for x in (found.harm, found.futility, found.proof))
    missed = 0.0
    for k, t in enumerate(TIMES, start=1):
        free = [-math.inf] * k
        for bound, spent in ((harm, alpha * t**2), (proof, beta * t**1.5)):
            stopped = 1.0 - inside(TIMES[:k], free, bound[:k])
            assert stopped == pytest.approx(spent, abs=3 * CLOSE)
        undecided, acquitted = (futility[: k - 1], harm[: k - 1]), futility[k - 1]
        missed += inside(
            TIMES[:k], [*undecided[0], -math.inf], [*undecided[1], acquitted], found.drift
        )
        assert missed == pytest.approx(beta * t**1.5, abs=10 * CLOSE)


def test_one_look_is_the_test_without_looks() -> None:
    found = boundaries((1.0,), 0.01, 0.2)
    z_alpha, z_beta = stats.norm.ppf(0.99), stats.norm.ppf(0.8)
    assert found.harm == found.futility == pytest.approx((z_alpha,))
    assert found.drift == pytest.approx(z_alpha + z_beta, abs=1e-6)
