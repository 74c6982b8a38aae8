"""Quantiles of all calls of a run, their intervals, and how many calls they need."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gate.stats.distributions import beta_cdf, interpolate_quantile
from gate.stats.intervals import Bounds
from gate.stats.pairs import Array


def calls_needed(tau: float) -> int:
    """The number of calls that a tau-quantile needs: five beyond it (100 for a p95)."""
    return math.ceil(round(5.0 / min(tau, 1.0 - tau), 6))


def quantile(values: Array, tau: float) -> float:
    """The tau-quantile of all values that are not NaN; NaN if there are none."""
    there = values[~np.isnan(values)]
    return interpolate_quantile(np.sort(there), tau) if there.size else math.nan


def quantile_bounds(values: Array, tau: float, confidence: float) -> Bounds:
    """The interval of the tau-quantile: two of the values, by their ranks (Thompson 1936). A bound
    is
    infinite if no value is far enough out.

    The share of all values below the value of a rank is a beta variable, whatever their
    distribution.
    """
    there = np.sort(values[~np.isnan(values)])
    n, tail = len(there), (1.0 - confidence) / 2.0

    def at_most(rank: int) -> float:
        """Chance that the value of this rank, from 1 to n, is at most the quantile."""
        return beta_cdf(tau, rank, n - rank + 1)

    low = _last(lambda rank: at_most(rank) >= 1.0 - tail, n)
    high = 1 + _last(lambda rank: at_most(rank) > tail, n)
    return Bounds(
        low=float(there[low - 1]) if low >= 1 else -math.inf,
        high=float(there[high - 1]) if high <= n else math.inf,
        method="order statistics",
    )


def _last(holds: Callable[[int], bool], n: int) -> int:
    """The last rank from 0 to n at which `holds` is true; it is true up to that rank."""
    low, high = 0, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def quantile_beyond(values: Array, share: float) -> float:
    """The quantile at `share`; -inf or inf if less than half a value is beyond it."""
    edge = 0.5 / len(values)
    if share < edge:
        return -math.inf
    return math.inf if share > 1.0 - edge else interpolate_quantile(np.sort(values), share)
