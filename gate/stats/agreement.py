"""Agreement beyond chance: weighted kappa of two raters, Krippendorff's alpha of any number.

Both are 1 - (disagreement seen) / (disagreement by chance). The interval comes from leaving out one
case at a time (jackknife). So answers of one case may depend on each other, and nothing is drawn at
random: the same labels always give the same bytes. Bootstrap percentiles do not work for few cases.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gate.stats.distributions import gamma_quantile, normal_quantile, t_quantile
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
    """Agreement over `n` cases. If it cannot be computed, it is NaN and `reason` says why."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How the rated answers were sampled, one entry per answer: the number of its case, the number
    of the stratum that the case was drawn from, and a weight for unequal chances to be drawn.
    """

    cases: Codes
    strata: Codes
    weights: Array

    @classmethod
    def simple(cls, answers: int) -> Design:
        """One answer per case, all drawn with the same chance."""
        return cls(
            cases=np.arange(answers),
            strata=np.zeros(answers, dtype=np.int64),
            weights=np.ones(answers),
        )

    def select(self, answers: Codes) -> Design:
        """The design of the answers with these positions only."""
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
    """Cohen's weighted kappa (1968) of two raters.

    `first`, `second`: one finite rating per answer; they need not be whole numbers. The distance of
    two ratings is their difference, or its square (`weights`).
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

    `ratings`: raters x answers, NaN where a rater gave none. Answers with a single rating do not
    count. The distance of two ratings is that of their mean ranks.
    """
    given = ~np.isnan(ratings)
    paired = np.flatnonzero(given.sum(axis=0) >= 2)
    design = (design or Design.simple(ratings.shape[1])).select(paired)
    cases = len(np.unique(design.cases))
    if ratings.shape[0] < 2 or cases == 0:
        return AgreementEstimate(n=cases, reason="no answer has two ratings")
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
_ALIKE = "all ratings are equal, so agreement cannot be told from chance"


def _too_few_reason(cases: int, *, by_two: bool = False) -> str:
    rated = "cases with two ratings" if by_two else "rated cases"
    return f"needs {MIN_CASES} {rated}, has {cases}"


def _ordinal_distance(counts: Codes) -> Array:
    ranks = np.cumsum(counts) - counts / 2.0  # up to a constant, the mean rank of each value
    return np.asarray((ranks[:, None] - ranks[None, :]) ** 2, dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sums:
    """What each answer, or each case, adds: `seen`, its disagreement (n); `first` and `second`, how
    often each side gave each value (n x values). `with_itself`: a rating may be paired with itself
    in the agreement by chance.
    """

    seen: Array
    first: Array
    second: Array
    distance: Array
    with_itself: bool

    def apply(self, change: Callable[[Array], Array]) -> _Sums:
        """The same sums with `change` applied to each array."""
        return replace(
            self, seen=change(self.seen), first=change(self.first), second=change(self.second)
        )

    def ratio(self) -> Array:
        """Disagreement seen / disagreement by chance, for each row; 1 where chance gives none."""
        total = self.first.sum(axis=1)
        by_chance = np.einsum("rk,kl,rl->r", self.first, self.distance, self.second)
        by_chance /= total * (total if self.with_itself else total - 1.0)
        there = by_chance > 0.0
        return np.where(there, self.seen / total / np.where(there, by_chance, 1.0), 1.0)

    def share_that_differs(self) -> float:
        """The share of ratings that would differ by chance, over all rows."""
        first, second = self.first.sum(axis=0), self.second.sum(axis=0)
        chances = np.outer(first / first.sum(), second / second.sum())
        return float(chances[self.distance > 0.0].sum())


def _with_interval(sums: _Sums, design: Design) -> AgreementEstimate:
    """The estimate with its interval.

    Disagreements are few and each counts a lot: ten cases that all agree do not prove that three
    of ten do not differ. So both bounds count one more case that differs as those do that differ by
    chance. The lower bound takes the sum as one of weighted Poisson counts (Fay and Feuer 1997),
    the upper one is Student's.
    """
    _, first, at = np.unique(design.cases, return_index=True, return_inverse=True)
    n = len(first)
    strata = number_strata(design.strata[first])
    cases = sums.apply(lambda values: _sum_by_group(values, at, n))
    whole = cases.apply(lambda values: values.sum(axis=0, keepdims=True))
    ratio = float(whole.ratio()[0])
    left_out = cases.apply(lambda values: sum_without_one(values, strata)).ratio()
    error = math.sqrt(jackknife_variance(left_out, strata))
    t = t_quantile(0.5 + CONFIDENCE / 2.0, n - len(np.unique(strata)))
    step = 1.0 / effective_size(cases.first.sum(axis=1))
    one_more = step / whole.share_that_differs()
    high = 1.0 - ratio + t * math.hypot(error, t * one_more)
    error *= t / normal_quantile(0.5 + CONFIDENCE / 2.0)
    low = 1.0 - _most_disagreement(ratio, error, one_more)
    return AgreementEstimate(value=1.0 - ratio, low=max(-1.0, low), high=min(1.0, high), n=n)


def _most_disagreement(ratio: float, error: float, one_more: float) -> float:
    """Upper bound of a sum of weighted Poisson counts: a gamma quantile with the mean and variance
    that the sum has with `one_more` (Fay and Feuer 1997).
    """
    mean, variance = ratio + one_more, error**2 + one_more**2
    return variance / mean * gamma_quantile(0.5 + CONFIDENCE / 2.0, mean**2 / variance)


def _sum_by_group(values: Array, at: Codes, groups: int) -> Array:
    total = np.zeros((groups, *values.shape[1:]))
    np.add.at(total, at, values)
    return total
