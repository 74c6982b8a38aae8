"""The estimate and the interval after a run that may have ended early.

Results are ordered by stage: worse is what crosses the harm boundary at an earlier look, then what
has the larger evidence of harm at the same look; least bad is what ends as harmless at the first
look (Armitage 1957; Tsiatis, Rosner and Mehta 1984; Jennison and Turnbull 2000, chapter 8). A drift
is in an interval if a result as bad as this one, or as good, is not too rare under it. The drift
that makes both equally likely is the median-unbiased estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from gate.stats.boundaries import FAR, Paths, crossing, nominal, solve_decreasing
from gate.stats.distributions import normal_cdf


@dataclass(frozen=True, slots=True, kw_only=True)
class StageLevels:
    """One-sided levels of a test of a fixed size whose bounds are those of the stage-wise interval.

    `least`: of the bound of the smallest harm; `most`: of the largest. `middle`: of the
    median-unbiased estimate, as a bound of the smallest harm; 0.5 is the measured value.
    """

    least: float
    middle: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRegions:
    """Where a plan ends at each of its looks so far: evidence of harm, in standard errors, from
    `harm` on and up to `futility`. `times`: shares of the last look's information; the result is
    at the last of these.
    """

    times: tuple[float, ...]
    harm: tuple[float, ...]
    futility: tuple[float, ...]


def stage_levels(regions: StopRegions, evidence: float, alpha: float) -> StageLevels:
    """Levels for a result with `evidence` of harm (standard errors); each bound is wrong with
    probability `alpha`.

    The bound of the smallest harm does not count on ends as harmless. So it excludes zero just
    where the harm boundary is crossed, and errs to the safe side.
    """
    if len(regions.times) == 1:
        return StageLevels(least=alpha, middle=0.5, most=alpha)
    whole = _Stages.find(regions, evidence)
    open_below = replace(regions, futility=(-FAR,) * len(regions.futility))
    harm_alone = _Stages.find(open_below, evidence)
    return StageLevels(
        least=normal_cdf(harm_alone.shift_for(alpha)),
        middle=normal_cdf(whole.shift_for(0.5)),
        most=normal_cdf(-whole.shift_for(1.0 - alpha)),
    )


def middle_level(regions: StopRegions, evidence: float) -> float:
    """The `middle` of stage_levels alone."""
    if len(regions.times) == 1:
        return 0.5
    return normal_cdf(_Stages.find(regions, evidence).shift_for(0.5))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stages:
    """The paths that go on to each look if there is no drift: with one, they are the same paths
    with other weights.
    """

    regions: StopRegions
    evidence: float
    going: tuple[Paths, ...]

    @classmethod
    def find(cls, regions: StopRegions, evidence: float) -> _Stages:
        paths = Paths.start()
        going = [paths]
        ends = zip(regions.times[:-1], regions.futility[:-1], regions.harm[:-1], strict=True)
        for time, low, high in ends:
            paths = paths.between(time, low, high)
            going.append(paths)
        return cls(regions=regions, evidence=evidence, going=tuple(going))

    def shift_for(self, chance: float) -> float:
        """The drift under which a result at least this bad has the `chance`, in standard errors of
        this look above the evidence.
        """
        root = math.sqrt(self.regions.times[-1])
        return solve_decreasing(
            lambda shift: chance - self._chance_of_worse((self.evidence + shift) / root),
            guess=0.0,
        )

    def _chance_of_worse(self, drift: float) -> float:
        bounds = (*self.regions.harm[:-1], self.evidence)
        looks = zip(self.going, self.regions.times, bounds, strict=True)
        return sum(paths.with_drift(drift).above(time, bound) for paths, time, bound in looks)


@lru_cache(maxsize=512)
def level_at_any_look(times: tuple[float, ...], index: int, alpha: float) -> float:
    """The one-sided level of a single test at look `index` whose bound holds at all looks together,
    whatever ended the run: wrong with probability `alpha`.

    The levels are about equal at all looks (the spending of Lan and DeMets 1983 that resembles
    Pocock's boundary), which makes the interval about 1.3 times as wide as a single look's.
    """
    if len(times) == 1:
        return alpha
    bounds = crossing(times, lambda t: alpha * math.log1p((math.e - 1.0) * t))
    return nominal(bounds[index])
