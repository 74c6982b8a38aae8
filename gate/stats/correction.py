"""A judge's mean corrected by people's labels: prediction-powered inference.

Angelopoulos et al. 2023 (Science 382) and PPI++ (2023, arXiv 2311.01453), here for labels drawn in
strata: mean over the run of lambda x judge, plus the labels' mean of human - lambda x judge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gate.stats.agreement import MIN_CASES, Design
from gate.stats.distributions import t_quantile
from gate.stats.strata import Array, Codes, covariance_of_totals, effective_size, number_strata


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedMean:
    """The corrected mean. If it cannot be computed, it is NaN and `reason` says why. `power`:
    lambda, how much of the judge is used; 0 is the labels alone.
    """

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    power: float = 0.0
    n: int = 0  # labelled cases
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledCases:
    """One entry per labelled case, averaged over its answers and reviewers: people's rating, the
    judge's rating, the case's stratum and weight. `step`: the smallest difference of two ratings.
    """

    human: Array
    judge: Array
    strata: Codes
    weights: Array
    step: float


def average_by_case(human: Array, judge: Array, design: Design, *, step: float) -> LabelledCases:
    """The ratings averaged over the answers of each case, by their weights. `human`, `judge`: one
    value per answer.
    """
    _, first, at = np.unique(design.cases, return_index=True, return_inverse=True)
    weight = np.bincount(at, design.weights)
    mean = [np.bincount(at, design.weights * values) / weight for values in (human, judge)]
    return LabelledCases(
        human=mean[0],
        judge=mean[1],
        strata=design.strata[first],
        weights=weight / np.bincount(at),
        step=step,
    )


def correct_mean(
    run_mean: float, run_variance: float, labelled: LabelledCases, *, confidence: float = 0.95
) -> CorrectedMean:
    """The mean that people would have given the run, with its interval.

    `run_mean`: the judge's mean over the run; `run_variance`: its variance. lambda has the least
    variance, cut to 0 and 1; with `run_variance` = Var(judge) / N and a simple sample it is that of
    PPI++, Cov / (Var (1 + n / N)). The labels may be of other answers than the run's. lambda < 1
    then hides a part of the difference between them, so the square of this part counts as variance,
    too. The mean of the labels is sum(weight x value) / sum(weight).
    """
    n = len(labelled.human)
    if n < MIN_CASES:
        return CorrectedMean(n=n, reason=f"needs {MIN_CASES} labelled cases, has {n}")
    strata = number_strata(labelled.strata)
    share = labelled.weights / labelled.weights.sum()
    human, judge = float(share @ labelled.human), float(share @ labelled.judge)
    people, opinion = share * (labelled.human - human), share * (labelled.judge - judge)
    both = covariance_of_totals(people, opinion, strata)
    judged = covariance_of_totals(opinion, opinion, strata) + run_variance
    shift = (run_mean - judge) ** 2
    most = judged + shift
    power = min(1.0, max(0.0, (both + shift) / most)) if most > 0.0 else 1.0
    alone = covariance_of_totals(people, people, strata)
    variance = max(0.0, alone - 2.0 * power * both + power**2 * judged)
    variance += (1.0 - power) ** 2 * shift
    t = t_quantile(0.5 + confidence / 2.0, n - len(np.unique(strata)))
    half = t * math.hypot(math.sqrt(variance), t * labelled.step / effective_size(labelled.weights))
    value = power * run_mean + human - power * judge
    return CorrectedMean(value=value, low=value - half, high=value + half, power=power, n=n)


def mean_difference(labelled: LabelledCases) -> CorrectedMean:
    """The mean of judge - human over the labelled cases, with its interval."""
    turned = LabelledCases(
        human=labelled.judge - labelled.human,
        judge=np.zeros_like(labelled.judge),
        strata=labelled.strata,
        weights=labelled.weights,
        step=labelled.step,
    )
    return correct_mean(0.0, 0.0, turned)
