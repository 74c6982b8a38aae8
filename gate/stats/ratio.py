"""A ratio of two means over the same trials, such as cost per success.

A trial is a complex number, x + i y. The ratio is X / Y, where X and Y are the means of the cases'
means. A trial adds x / X - y / Y to its logarithm (linearised: Cochran 1977, Sampling Techniques,
6.3), so the tests and intervals of means apply.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gate.records import Evidence
from gate.stats import logs
from gate.stats.change import ChangeQuestion, change_in_mean, evidence_without_pairs
from gate.stats.intervals import ALL_ZERO, Bounds, mean_on_logs
from gate.stats.k_rounds import Counts
from gate.stats.pairs import Array, case_means


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioParts:
    """Numerators and denominators of trials, cases x rounds, NaN if either is missing; `weight`:
    one
    per case.
    """

    over: Array
    under: Array
    weight: Array

    @property
    def tops(self) -> float:
        return self._mean(self.over)

    @property
    def bottoms(self) -> float:
        return self._mean(self.under)

    @property
    def ratio(self) -> float:
        """The ratio; NaN without trials, or if the denominator is 0."""
        tops, bottoms = self.tops, self.bottoms
        return tops / bottoms if bottoms > 0.0 else math.nan

    def shares(self, tops: float, bottoms: float) -> Array:
        """What each trial adds to the logarithm of the ratio, near `tops` / `bottoms`."""
        return self.over / tops - self.under / bottoms

    def logarithms(self) -> Array:
        """Values whose mean is the logarithm of the ratio, with its noise."""
        return self.shares(self.tops, self.bottoms) + math.log(self.ratio)

    def _mean(self, values: Array) -> float:
        means = case_means(values)
        measured = ~np.isnan(means)
        if not measured.any():
            return math.nan
        return float(np.average(means[measured], weights=self.weight[measured]))


def split_ratio(values: Array, weight: Array | None = None) -> RatioParts:
    """Splits complex values into numerators and denominators; each case counts once, or by
    `weight`.
    """
    measured = ~np.isnan(values)
    return RatioParts(
        over=np.where(measured, np.real(values), np.nan),
        under=np.where(measured, np.imag(values), np.nan),
        weight=np.ones(len(values)) if weight is None else weight,
    )


def ratio_bounds(values: Array, confidence: float) -> Bounds | None:
    """Interval of the ratio: by the noise of the rounds or, if a case ran once, by the scatter
    between cases. None: there is no ratio.

    It is computed on logarithms. One trial's y moves the ratio by 1 / (n Y) of itself, which keeps
    rounds that all agree from proving too much. `values`: complex, cases x rounds.
    """
    sums = split_ratio(values)
    if math.isnan(sums.ratio):
        return None
    if sums.tops <= 0.0:
        return ALL_ZERO  # of nothing there are no shares
    step = 1.0 / (sums.bottoms * float((~np.isnan(sums.over)).sum()))
    terms = sums.shares(sums.tops, sums.bottoms)
    bounds = mean_on_logs(sums.ratio, sums.over, confidence, terms=terms, step=step)
    return replace(bounds, method=f"{bounds.method}, linearised")


def change_in_ratio(baseline: Array, current: Array, question: ChangeQuestion) -> Evidence:
    """The change of the ratio: current / baseline - 1. `question`: on the scale of the ratio.

    The p-values come from the shuffle test of x / X - y / Y around the ratio of both runs together,
    which shuffling does not change. Bounds and sizes come from each run's own ratio.
    """
    known_b, known_c = ((~np.isnan(arm)).sum(axis=1) for arm in (baseline, current))
    both = (known_b > 0) & (known_c > 0)
    if not both.any():
        return evidence_without_pairs()
    baseline, current, weight = baseline[both], current[both], _weight(known_b[both], known_c[both])
    was, now = split_ratio(baseline, weight), split_ratio(current, weight)
    together = split_ratio(np.hstack([baseline, current]), weight)
    change = _change(was, now, together, question)
    return replace(change, baseline=was.ratio, current=now.ratio)


def _change(
    was: RatioParts, now: RatioParts, together: RatioParts, question: ChangeQuestion
) -> Evidence:
    if together.tops == 0.0:  # the numerator is 0 in both
        return change_in_mean(was.over, now.over, question)
    if why := _no_ratio(was, "the baseline") or _no_ratio(now, "this run"):
        return replace(evidence_without_pairs(), n_paired=len(was.weight), too_few=why)
    on_logs = replace(
        logs.to_log_tolerance(question, together.ratio),
        span=1.0 / together.bottoms,
        limited=False,
        drift=question.drift / together.ratio**2,
    )
    change = change_in_mean(was.logarithms(), now.logarithms(), on_logs)
    around = together.tops, together.bottoms
    test = change_in_mean(was.shares(*around), now.shares(*around), on_logs)
    return replace(
        logs.from_logs(change, question),
        p_worse=test.p_worse,
        p_better=test.p_better,
        p_doubt=test.p_doubt,
        method=f"{test.method}, linearised",
    )


def _weight(b: Counts, c: Counts) -> Array:
    return b * c / (b + c)


def _no_ratio(arm: RatioParts, run: str) -> str:
    if arm.bottoms <= 0.0:
        return f"the denominator is 0 in {run}"
    return "" if arm.tops > 0.0 else f"the numerator is 0 in {run}"
