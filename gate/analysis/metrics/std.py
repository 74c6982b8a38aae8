"""Standard deviation of all calls, or of the rounds of a case."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gate.plugins import METRICS, Array, Interval
from gate.records import Evidence, MetricSpec, Tolerance
from gate.stats.change import (
    ChangeQuestion,
    change_in_mean,
    require_tolerance,
    scale_change,
    transform_change,
)
from gate.stats.intervals import bootstrap_over_cases, mean_over_cases
from gate.stats.pairs import case_variances

SEED = 20_260_101  # the same data always give the same interval


@METRICS.register("std")
@dataclass(frozen=True, slots=True, kw_only=True)
class Std:
    """Standard deviation of single calls (ddof 1).

    It is compared by the squared deviations of each run from its own mean: from a common one, a
    mean that moved would look like calls that scatter.

    `within: case` takes the rounds of a case; the value is the root of the mean of the cases'
    variances, which does not depend on how many rounds there are.
    """

    within: Literal["run", "case"] = "run"

    @property
    def needs(self) -> str:
        if self.within == "case":
            return "2 rounds of each case are needed"
        return "one value is too few"

    def reduce(self, values: Array) -> float:
        there = self._squares(values)
        there = there[~np.isnan(there)]
        return math.sqrt(float(there.mean())) if there.size else math.nan

    def per_case(self, values: Array) -> Array:
        """Within the case; NaN for a single round."""
        return np.sqrt(case_variances(values))

    def interval(self, values: Array, spec: MetricSpec, *, confidence: float) -> Interval | None:
        value = self.reduce(values)
        if math.isnan(value):
            return None
        if self.within == "case":
            squares = mean_over_cases(self._squares(values), confidence, None)
            bounds = replace(squares, low=_root(squares.low), high=_root(squares.high))
        else:
            scatter = values - _middle(values)  # sums of what is far from 0 lose the digits
            bounds = bootstrap_over_cases(scatter, _std, confidence, np.random.default_rng(SEED))
        bounds = bounds.within(spec.low, spec.high)
        n = int((~np.isnan(values)).sum())
        return Interval(value=value, low=bounds.low, high=bounds.high, n=n, method=bounds.method)

    def compare(
        self,
        baseline: Array,
        current: Array,
        spec: MetricSpec,
        *,
        tolerance: Tolerance,
        drift: float = 0.0,
    ) -> Evidence:
        question = ChangeQuestion(direction=spec.direction)
        squares = change_in_mean(self._squares(baseline), self._squares(current), question)
        return _roots(squares, spec, tolerance) if squares.n_paired else squares

    def _squares(self, values: Array) -> Array:
        """Squared deviations whose mean is the variance with ddof 1: of a case one number, the mean
        of those of its rounds, which are no independent ones.
        """
        if self.within == "case":
            return case_variances(values)[:, None]
        n = int((~np.isnan(values)).sum())
        if n < 2:
            return np.full_like(values, np.nan)
        squares: Array = (values - _middle(values)) ** 2 * (n / (n - 1))
        return squares


def _middle(values: Array) -> float:
    """The mean; of equal values that value itself, since a sum is rounded."""
    low = float(np.nanmin(values))
    return low if low == np.nanmax(values) else float(np.nanmean(values))


def _root(square: float) -> float:
    return math.sqrt(max(0.0, square))


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
        transform_change(squares, root, spec.direction),
        baseline=math.sqrt(before),
        current=math.sqrt(squares.current),
        method=f"{squares.method} of squared deviations",
    )
    if tolerance.relative and change.baseline > 0.0:
        change = scale_change(change, 1.0 / change.baseline, relative=True)
    return require_tolerance(change, tolerance.value)
