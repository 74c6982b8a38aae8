"""Changes of logarithms: the tolerance on the logarithmic scale, and the change as a ratio."""

from __future__ import annotations

import math
from dataclasses import replace

from gate.records import Evidence, Tolerance
from gate.stats.change import ChangeQuestion, scale_change, transform_change


def to_log_tolerance(question: ChangeQuestion, middle: float) -> ChangeQuestion:
    """The question with its tolerance as a difference of logarithms. An absolute tolerance is
    divided by `middle` first.
    """
    allowed = question.tolerance
    share = allowed.value if allowed.relative else allowed.value / middle
    if question.direction == "lower":
        log_share = math.log1p(share)
    else:
        log_share = -math.log1p(-min(share, 0.999))
    return replace(question, tolerance=Tolerance(value=log_share))


def from_logs(change: Evidence, question: ChangeQuestion) -> Evidence:
    """A change of logarithms as ratio - 1 or, for an absolute tolerance, in the metric's unit."""
    ratio = replace(
        transform_change(change, expm1, question.direction),
        relative=True,
        method=f"{change.method} of logarithms",
    )
    if question.tolerance.relative:
        return ratio
    return scale_change(ratio, math.exp(change.baseline), relative=False)


def expm1(x: float) -> float:
    """exp(x) - 1; infinite if it is larger than the largest float."""
    return math.expm1(x) if x < 700.0 else math.inf
