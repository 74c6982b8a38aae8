"""Agreement beyond chance: weighted kappa of two raters, Krippendorff's alpha of any number.

Both are 1 - (disagreement seen) / (disagreement by chance). The interval comes from leaving out one
case at a time (jackknife), so that answers of one case may depend on each other, nothing is drawn
and the same labels always give the same bytes. Bootstrap percentiles are no cure for few cases:
they miss a kappa of 0.98 in every second sample of ten (docs/statistics.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gate.stats.distributions import t_quantile
from gate.stats.strata import (
    Array,
    Codes,
    effective_size,
    jackknife_variance,
    number_strata,
    sum_without_one,
)

MIN_CASES = 5
CONFIDENCE = 0.95
Weights = Literal["linear", "quadratic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementEstimate:
    """Agreement over `n` cases; NaN where it cannot be told, for `reason`."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Where the rated answers come from, a number each: their case, the stratum that it was drawn
    from, and the weight that makes up for unequal chances to be drawn.
    """

    cases: Codes
    strata: Codes
    weights: Array

    @classmethod
    def simple(cls, answers: int) -> Design:
        """One answer a case, all drawn with the same chance."""
        return cls(
            cases=np.arange(answers),
            strata=np.zeros(answers, dtype=np.int64),
            weights=np.ones(answers),
        )

    def select(self, answers: Codes) -> Design:
        return Design(
            cases=self.cases[answers], strata=self.strata[answers], weights=self.weights[answers]
        )


def weighted_kappa(
    first: Array,
    second: Array,
    *,
    weights: Weights = "quadratic",
    design: Design | None = None,
) -> AgreementEstimate:
    """Cohen's weighted kappa (1968) of two ratings of each answer, by the distance of the values
    themselves: on a scale of whole numbers that of the categories, and a median of 3.5 has its
    place. `first`, `second`: one value an answer, finite.
    """
    design = design or Design.simple(len(first))
    cases = len(np.unique(design.cases))
    if cases < MIN_CASES:
        return AgreementEstimate(n=cases, reason=_too_few_reason(cases))
    if len(np.unique(first)) < 2 or len(np.unique(second)) < 2:
        return AgreementEstimate(n=cases, reason=_ALIKE)
    values = np.unique(np.concatenate([first, second]))
    distance = np.abs(values[:, None] - values[None, :]) ** _POWER[weights]
    mass = design.weights / design.weights.mean()
    at, to = np.searchsorted(values, first), np.searchsorted(values, second)
    sums = _Sums(
        seen=mass * distance[at, to],
        first=mass[:, None] * np.eye(len(values))[at],
        second=mass[:, None] * np.eye(len(values))[to],
        distance=distance,
        with_itself=True,
    )
    return _with_interval(sums, design)


def krippendorff_alpha(ratings: Array, *, design: Design | None = None) -> AgreementEstimate:
    """Krippendorff's ordinal alpha (2011, Computing Krippendorff's Alpha-Reliability).

    `ratings`: raters x answers, NaN where a rater said nothing; answers with a single rating do not
    count. The distance of two values is that of their mean ranks.
    """
    given = ~np.isnan(ratings)
    paired = np.flatnonzero(given.sum(axis=0) >= 2)
    design = (design or Design.simple(ratings.shape[1])).select(paired)
    cases = len(np.unique(design.cases))
    if ratings.shape[0] < 2 or cases == 0:
        return AgreementEstimate(n=cases, reason="no answer was rated by two")
    if cases < MIN_CASES:
        return AgreementEstimate(n=cases, reason=_too_few_reason(cases, by_two=True))
    values = np.unique(ratings[:, paired][given[:, paired]])
    if len(values) < 2:
        return AgreementEstimate(n=cases, reason=_ALIKE)
    counts = np.stack([(ratings[:, paired] == value).sum(axis=0) for value in values], axis=1)
    distance = _ordinal_distance(counts.sum(axis=0))
    mass = design.weights / design.weights.mean()
    pairs = np.einsum("uk,kl,ul->u", counts, distance, counts) / (counts.sum(axis=1) - 1)
    spread = mass[:, None] * counts
    sums = _Sums(
        seen=mass * pairs, first=spread, second=spread, distance=distance, with_itself=False
    )
    return _with_interval(sums, design)


_POWER = {"linear": 1, "quadratic": 2}
_ALIKE = "all ratings are alike, so that agreement cannot be told from chance"


def _too_few_reason(cases: int, *, by_two: bool = False) -> str:
    rated = "rated by two" if by_two else "rated"
    return f"{cases} of the {MIN_CASES} cases that it takes are {rated}"


def _ordinal_distance(counts: Codes) -> Array:
    ranks = np.cumsum(counts) - counts / 2.0  # up to a constant, the mean rank of each value
    return np.asarray((ranks[:, None] - ranks[None, :]) ** 2, dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums:
    """What each answer, or each case, adds: the disagreement seen (n), its ratings by value
    (n x values) in the one role and the other. `with_itself`: by chance a rating may meet itself.
    """

    seen: Array
    first: Array
    second: Array
    distance: Array
    with_itself: bool

    def apply(self, change: Callable[[Array], Array]) -> _Sums:
        """The same with each of the arrays changed."""
        return replace(
            self, seen=change(self.seen), first=change(self.first), second=change(self.second)
        )

    def ratio(self) -> Array:
        """Disagreement seen over that by chance of each row; 1 where chance has none."""
        total = self.first.sum(axis=1)
        by_chance = np.einsum("rk,kl,rl->r", self.first, self.distance, self.second)
        by_chance /= total * (total if self.with_itself else total - 1.0)
        there = by_chance > 0.0
        return np.where(there, self.seen / total / np.where(there, by_chance, 1.0), 1.0)


def _with_interval(sums: _Sums, design: Design) -> AgreementEstimate:
    """Below on the logarithm of the ratio, since it is skewed; above on the ratio itself. One more
    case that agrees as by chance is reckoned with: cases that all agree do not prove that all do.
    """
    _, first, at = np.unique(design.cases, return_index=True, return_inverse=True)
    n = len(first)
    strata = number_strata(design.strata[first])
    cases = sums.apply(lambda values: _sum_by_group(values, at, n))
    ratio = float(cases.apply(lambda values: values.sum(axis=0, keepdims=True)).ratio()[0])
    left_out = cases.apply(lambda values: sum_without_one(values, strata)).ratio()
    error = math.sqrt(jackknife_variance(left_out, strata))
    t = t_quantile(0.5 + CONFIDENCE / 2.0, n - len(np.unique(strata)))
    step = 1.0 / effective_size(cases.first.sum(axis=1))
    high = 1.0 - ratio + t * math.hypot(error, t * step)
    low = 1.0 - (ratio + step) * math.exp(min(50.0, t * error / (ratio + step)))
    return AgreementEstimate(value=1.0 - ratio, low=max(-1.0, low), high=min(1.0, high), n=n)


def _sum_by_group(values: Array, at: Codes, groups: int) -> Array:
    total = np.zeros((groups, *values.shape[1:]))
    np.add.at(total, at, values)
    return total
