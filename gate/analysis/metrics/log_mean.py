"""Mean of positive, skewed values (latency, tokens, cost), compared by their logarithms."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gate.plugins import METRICS, Array, Interval
from gate.records import Evidence, MetricSpec, Tolerance
from gate.stats import logs
from gate.stats.change import ChangeQuestion, change_in_mean
from gate.stats.intervals import mean_of_these_cases, mean_on_logs, mean_over_cases
from gate.stats.pairs import case_means


@METRICS.register("log_mean")
@dataclass(frozen=True, slots=True, kw_only=True)
class LogMean:
    """The value is the arithmetic mean; the change is the ratio of the geometric means, which one
    slow answer does not decide. Beside it stand the arithmetic means, as everywhere else.
    """

    def reduce(self, values: Array) -> float:
        means = self.per_case(values)
        means = means[~np.isnan(means)]
        return float(means.mean()) if means.size else math.nan

    def per_case(self, values: Array) -> Array:
        return case_means(values)

    def interval(self, values: Array, spec: MetricSpec, *, confidence: float) -> Interval | None:
        n = int((~np.isnan(values)).sum())
        if n == 0:
            return None
        value = self.reduce(values)
        if np.nanmin(values) < 0.0:  # no amounts, so no logarithms
            bounds = mean_of_these_cases(values, confidence, None)
            bounds = bounds or mean_over_cases(values, confidence, None)
        else:
            bounds = mean_on_logs(value, values, confidence)
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
        question = ChangeQuestion(direction=spec.direction, tolerance=tolerance, drift=drift)
        shift = _shift(baseline, current)
        if math.isnan(shift):
            return change_in_mean(baseline, current, question)
        logs_b, logs_c = np.log(baseline + shift), np.log(current + shift)
        middle = math.exp(np.nanmean(case_means(logs_b)))
        if drift:
            mean = float(np.nanmean(case_means(baseline))) + shift
            question = replace(question, drift=drift / mean**2)
        on_logs = logs.to_log_tolerance(question, middle)
        change = logs.from_logs(change_in_mean(logs_b, logs_c, on_logs), question)
        return _beside_means(change, baseline, current)


def _shift(baseline: Array, current: Array) -> float:
    """What to add before taking logarithms: nothing, or 1 % of the median where there are zeros;
    NaN where logarithms make no sense.
    """
    pooled = np.concatenate([baseline.ravel(), current.ravel()])
    pooled = pooled[~np.isnan(pooled)]
    if not pooled.size or pooled.min() < 0.0 or pooled.max() == 0.0:
        return math.nan
    if pooled.min() > 0.0:
        return 0.0
    return 0.01 * (float(np.median(pooled)) or float(pooled.mean()))


def _beside_means(change: Evidence, baseline: Array, current: Array) -> Evidence:
    """The arithmetic means of the paired cases, weighted as the change is."""
    arms = (baseline, current)
    rounds_b, rounds_c = ((~np.isnan(values)).sum(axis=1) for values in arms)
    both = (rounds_b > 0) & (rounds_c > 0)
    if not both.any():
        return change
    b, c = rounds_b[both], rounds_c[both]
    weight = b * c / (b + c)
    sums = (np.nansum(values[both], axis=1) for values in arms)
    before, now = (
        float(np.average(total / n, weights=weight)) for total, n in zip(sums, (b, c), strict=True)
    )
    return replace(change, baseline=before, current=now)
