"""What one metric of a suite could show: the least change that is caught, and what others take."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from gate.analysis.noise import CallNoise
from gate.records import MetricSpec, equal_looks
from gate.records.planning import Bill, MetricOutlook, Target
from gate.stats.fall import Fall
from gate.stats.planning import (
    PlanEnds,
    PlanSize,
    Risks,
    cases_for,
    fewest_cases,
    forecast_ends,
    least_change,
    rounds_for,
    wald_floor,
)

CHANGES = (0.02, 0.05, 0.10)  # of the metric's scale, or of its value where that is unbounded
LOST = "even the worst answers could not be told from chance"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanShape:
    """What a plan consists of; an action is a shape with one field changed."""

    cases: int
    rounds: int
    max_rounds: int
    rounds_b: float  # that a case has in the baseline
    tests: int  # that share alpha
    alpha: float
    power: float
    early: bool
    both: bool  # an improvement is waited for, too
    fresh: bool  # the baseline is measured in the same run: every call counts twice
    batch: int  # calls under way at once: no look comes after fewer
    price: float | None  # of one call, USD

    @property
    def risks(self) -> Risks:
        return Risks(alpha=self.alpha / self.tests, beta=1.0 - self.power)

    @property
    def once(self) -> PlanShape:
        """The planned rounds, looked at when all are there."""
        return replace(self, max_rounds=self.rounds, early=False)

    @property
    def looks(self) -> int:
        cap = self.cases * self.max_rounds
        return len(equal_looks(cap, batch=self.batch).calls) if self.early else 1

    def bill(self, share: float = 1.0) -> Bill:
        """What a share of all calls costs and takes."""
        exact = self.cases * self.max_rounds * (2 if self.fresh else 1) * share
        calls = math.ceil(exact - 1e-9)
        return Bill(calls=calls, usd=None if self.price is None else calls * self.price)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """One metric before the run. Sizes of changes are on the scale of `noise.size`."""

    spec: MetricSpec
    noise: CallNoise
    tolerance: float
    share: float = 1.0  # of the suite's cases that measure it
    drift: float = 0.0  # variance of a change beyond the noise of calls, in squared natural units

    def size(self, shape: PlanShape) -> PlanSize:
        sd = self.noise.sd * (abs(self.noise.value) if self.noise.relative else 1.0)
        return PlanSize(
            cases=shape.cases * self.share,
            rounds=shape.max_rounds,
            rounds_b=None if shape.fresh else shape.rounds_b,
            looks=shape.looks,
            planned=shape.rounds,
            shared=self.drift / sd**2,
            fall=_in_units(self.noise.fall, self.noise.sd),
        )

    def least(self, shape: PlanShape) -> float | None:
        """The smallest change that is caught; None where there is no room for one so large."""
        allowed = self.noise.multiple(self.tolerance)
        reached = least_change(self.size(shape), shape.risks, allowed)
        if math.isinf(reached):
            return None
        change = self.noise.size(reached)
        return change if change <= self.room else None

    @property
    def room(self) -> float:
        """The worst change that there could be."""
        spec, value = self.spec, self.noise.value
        end = spec.low if spec.direction == "higher" else spec.high
        if end is None:
            return math.inf
        return abs(value - end) / (abs(value) if self.noise.relative and value else 1.0) + 1e-9

    def changes(self) -> Iterator[float]:
        """The changes that are planned for; what is tolerated is none."""
        spec, scale = self.spec, 1.0
        if not self.noise.relative:
            scale = abs(self.noise.value)
            if spec.low is not None and spec.high is not None:
                scale = spec.high - spec.low
        sizes = (share * scale for share in CHANGES)
        least = max(1e-12, self.tolerance - 1e-9)
        return (
            change
            for change in sizes
            if least <= change <= self.room and math.isfinite(self.noise.multiple(change))
        )

    def larger_than_tolerated(self, least: float | None) -> float | None:
        """The largest planned change that is smaller than `least`; a change as small as the
        tolerance is seldom caught at any cost.
        """
        tolerated, most = self.tolerance * (1 + 1e-9), math.inf if least is None else least
        return max((c for c in self.changes() if tolerated < c < most), default=None)

    def cases_for(self, change: float, shape: PlanShape) -> int | None:
        """That a change takes; None: no number is enough."""
        enough = self._with_cases(self.noise.multiple(change), shape)
        return enough.cases if enough else None

    def ends(self, shape: PlanShape, change: float) -> PlanEnds:
        multiple, allowed = self.noise.multiple(change), self.noise.multiple(self.tolerance)
        return forecast_ends(
            self.size(shape), shape.risks, change=multiple, tolerance=allowed, both=shape.both
        )

    def target(self, change: float, shape: PlanShape, least: float | None) -> Target:
        """`least`: what `shape` itself catches."""
        multiple = self.noise.multiple(change)
        rounds = rounds_for(multiple, self.size(shape), shape.risks)
        enough = self._with_cases(multiple, shape)
        once = self._with_cases(multiple, shape.once)
        endings = {changed: self.ends(enough, changed) for changed in (0.0, change) if enough}
        floor = wald_floor(multiple, shape.risks)
        return Target(
            change=change,
            seen=least is not None and least <= change + 1e-9,
            caught=endings[change].caught if enough else 0.0,
            cases=enough.cases if enough else None,
            max_rounds=math.ceil(rounds) if math.isfinite(rounds) else None,
            at_most=enough.bill() if enough else Bill(),
            unchanged=enough.bill(endings[0.0].mean_share) if enough else Bill(),
            changed=enough.bill(endings[change].mean_share) if enough else Bill(),
            fixed=once.bill() if once else Bill(),
            floor_unchanged=math.ceil(floor.unchanged),
            floor_changed=math.ceil(floor.changed),
        )

    def _with_cases(self, multiple: float, shape: PlanShape) -> PlanShape | None:
        """As many cases as a change takes; None where no number is enough."""
        for _ in range(2):  # a larger suite may have more looks
            size = self.size(shape)
            least = fewest_cases(size, shape.risks)
            cases = max(least, cases_for(multiple, size, shape.risks)) / self.share
            if not math.isfinite(cases):
                return None
            shape = replace(shape, cases=max(1, math.ceil(cases - 1e-9)))
        return shape


def metric_outlook(forecast: Forecast, shape: PlanShape) -> MetricOutlook:
    """All that is told about a metric."""
    spec, noise = forecast.spec, forecast.noise
    outlook = MetricOutlook(
        metric=spec.name,
        unit=spec.unit,
        direction=spec.direction,
        relative=noise.relative,
        value=_finite(noise.value),
        cases=noise.cases,
        between=_finite(noise.between),
        guess=noise.guess,
        tolerance=forecast.tolerance,
        reason=noise.unknown,
    )
    if noise.unknown:
        return outlook
    least = forecast.least(shape)
    return replace(
        outlook,
        sd=noise.sd,
        variance=noise.sd**2,
        mde=least,
        mde_fixed=forecast.least(shape.once),
        targets=tuple(forecast.target(change, shape, least) for change in forecast.changes()),
        reason=LOST if least is None else "",
    )


def first_known(forecasts: Iterable[Forecast]) -> Forecast | None:
    """The one that a suite's actions are weighed by: success, where it blocks and can be told."""
    return next((forecast for forecast in forecasts if not forecast.noise.unknown), None)


def _in_units(fall: Fall | None, unit: float) -> Fall | None:
    if fall is None:
        return None
    return Fall(level=fall.level / unit, square=fall.square / unit**2, span=fall.span / unit)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
