"""The interval and the estimate of a change, corrected for a run that may have ended early."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gate.records import Direction, Evidence
from gate.stats.boundaries import FAR
from gate.stats.distributions import normal_quantile
from gate.stats.stagewise import StopRegions, level_at_any_look, middle_level, stage_levels
from gate.verdict.interim_looks import LookBoundary

BARELY = 1e-8  # beside a bound of 0, which says that the test excludes no change
RAREST = 1e-15  # p-value that still has an evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeInterval:
    """Bounds of delta, and its median-unbiased estimate; None where a run had a single look."""

    low: float
    high: float
    estimate: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRules:
    """What ends the question of one metric at a look. `blocks`: its regression ends the run.
    `alone`: it decides when the run ends, and nothing else does. `both`: so does an improvement.
    `allowed`: the tolerance on the scale of delta. `doubt`: p-value of a suspicion that is looked
    at again.
    """

    boundary: LookBoundary
    blocks: bool
    alone: bool
    both: bool
    allowed: float
    doubt: float


def find_interval(
    e: Evidence, direction: Direction, shown: LookBoundary, stops: StopRules
) -> ChangeInterval:
    """Bounds that are each wrong with the probability `shown.alpha`, whenever the run ended; zero
    is within them just where the test does not exclude it.

    If the metric alone ends the run, they are those of the stage-wise ordering. Otherwise they hold
    at every look: something else may have ended the run, or gone on with it.
    """
    times = shown.position.times[: shown.position.index + 1]
    if len(shown.position.times) == 1 or not math.isfinite(e.se):
        low, high = e.bounds(shown.harm)
        return _agree(ChangeInterval(low=low, high=high), e, direction, shown.harm)
    side, estimate = _Sides(e=e, direction=direction), None
    least = most = level_at_any_look(shown.position.times, shown.position.index, shown.alpha)
    if stops.blocks:
        better = stops.both and e.p_better < e.p_worse
        p = e.p_better if better else e.p_worse
        evidence = normal_quantile(1.0 - min(max(p, RAREST), 1.0 - RAREST))
        regions = _find_regions(e, times, stops)
        if stops.alone and not stops.both:
            levels = stage_levels(regions, evidence, shown.alpha)
            least, middle, most = levels.least, levels.middle, levels.most
        else:
            middle = middle_level(regions, evidence)
        estimate = side.harm_to(middle) if better else side.harm_from(middle)
    # A fall that is too steep for the looks before it would lie outside: it began late.
    low = min(side.harm_from(least), side.harm_to(most), e.delta)
    high = max(side.harm_from(least), side.harm_to(most), e.delta)
    found = ChangeInterval(low=low, high=high, estimate=estimate)
    return _agree(found, e, direction, shown.harm)


def _find_regions(e: Evidence, times: tuple[float, ...], stops: StopRules) -> StopRegions:
    """Where the looks so far would have ended the question. A metric that does not decide alone
    ends it only by a regression.
    """
    plan, harm, futility = stops.boundary.bounds, [], []
    suspicious = normal_quantile(1.0 - stops.doubt)
    for look, time in enumerate(times):
        root = math.sqrt(time / times[-1])
        allowed = stops.allowed / e.se * root if e.se else 0.0  # in standard errors of that look
        last = look == len(plan.times) - 1
        harm.append(max(plan.harm[look], allowed + (0.0 if last else 1.0)))
        proved = max(plan.futility[look], allowed - plan.proof[look])
        harmless = min(proved, max(suspicious, allowed), harm[-1])
        futility.append(harmless if stops.alone and not stops.both else -FAR)
    return StopRegions(times=times, harm=tuple(harm), futility=tuple(futility))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sides:
    """Bounds by their one-sided level, on the side of little harm and on that of much."""

    e: Evidence
    direction: Direction

    def harm_from(self, level: float) -> float:
        """The bound of the smallest harm; from one half on, of the other side."""
        return self._bound(level, upper=self.direction == "higher")

    def harm_to(self, level: float) -> float:
        """The bound of the largest harm."""
        return self._bound(level, upper=self.direction == "lower")

    def _bound(self, level: float, *, upper: bool) -> float:
        if level > 0.5:
            return self._bound(1.0 - level, upper=not upper)
        low, high = self.e.bounds(level)
        return high if upper else low


def _agree(
    found: ChangeInterval, e: Evidence, direction: Direction, level: float
) -> ChangeInterval:
    """Zero is outside just where the test says so at this `level`: the formula's bounds are widened
    for few calls, and the test is exact.
    """
    low, high = found.low, found.high
    fell, rose = e.p_worse <= level, e.p_better <= level
    if direction == "lower":
        fell, rose = rose, fell
    if e.delta < 0.0:
        high = min(high, 0.0) if fell else max(high, BARELY)
    if e.delta > 0.0:
        low = max(low, 0.0) if rose else min(low, -BARELY)
    return ChangeInterval(low=low, high=high, estimate=found.estimate)
