"""Standard deviation of all calls."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import default_rng

from gate.plugins import METRICS, Array, Interval
from gate.records import Evidence, MetricSpec, Tolerance
from gate.stats.change import Question, at_least, change_in_mean, mapped, scaled
from gate.stats.intervals import bootstrap_over_cases
from gate.stats.pairs import case_variances

SEED = 20_260_101  # the same data always give the same interval


@METRICS.register("std")
@dataclass(frozen=True, slots=True, kw_only=True)
class Std:
    """Of single calls, ddof 1. Compared by the squared deviations of each run from its own mean:
    from a common one, a mean that moved would look like calls that scatter.
    """

    def reduce(self, values: Array) -> float:
        there = values[~np.isnan(values)]
        return float(there.std(ddof=1)) if there.size > 1 else math.nan

    def per_case(self, values: Array) -> Array:
        """Within the case; NaN for a single round."""
        return np.sqrt(case_variances(values))

    def interval(self, values: Array, spec: MetricSpec, *, confidence: float) -> Interval | None:
        n = int((~np.isnan(values)).sum())
        if n < 2:
            return None
        bounds = bootstrap_over_cases(values, _std, confidence, default_rng(SEED))
        return Interval(
            value=self.reduce(values), low=bounds.low, high=bounds.high, n=n, method=bounds.method
        )

    def compare(
        self,
        baseline: Array,
        current: Array,
        spec: MetricSpec,
        *,
        tolerance: Tolerance,
        drift: float = 0.0,
    ) -> Evidence:
        question = Question(direction=spec.direction)
        squares = change_in_mean(_squares(baseline), _squares(current), question)
        return _roots(squares, spec, tolerance) if squares.n_paired else squares


def _squares(values: Array) -> Array:
    """Squared deviations whose mean is the variance with ddof 1."""
    n = int((~np.isnan(values)).sum())
    if n < 2:
        return np.full_like(values, np.nan)
    squares: Array = (values - np.nanmean(values)) ** 2 * (n / (n - 1))
    return squares


def _std(sums: Array) -> Array:
    """From sums of 1, x, x^2; ddof 1."""
    n, total, squares = sums.T
    variance: Array = np.maximum(squares - total**2 / n, 0.0) / np.maximum(n - 1.0, 1.0)
    return np.sqrt(variance)


def _roots(squares: Evidence, spec: MetricSpec, tolerance: Tolerance) -> Evidence:
    """From variances to standard deviations, relative when the tolerance is."""
    before = squares.baseline

    def root(difference: float) -> float:
        return math.sqrt(max(0.0, before + difference)) - math.sqrt(before)

    change = replace(
        mapped(squares, root, spec.direction),
        baseline=math.sqrt(before),
        current=math.sqrt(squares.current),
        method=f"{squares.method} of squared deviations",
    )
    if tolerance.relative and change.baseline > 0.0:
        change = scaled(change, 1.0 / change.baseline, relative=True)
    return at_least(change, tolerance.value)
