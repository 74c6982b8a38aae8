"""A change between two arms: the difference, its bounds and p-values, and what could be seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gate.records import Direction, Tolerance
from gate.stats.distributions import t_quantile
from gate.stats.pairs import Array, Pairs, pair
from gate.stats.power import detectable
from gate.stats.shuffle import Shuffled, shuffle_test, smallest_p


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked about a change. `tolerance`: relative to the baseline's mean, or on the scale
    of the values.
    """

    direction: Direction  # which one is better
    tolerance: Tolerance
    alpha: float  # one-sided, of each bound
    power: float
    tests: int = 1  # that share alpha: the detectable change is one at alpha / tests
    span: float | None = None  # width of the values' scale; None: unbounded


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The fields of plugins.Evidence, on the scale of the values unless `relative`."""

    baseline: float
    current: float
    delta: float
    low: float
    high: float
    p_worse: float
    p_better: float
    mde: float  # a size: positive
    n_paired: int
    method: str
    relative: bool = False
    too_few: str = ""

    def times(self, factor: float, *, relative: bool) -> Change:
        """Everything that is a difference, multiplied."""
        return replace(
            self,
            delta=self.delta * factor,
            low=self.low * factor,
            high=self.high * factor,
            mde=self.mde * factor,
            relative=relative,
        )

    def mapped(self, f: Callable[[float], float], direction: Direction) -> Change:
        """Every difference on another scale: `f` is increasing with f(0) = 0."""
        mde = abs(f(-self.mde) if direction == "higher" else f(self.mde))
        return replace(
            self,
            delta=f(self.delta),
            low=f(self.low),
            high=f(self.high),
            mde=mde if math.isfinite(self.mde) else math.inf,
        )


def change_in_mean(baseline: Array, current: Array, question: Question) -> Change:
    """Difference of the cases' means; cases x rounds, rows are the same cases, NaN is missing.

    Bounds: delta +- z sqrt(V + (z q)^2), q = what one call can move the mean by. Unbounded values
    have no q; scores take Student's t for z.
    """
    pairs = pair(baseline, current)
    if not pairs.cases:
        return no_pairs()
    test = shuffle_test(pairs)
    mean_b = float(np.average(pairs.mean_b, weights=pairs.weight))
    p_worse, p_better = test.p_down, test.p_up
    if question.direction == "lower":
        p_worse, p_better = p_better, p_worse
    quantum = (question.span or 0.0) / float(pairs.rounds_c.sum())
    half = _half_width(test, quantum, question.alpha)
    limit = math.inf if question.span is None else question.span
    change = Change(
        baseline=mean_b,
        current=float(np.average(pairs.mean_c, weights=pairs.weight)),
        delta=test.delta,
        low=max(-limit, test.delta - half),
        high=min(limit, test.delta + half),
        p_worse=p_worse,
        p_better=p_better,
        mde=_detectable(pairs, test, quantum, question, abs(mean_b)),
        n_paired=pairs.cases,
        method=test.method,
    )
    if question.tolerance.relative and mean_b != 0.0:  # the baseline's mean is taken as known
        return change.times(1.0 / abs(mean_b), relative=True)
    return change


def _half_width(test: Shuffled, quantum: float, alpha: float) -> float:
    z = t_quantile(1.0 - alpha, test.df)
    return z * math.sqrt(max(test.se, test.se_guard) ** 2 + (z * quantum) ** 2)


def _detectable(
    pairs: Pairs, test: Shuffled, quantum: float, question: Question, baseline: float
) -> float:
    alpha = question.alpha / question.tests
    if smallest_p(pairs) > alpha:
        return math.inf
    return detectable(
        se=max(test.se, test.se_guard),
        quantum=quantum,
        alpha=alpha,
        power=question.power,
        tolerance=question.tolerance.value * (baseline if question.tolerance.relative else 1.0),
    )


def no_pairs() -> Change:
    """Nothing to compare: everything is unknown."""
    nan = math.nan
    return Change(
        baseline=nan,
        current=nan,
        delta=nan,
        low=-math.inf,
        high=math.inf,
        p_worse=1.0,
        p_better=1.0,
        mde=math.inf,
        n_paired=0,
        method="",
        too_few="no case has a value in both runs",
    )
