"""Standard deviation of all calls, or of the rounds of a case."""

from __future__ import annotations

import math
from collections.abc import Callable
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
from gate.stats.intervals import around_on_logs, scatter_of_cases, width_of_one_call
from gate.stats.logs import expm1
from gate.stats.pairs import case_means, case_variances


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
        squares = case_means(self._squares(values))
        squares = squares[~np.isnan(squares)]
        noise = scatter_of_cases(squares) / (2.0 * float(squares.mean()) or 1.0) ** 2
        most_df, method = len(squares) - 1.0, "between cases"
        bounds = around_on_logs(
            value, noise, confidence, most_df=most_df, freedom=1.0, method=method
        )
        n = int((~np.isnan(values)).sum())
        if spec.low is not None and spec.high is not None:
            unseen = width_of_one_call(spec.high - spec.low, n, confidence)
            bounds = replace(bounds, high=math.hypot(bounds.high, unseen))
        bounds = bounds.within(spec.low, spec.high)
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
        arms = self._squares(baseline), self._squares(current)
        squares = change_in_mean(*arms, question)
        if not squares.n_paired:
            return squares
        was, now = squares.baseline, squares.current
        if self.within == "run" or was <= 0.0 or now <= 0.0:
            return _roots(squares, _root_of_sum(was), spec, tolerance)
        on_logs = change_in_mean(
            arms[0] / was + math.log(was), arms[1] / now + math.log(now), question
        )
        change = replace(
            on_logs,
            baseline=was,
            current=now,
            p_worse=squares.p_worse,
            p_better=squares.p_better,
            p_doubt=squares.p_doubt,
        )
        return _roots(change, _root_of_log(was), spec, tolerance)

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


def _root_of_sum(before: float) -> Callable[[float], float]:
    """From a change of variances to one of standard deviations."""
    return lambda moved: math.sqrt(max(0.0, before + moved)) - math.sqrt(before)


def _root_of_log(before: float) -> Callable[[float], float]:
    """From a change of the variances' logarithm to one of standard deviations. Of two or three
    rounds most variances are 0 and a few are large, so their bounds are computed on logarithms.
    """
    return lambda moved: math.sqrt(before) * expm1(moved / 2.0)


def _roots(
    moved: Evidence, root: Callable[[float], float], spec: MetricSpec, tolerance: Tolerance
) -> Evidence:
    """From variances to standard deviations, relative when the tolerance is."""
    change = replace(
        transform_change(moved, root, spec.direction),
        baseline=math.sqrt(moved.baseline),
        current=math.sqrt(moved.current),
        method=f"{moved.method} of squared deviations",
    )
    if tolerance.relative and change.baseline > 0.0:
        change = scale_change(change, 1.0 / change.baseline, relative=True)
    return require_tolerance(change, tolerance.value)
