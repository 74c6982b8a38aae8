"""Quantiles of all calls of a run, their intervals (Woodruff 1952) and how many calls they need."""

from __future__ import annotations

import math

import numpy as np
import numpy.ma  # np.quantile would import it at its first call, after the last answer

from gate.stats.intervals import Bounds, wilson
from gate.stats.pairs import Array


def calls_needed(tau: float) -> int:
    """Calls that a tau-quantile needs: five beyond it on its thinner side (100 for a p95)."""
    return math.ceil(round(5.0 / min(tau, 1.0 - tau), 6))


def quantile(values: Array, tau: float) -> float:
    """The tau-quantile of all values that are there; NaN when none is."""
    there = values[~np.isnan(values)]
    return float(np.quantile(there, tau)) if there.size else math.nan


def quantile_bounds(values: Array, tau: float, confidence: float) -> Bounds:
    """The interval of the share below it, read off the data; infinite where the data end."""
    there = values[~np.isnan(values)]
    share = wilson(tau, len(there), confidence)
    return Bounds(
        low=quantile_beyond(there, share.low),
        high=quantile_beyond(there, share.high),
        method="Woodruff",
    )


def quantile_beyond(values: Array, share: float) -> float:
    """The quantile at `share`; -inf or inf where fewer than half a call lies beyond it."""
    edge = 0.5 / len(values)
    if share < edge:
        return -math.inf
    return math.inf if share > 1.0 - edge else float(np.quantile(values, share))
