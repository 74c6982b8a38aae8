"""The largest value of all calls."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gate.plugins import METRICS, Array, Interval
from gate.records import Evidence, MetricSpec, Tolerance


@METRICS.register("max")
@dataclass(frozen=True, slots=True, kw_only=True)
class Max:
    """A fact about this run, without noise of its own; a change in it proves little: the largest of
    all calls lies in the current run by chance as often as that run has a share of the calls.
    """

    def reduce(self, values: Array) -> float:
        there = values[~np.isnan(values)]
        return float(there.max()) if there.size else math.nan

    def per_case(self, values: Array) -> Array:
        largest = np.where(np.isnan(values), -np.inf, values).max(axis=1, initial=-np.inf)
        return np.where(np.isneginf(largest), np.nan, largest)

    def interval(self, values: Array, spec: MetricSpec, *, confidence: float) -> Interval | None:
        value = self.reduce(values)
        if math.isnan(value):
            return None
        n = int((~np.isnan(values)).sum())
        return Interval(value=value, low=value, high=value, n=n, method="observed")

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
        was, now = self.reduce(baseline[both]), self.reduce(current[both])
        relative = tolerance.relative and was > 0.0
        better, worse = self._chances(baseline[both], current[both])
        if spec.direction == "lower":
            better, worse = worse, better
        return Evidence(
            baseline=was,
            current=now,
            delta=(now - was) / (was if relative else 1.0),
            relative=relative,
            se=math.inf,
            p_worse=worse,
            p_better=better,
            p_doubt=worse,
            bounds=lambda _: (-math.inf, math.inf),
            detectable=lambda _: math.inf,
            size=lambda _: math.inf,
            n_paired=int(both.sum()),
            method="where the largest call falls under shuffling",
            too_few="" if both.any() else "no case has a value in both runs",
        )

    def _chances(self, baseline: Array, current: Array) -> tuple[float, float]:
        """Chances that shuffling puts the case of the largest call where it is: (current has it,
        current lacks it).
        """
        largest_b, largest_c = self.per_case(baseline), self.per_case(current)
        if not largest_b.size:
            return 1.0, 1.0
        row = int(np.argmax(np.fmax(largest_b, largest_c)))
        if largest_b[row] == largest_c[row]:
            return 1.0, 1.0
        calls_b = float((~np.isnan(baseline[row])).sum())
        calls_c = float((~np.isnan(current[row])).sum())
        share = calls_c / (calls_b + calls_c)
        return (share, 1.0) if largest_c[row] > largest_b[row] else (1.0, 1.0 - share)
