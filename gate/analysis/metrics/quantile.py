"""A quantile of all calls, such as the p95 of the latency."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gate.plugins import METRICS, Array, Interval
from gate.records import Direction, Evidence, MetricSpec, Tolerance
from gate.stats.change import (
    ChangeQuestion,
    change_in_mean,
    evidence_without_pairs,
    require_tolerance,
    scale_change,
)
from gate.stats.pairs import case_means
from gate.stats.quantiles import calls_needed, quantile, quantile_beyond, quantile_bounds


@METRICS.register("quantile")
@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """`q` between 0 and 1. Compared by the share of calls below the quantile of both runs
    together, which shuffling leaves as it is, so that the test is exact.
    """

    q: float = 0.95

    def reduce(self, values: Array) -> float:
        return quantile(values, self.q)

    def per_case(self, values: Array) -> Array:
        return case_means(values)

    def interval(self, values: Array, spec: MetricSpec, *, confidence: float) -> Interval | None:
        n = int((~np.isnan(values)).sum())
        if n == 0:
            return None
        value = self.reduce(values)  # between two calls: it may lie just beyond both bounds
        bounds = quantile_bounds(values, self.q, confidence).within(spec.low, spec.high)
        low, high = min(bounds.low, value), max(bounds.high, value)
        return Interval(value=value, low=low, high=high, n=n, method=bounds.method)

    def compare(
        self,
        baseline: Array,
        current: Array,
        spec: MetricSpec,
        *,
        tolerance: Tolerance,
        drift: float = 0.0,
    ) -> Evidence:
        both = ~(np.isnan(baseline).all(axis=1) | np.isnan(current).all(axis=1))
        if not both.any():
            return evidence_without_pairs()
        if not both.all():
            baseline, current = baseline[both], current[both]
        split = quantile(np.concatenate([baseline.ravel(), current.ravel()]), self.q)
        more_below: Direction = "higher" if spec.direction == "lower" else "lower"
        worst = 0.0 if more_below == "higher" else 1.0
        question = ChangeQuestion(direction=more_below, span=1.0, worst=worst)
        shares = change_in_mean(_below(baseline, split), _below(current, split), question)
        change = self._to_values(shares, baseline, current, spec.direction)
        if tolerance.relative and change.baseline > 0.0:
            change = scale_change(change, 1.0 / change.baseline, relative=True)
        return require_tolerance(change, tolerance.value)

    def _to_values(
        self, shares: Evidence, baseline: Array, current: Array, direction: Direction
    ) -> Evidence:
        """From shares below the split to values: read off the current run's calls (Woodruff)."""
        there = current[~np.isnan(current)]
        was, now = quantile(baseline, self.q), quantile(current, self.q)

        def bounds(alpha: float) -> tuple[float, float]:
            low, high = shares.bounds(alpha)
            half = max(high - shares.delta, shares.delta - low)
            below, above = self.q - half, self.q + half
            return quantile_beyond(there, below) - was, quantile_beyond(there, above) - was

        def worse_by(share: float) -> float:
            if direction == "lower":
                return now - quantile_beyond(there, self.q - share)
            return quantile_beyond(there, self.q + share) - now

        return replace(
            shares,
            baseline=was,
            current=now,
            delta=now - was,
            se=worse_by(shares.se),
            bounds=bounds,
            room=math.inf,
            detectable=lambda sight: worse_by(shares.detectable(sight)),
            size=lambda errors: worse_by(shares.size(errors)),
            method=f"{shares.method} of calls beyond the pooled quantile",
            too_few=self._too_few(baseline, current),
        )

    def _too_few(self, baseline: Array, current: Array) -> str:
        calls = min(int((~np.isnan(values)).sum()) for values in (baseline, current))
        needed = calls_needed(self.q)
        if calls >= needed:
            return ""
        return f"{calls} of the {needed} calls that a p{100 * self.q:g} needs"


def _below(values: Array, split: float) -> Array:
    below = (values <= split).astype(np.float64)
    below[np.isnan(values)] = np.nan
    return below
