"""A change between baseline and run: difference, bounds, p-values, and the smallest that shows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gate.records import Direction, Evidence, Tolerance
from gate.stats.fall import Fall
from gate.stats.noise import ChangeNoise
from gate.stats.pairs import Array, Pairs, pair
from gate.stats.permutation_test import Shuffled, blindness, shuffle_test, smallest_p

NO_TOLERANCE = Tolerance(value=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeQuestion:
    """What is asked about a change. The tolerance is relative to the baseline's mean, or absolute
    on the scale of the values.
    """

    direction: Direction  # which one is better
    tolerance: Tolerance = NO_TOLERANCE
    span: float | None = None  # width of the values' scale; None: unbounded
    limited: bool = True  # no difference is larger than the span
    worst: float | None = None  # the worst end of the scale; None: there is none
    drift: float = 0.0  # variance of the difference beyond the noise of single calls


def change_in_mean(baseline: Array, current: Array, question: ChangeQuestion) -> Evidence:
    """The change in the mean of the cases' means, tested by shuffling each case's rounds.

    `baseline`, `current`: arrays of cases x rounds, rows are the same cases, NaN is missing. The
    bounds are delta +- z sqrt(V + (z q)^2), q = how far one call can move delta.
    """
    pairs = pair(baseline, current)
    if not pairs.cases:
        return evidence_without_pairs()
    test = shuffle_test(pairs)
    mean_b = float(np.average(pairs.mean_b, weights=pairs.weight))
    noise = _noise(pairs, test, question, mean_b)
    worse, better = (test.p_down, test.p_up), (test.p_up, test.p_down)
    doubt = test.doubt_down
    if question.direction == "lower":
        worse, better, doubt = better, worse, test.doubt_up
    change = Evidence(
        baseline=mean_b,
        current=float(np.average(pairs.mean_c, weights=pairs.weight)),
        delta=test.delta,
        relative=False,
        se=math.hypot(test.se, math.sqrt(question.drift)),
        p_worse=noise.add_drift(worse[0]),
        p_better=noise.add_drift(better[0]),
        p_doubt=noise.add_drift(doubt),
        bounds=noise.bounds,
        detectable=noise.detectable,
        size=noise.size,
        n_paired=pairs.cases,
        method=test.method,
        blind=lambda level: blindness(pairs, level),
        room=math.inf if question.worst is None else abs(mean_b - question.worst),
        all_lost=lambda level: _is_total_loss_significant(baseline, current, question, level),
    )
    if question.tolerance.relative and mean_b != 0.0:  # the baseline's mean is taken as known
        return scale_change(change, 1.0 / abs(mean_b), relative=True)
    return change


def _is_total_loss_significant(
    baseline: Array, current: Array, question: ChangeQuestion, level: float
) -> bool:
    """Whether a run in which every answer is the worst possible one would be significant."""
    if question.worst is None or question.drift:
        return False
    failed = shuffle_test(pair(baseline, np.where(np.isnan(current), np.nan, question.worst)))
    return (failed.p_down if question.direction == "higher" else failed.p_up) <= level


def _noise(pairs: Pairs, test: Shuffled, question: ChangeQuestion, baseline: float) -> ChangeNoise:
    allowed = question.tolerance
    return ChangeNoise(
        delta=test.delta,
        variance=max(test.se, test.se_guard) ** 2,
        quantum=(question.span or 0.0) / float(pairs.rounds_c.sum()),
        tolerance=allowed.value * (abs(baseline) if allowed.relative else 1.0),
        least_p=smallest_p(pairs),
        limit=math.inf if question.span is None or not question.limited else question.span,
        drift=question.drift,
        df=test.df,
        cases=pairs.cases,
        weight=test.information / pairs.cases,
        rounds_b=float(pairs.rounds_b.mean()),
        fall=_fall(pairs, question),
    )


def _fall(pairs: Pairs, question: ChangeQuestion) -> Fall | None:
    """How far the values can fall, from the baseline's means; the noise is subtracted from their
    squares.
    """
    if question.worst is None or question.span is None:
        return None
    far = np.abs(pairs.mean_b - question.worst)
    level = float(far.mean())
    square = float((far**2 - pairs.variance / pairs.rounds_b).mean())
    return Fall(
        level=level,
        square=min(max(square, level**2), level * question.span),
        span=question.span if pairs.binary else math.inf,
    )


def scale_change(change: Evidence, factor: float, *, relative: bool) -> Evidence:
    """The change with every difference multiplied by `factor`, which is positive."""
    return replace(
        change,
        delta=change.delta * factor,
        se=change.se * factor,
        bounds=lambda alpha: _transform_bounds(lambda x: x * factor, change.bounds(alpha)),
        detectable=lambda sight: change.detectable(sight) * factor,
        size=lambda errors: change.size(errors) * factor,
        room=change.room * factor,
        relative=relative,
    )


def transform_change(
    change: Evidence, f: Callable[[float], float], direction: Direction
) -> Evidence:
    """The change with every difference on another scale: `f` is increasing, f(0) = 0."""
    worse = -1.0 if direction == "higher" else 1.0

    def size(amount: float) -> float:
        return abs(f(worse * amount)) if math.isfinite(amount) else math.inf

    return replace(
        change,
        delta=f(change.delta),
        se=size(change.se),
        bounds=lambda alpha: _transform_bounds(f, change.bounds(alpha)),
        detectable=lambda sight: size(change.detectable(sight)),
        size=lambda errors: size(change.size(errors)),
        room=size(change.room),
    )


def require_tolerance(change: Evidence, tolerance: float) -> Evidence:
    """The change with a detectable size of at least `tolerance`, on the scale of `delta`."""
    return replace(change, detectable=lambda sight: max(change.detectable(sight), tolerance))


def evidence_without_pairs() -> Evidence:
    """The evidence if no case can be compared: every value is unknown."""
    nan = math.nan
    return Evidence(
        baseline=nan,
        current=nan,
        delta=nan,
        relative=False,
        se=math.inf,
        p_worse=1.0,
        p_better=1.0,
        p_doubt=1.0,
        bounds=lambda _: (-math.inf, math.inf),
        detectable=lambda _: math.inf,
        size=lambda _: math.inf,
        n_paired=0,
        method="",
        too_few="no case has a value in both runs",
    )


def _transform_bounds(
    f: Callable[[float], float], bounds: tuple[float, float]
) -> tuple[float, float]:
    return f(bounds[0]), f(bounds[1])
