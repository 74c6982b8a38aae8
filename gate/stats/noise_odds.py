"""How often noise alone moves the mean of a run beyond a limit, for an agent of a known level."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gate.stats.distributions import beta_cdf, normal_cdf, normal_quantile, upper_tail
from gate.stats.pairs import Array, case_means, case_variances

Side = Literal["below", "above"]
UNSEEN = 0.2  # of a call, in the middle of the scale: equal calls do not prove the absence of noise
NODES = 64  # of the midpoint rule over what the planned rounds may show
FAR = 8.0  # standard errors
CLOSE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One metric of an agent, estimated from its stored rounds. A run's value is the mean of the
    means of `cases` cases.
    """

    value: float
    noise: float  # variance of one call around its case
    spread: float  # variance of one call around all of them
    cases: float
    shared: float = 0.0  # variance that all calls of one run have in common: the session effect
    low: float | None = None
    high: float | None = None
    integral: bool = False  # calls are whole numbers, so a mean moves in steps
    is_guess: bool = False  # no case has two rounds: the noise is half the spread

    def variance(self, rounds: float) -> float:
        return self.noise / (self.cases * rounds) + self.shared

    def half_width(self, rounds: float, z: float) -> float:
        """Half the width of the interval of a run with so many rounds (gate.stats.intervals)."""
        calls = self.cases * rounds
        square = (self.noise if rounds > 1 else self.spread) / calls
        span = 0.0 if self.low is None or self.high is None else self.high - self.low
        return z * math.hypot(math.sqrt(square), z * span / calls)


def estimate_level(
    values: Array, *, low: float | None, high: float | None, cases: float, shared: float = 0.0
) -> Level | None:
    """The level of an agent from its stored rounds; None if there are none. `values`: cases x
    rounds, NaN is missing.
    """
    calls = (~np.isnan(values)).sum(axis=1)
    values, total = values[calls > 0], int(calls.sum())
    if not total:
        return None
    there = values[~np.isnan(values)]
    spread = float(there.var(ddof=1)) if total > 1 else 0.0
    within = case_variances(values)
    variances = within[~np.isnan(within)]
    measured = Level(
        value=float(case_means(values).mean()),
        noise=float(variances.mean()) if variances.size else spread / 2.0,
        spread=spread,
        cases=cases,
        shared=shared,
        low=low,
        high=high,
        integral=bool(np.all(there == np.rint(there))),
        is_guess=not variances.size,
    )
    if low is None or high is None:
        return measured
    value = (total * measured.value + UNSEEN * (low + high) / 2.0) / (total + UNSEEN)
    least = UNSEEN * (high - low) ** 2 / (2.0 * (total + UNSEEN))
    noise = min(max(measured.noise, least), (value - low) * (high - value))
    return replace(measured, value=value, noise=noise, spread=max(spread, noise))


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundPlan:
    """How much is measured: the `planned` rounds, and up to `cap` rounds while a value beyond its
    limit is in doubt. `z`: half the width, in standard errors, of the interval that decides this.
    """

    planned: float
    cap: float
    z: float


def odds_beyond(level: Level, limit: float, side: Side, rounds: RoundPlan) -> float:
    """Chance that a run of an unchanged agent ends on this `side` of the limit.

    The mean of R rounds of n cases has the variance noise / (n R), plus that of the session effect.
    The number of passes or failures is a binomial variable of this mean and variance (exact if all
    cases are alike). Another mean is a beta variable on a bounded scale, a log-normal one above 0,
    else a normal one; for whole numbers half a step is added (Feller 1968, VII).

    A value beyond the limit gets the rounds up to the cap, unless its whole interval is beyond. It
    must still be beyond then. Both means are normal scores with the correlation of a sum and its
    part, root(V(cap) / V(planned)), so the chance is one integral (Jennison and Turnbull 2000, 2.3:
    the increments of a mean are independent).
    """
    first = _score(level, limit, side, rounds.planned)
    if rounds.cap <= rounds.planned or first <= -FAR:
        return normal_cdf(first)
    last = _score(level, limit, side, rounds.cap)
    se = math.sqrt(level.variance(rounds.planned))
    sure = max(-FAR, first - level.half_width(rounds.planned, rounds.z) / se) if se else first
    both = math.sqrt(level.variance(rounds.cap)) / se if se else 1.0
    if both >= 1.0 - CLOSE or sure >= first:
        return normal_cdf(first)
    width = (first - sure) / NODES
    at = sure + width * (np.arange(NODES, dtype=np.float64) + 0.5)
    density = np.exp(-0.5 * at**2) / math.sqrt(2.0 * math.pi)
    still = upper_tail(np.asarray((both * at - last) / math.sqrt(1.0 - both**2)))
    return min(1.0, normal_cdf(sure) + float((density * still).sum()) * width)


def _score(level: Level, limit: float, side: Side, rounds: float) -> float:
    """The normal quantile of the chance to be beyond the limit after so many rounds."""
    below = side == "below"
    edge = _first_beyond(level, limit, rounds, below=below)
    variance = level.variance(rounds)
    chance = None
    if level.integral and (level.low, level.high) == (0.0, 1.0):
        chance = _count_at_most(level.value, variance, edge, level.cases * rounds)
    if chance is None:
        chance = _at_most(level, edge, variance)
    chance = chance if below else 1.0 - chance
    return normal_quantile(min(max(chance, 1e-15), 1.0 - 1e-15))


def _first_beyond(level: Level, limit: float, rounds: float, *, below: bool) -> float:
    """The middle between the last possible mean that meets the limit and the first that does not. A
    value equal to the limit meets it.
    """
    if not level.integral:
        return limit
    step = 1.0 / (level.cases * rounds)
    if below:
        return (math.ceil(limit / step - CLOSE) - 0.5) * step
    return (math.floor(limit / step + CLOSE) + 0.5) * step


def _count_at_most(share: float, variance: float, x: float, calls: float) -> float | None:
    """Chance that the share of these calls is at most `x`, by a binomial variable with the mean and
    variance of the number of the rarer outcome. None if no binomial variable varies so much.
    """
    rare = min(share, 1.0 - share)
    number = calls * rare
    chance = 1.0 - calls * variance / rare if rare > 0.0 else 0.0
    if not 0.0 < chance < 1.0:
        return None
    size = number / chance
    if share > 0.5:
        return _binomial_at_least(math.floor((1.0 - x) * calls + 1.0 - CLOSE), size, chance)
    return 1.0 - _binomial_at_least(math.floor(x * calls + CLOSE) + 1, size, chance)


def _binomial_at_least(number: int, size: float, chance: float) -> float:
    """P(X >= `number`) of a binomial variable; `size` need not be an integer (DLMF 8.17.5)."""
    if number <= 0:
        return 1.0
    return beta_cdf(chance, number, size - number + 1.0) if number < size + 1.0 else 0.0


def _at_most(level: Level, x: float, variance: float) -> float:
    """Chance that the mean is at most `x`."""
    if variance <= 0.0:
        return float(level.value <= x)
    if level.low is None:
        return normal_cdf((x - level.value) / math.sqrt(variance))
    if level.high is None:
        return _log_normal(x - level.low, level.value - level.low, variance)
    width = level.high - level.low
    mean, share = (level.value - level.low) / width, (x - level.low) / width
    size = mean * (1.0 - mean) * width**2 / variance - 1.0
    if size <= 0.0:
        return float(level.value <= x)
    return beta_cdf(share, mean * size, (1.0 - mean) * size)


def _log_normal(x: float, mean: float, variance: float) -> float:
    if x <= 0.0 or mean <= 0.0:
        return float(mean <= x)
    square = math.log1p(variance / mean**2)
    return normal_cdf((math.log(x / mean) + square / 2.0) / math.sqrt(square))
