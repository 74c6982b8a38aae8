"""Mean over the cases of each case's mean over its rounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gate.plugins import METRICS, Array, Interval
from gate.records import Evidence, MetricSpec, Tolerance
from gate.stats.change import ChangeQuestion, change_in_mean
from gate.stats.intervals import mean_of_these_cases, mean_over_cases
from gate.stats.pairs import case_means


@METRICS.register("mean")
@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """For scores, counts and steps. `scale` multiplies every value (100: per hundred trials)."""

    scale: float = 1.0

    def reduce(self, values: Array) -> float:
        means = self.per_case(values)
        means = means[~np.isnan(means)]
        return float(means.mean()) if means.size else float("nan")

    def per_case(self, values: Array) -> Array:
        return case_means(values) * self.scale

    def interval(self, values: Array, spec: MetricSpec, *, confidence: float) -> Interval | None:
        n = int((~np.isnan(values)).sum())
        if n == 0:
            return None
        span = _span(spec)
        count = self.scale if span is None and _are_counts(values) else 0.0
        scaled = values * self.scale
        bounds = mean_of_these_cases(scaled, confidence, span, count=count)
        bounds = (bounds or mean_over_cases(scaled, confidence, span, count=count)).within(
            spec.low, spec.high
        )
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
        question = ChangeQuestion(
            direction=spec.direction,
            tolerance=tolerance,
            span=_span(spec),
            drift=drift,
            worst=spec.low if spec.direction == "higher" else spec.high,
        )
        return change_in_mean(baseline * self.scale, current * self.scale, question)


def _span(spec: MetricSpec) -> float | None:
    return None if spec.low is None or spec.high is None else spec.high - spec.low


def _are_counts(values: Array) -> bool:
    """Whether something is counted, such as steps or violations."""
    there = values[~np.isnan(values)]
    return bool(np.array_equal(there, np.rint(there)))
