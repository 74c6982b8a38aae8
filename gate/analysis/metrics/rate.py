"""Share of trials, as the mean of the cases' shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gate.plugins import METRICS, Array, Interval
from gate.records import Evidence, MetricSpec, Tolerance
from gate.stats.change import ChangeQuestion, change_in_mean
from gate.stats.intervals import mean_of_these_cases, share_of_single_calls
from gate.stats.pairs import case_means


@METRICS.register("rate")
@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """The share of pass/fail and other values from 0 to 1; Clopper-Pearson's interval where cases
    ran only once."""

    def reduce(self, values: Array) -> float:
        means = self.per_case(values)
        means = means[~np.isnan(means)]
        return float(means.mean()) if means.size else float("nan")

    def per_case(self, values: Array) -> Array:
        return case_means(values)

    def interval(self, values: Array, spec: MetricSpec, *, confidence: float) -> Interval | None:
        n = int((~np.isnan(values)).sum())
        if n == 0:
            return None
        bounds = mean_of_these_cases(values, confidence, 1.0)
        bounds = (bounds or share_of_single_calls(values, confidence)).within(0.0, 1.0)
        value = self.reduce(values)
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
        question = ChangeQuestion(
            direction=spec.direction,
            tolerance=tolerance,
            span=1.0,
            drift=drift,
            worst=0.0 if spec.direction == "higher" else 1.0,
        )
        return change_in_mean(baseline, current, question)
