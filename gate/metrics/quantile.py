"""A quantile of all calls, such as the p95 of the latency."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from gate.plugins import METRICS, Array, Evidence, Interval
from gate.records import Direction, MetricSpec, Tolerance
from gate.stats.change import Change, Question, change_in_mean, no_pairs
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
        bounds = quantile_bounds(values, self.q, confidence).within(spec.low, spec.high)
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
        alpha: float,
        power: float,
        tests: int = 1,
    ) -> Evidence:
        both = ~(np.isnan(baseline).all(axis=1) | np.isnan(current).all(axis=1))
        baseline, current = baseline[both], current[both]
        if not both.any():
            return Evidence(**asdict(no_pairs()))
        split = quantile(np.concatenate([baseline.ravel(), current.ravel()]), self.q)
        more_below: Direction = "higher" if spec.direction == "lower" else "lower"
        question = Question(
            direction=more_below,
            tolerance=Tolerance(value=0.0),
            alpha=alpha,
            power=power,
            tests=tests,
            span=1.0,
        )
        shares = change_in_mean(_below(baseline, split), _below(current, split), question)
        change = self._of_values(shares, baseline, current, spec.direction)
        return Evidence(**asdict(_scaled(change, tolerance)))

    def _of_values(
        self, shares: Change, baseline: Array, current: Array, direction: Direction
    ) -> Change:
        """From shares below the split to values: read off the current run's calls (Woodruff)."""
        half = max(shares.high - shares.delta, shares.delta - shares.low)
        there = current[~np.isnan(current)]
        was, now = quantile(baseline, self.q), quantile(current, self.q)
        if direction == "lower":
            seen = now - quantile_beyond(there, self.q - shares.mde)
        else:
            seen = quantile_beyond(there, self.q + shares.mde) - now
        return replace(
            shares,
            baseline=was,
            current=now,
            delta=now - was,
            low=quantile_beyond(there, self.q - half) - was,
            high=quantile_beyond(there, self.q + half) - was,
            mde=seen,
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
    return np.where(np.isnan(values), np.nan, (values <= split).astype(np.float64))


def _scaled(change: Change, tolerance: Tolerance) -> Change:
    """Relative when the tolerance is; the tolerance is the least that can be flagged."""
    if tolerance.relative and change.baseline > 0.0:
        change = change.times(1.0 / change.baseline, relative=True)
    return replace(change, mde=max(change.mde, tolerance.value))
