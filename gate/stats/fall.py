"""How the noise changes when an agent gets worse.

A comparison knows the noise of an unchanged agent. A fall adds two things. Calls vary as much as a
share at the lower level does (Bernoulli). And which cases break is random: this widens the test's
own standard error, which pools the rounds of both sides, and scatters the difference. The model is
half of each: the mean of the variances if every case is weakened, and if a few random cases fail in
every round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gate.stats.distributions import bisect
from gate.stats.permutation_test import NOISE_SHARE

NEARLY = 1e-3  # rounds are equal up to this; they come from rounded shares of information


@dataclass(frozen=True, slots=True, kw_only=True)
class Fall:
    """How far the values can fall, all as distances from the worst end of their scale."""

    level: float  # of the mean
    square: float  # mean over the cases of the squared distance of a case's true mean
    span: float  # of the best end; infinite if calls have other values than the two ends


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSizes:
    """Cases and mean rounds of run and baseline; `variance`: of a call within its case."""

    cases: float
    rounds: float
    rounds_b: float
    variance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceVariances:
    """Variances of a difference: `believed` by the test, and `true`."""

    believed: float
    true: float


def difference_variances(arms: ArmSizes, fall: Fall | None, change: float) -> DifferenceVariances:
    """Variances of the difference between run and baseline if the run is worse by `change`."""
    unchanged = _pooled_variances(arms, arms.variance, 0.0, 0.0)
    if fall is None or change <= 0.0 or fall.level <= 0.0:
        return unchanged
    gone = min(1.0, change / fall.level)
    weakened = _pooled_variances(arms, _lower(arms.variance, fall, gone), change**2, 0.0)
    apart = gone * fall.square
    scatter = max(0.0, apart - change**2)
    broken = _pooled_variances(arms, arms.variance * (1.0 - gone), apart, scatter)
    return DifferenceVariances(
        believed=(weakened.believed + broken.believed) / 2.0,
        true=(weakened.true + broken.true) / 2.0,
    )


def _lower(variance: float, fall: Fall, gone: float) -> float:
    """Variance of a call if every case is weakened: its share of the Bernoulli variance stays."""
    if math.isinf(fall.span):
        return variance
    now, then = (at * (fall.span - at) for at in (fall.level, fall.level * (1.0 - gone)))
    return max(0.0, then) * (min(1.0, variance / now) if now > 0.0 else 1.0)


def _pooled_variances(
    arms: ArmSizes, current: float, square: float, scatter: float
) -> DifferenceVariances:
    """Variances of the difference, from the run's variance of a call (`current`), the mean over the
    cases of the squared change (`square`) and the variance of the change (`scatter`).

    The pooled variance of a case's N rounds is the mean of both sides', weighted by their rounds,
    plus w d^2 / (N - 1), w = R Rb / N.
    """
    n, r, rb = arms.cases, arms.rounds, arms.rounds_b
    both = r + rb
    weight = r * rb / both
    pooled = (rb * arms.variance + r * current) / both / weight / n + square / (both - 1.0) / n
    true = (arms.variance / rb + current / r + scatter) / n
    if math.isclose(r, rb, rel_tol=NEARLY):
        return DifferenceVariances(believed=pooled, true=true)
    if min(r, rb) >= 2.0 - NEARLY:  # the second test uses each side's own noise
        believed = (arms.variance / rb + current / r) / n
    else:  # or half of the scatter beyond the pooled variance
        believed = pooled + NOISE_SHARE * max(0.0, true - pooled)
    return DifferenceVariances(believed=max(pooled, believed), true=true)


def least_fall(
    arms: ArmSizes,
    fall: Fall | None,
    *,
    boundary: float,
    reserve: float,
    tolerance: float = 0.0,
    shared: float = 0.0,
    floor: float = 0.0,
) -> float:
    """The smallest change that a plan of looks catches: it exceeds `boundary` believed standard
    errors and `tolerance`, by `reserve` true ones. `shared`: variance of the difference that is
    added; `floor`: smallest standard error.
    """

    def required_change(change: float) -> float:
        variances = difference_variances(arms, fall, change)
        believed = max(floor, math.sqrt(variances.believed + shared))
        true = max(floor, math.sqrt(variances.true + shared))
        return max(boundary * believed, tolerance) + reserve * true

    if fall is None or fall.level <= 0.0:
        return required_change(0.0)
    most = required_change(fall.level)
    if most >= fall.level:
        return max(fall.level, most)
    return bisect(lambda change: change < required_change(change), 0.0, fall.level)
