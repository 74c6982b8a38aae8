"""What chance alone does to a measured difference: its bounds, and what could be seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gate.records import Sight
from gate.stats.distributions import normal_cdf, normal_quantile, t_quantile
from gate.stats.fall import ArmSizes, Fall, least_fall

TINY = 1e-12  # of a distribution found by a Fourier transform the rest is rounding
NOTHING = 1e-300  # a smaller number is no float with all its digits


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeNoise:
    """All on the scale of `delta`."""

    delta: float
    variance: float  # of delta by the noise of single calls
    quantum: float  # what one call can move delta by
    tolerance: float
    least_p: float  # p-value of the worst that can happen
    limit: float = math.inf  # size of the largest difference there can be
    drift: float = 0.0  # variance of delta beyond the noise of single calls
    df: float = math.inf
    cases: float = 1.0
    weight: float = 0.5  # mean of R Rb / (R + Rb) over the cases
    rounds_b: float = 1.0
    fall: Fall | None = None  # what a change for the worse adds; None: nothing

    @property
    def se(self) -> float:
        return math.sqrt(self.variance + self.drift)

    def bounds(self, alpha: float) -> tuple[float, float]:
        """delta +- z sqrt(V + (z q)^2), each wrong with probability at most `alpha`."""
        z = t_quantile(1.0 - alpha, self.df)
        half = z * math.hypot(self.se, z * self.quantum)
        return max(-self.limit, self.delta - half), min(self.limit, self.delta + half)

    def detectable(self, sight: Sight) -> float:
        """Smallest change that is caught with probability `sight.power` by the whole plan: beyond
        the boundary of a look and beyond the tolerance. Infinite where even the worst is not
        significant.

        `quantum` bounds the standard error from below, since identical rounds do not prove that no
        noise exists.
        """
        if self.least_p > sight.level and sight.share >= 1.0:
            return math.inf
        reserve = normal_quantile(sight.power)
        return least_fall(
            self._last_look(sight),
            self.fall,
            boundary=sight.drift - reserve,
            reserve=reserve,
            tolerance=self.tolerance,
            shared=self.drift,
            floor=normal_quantile(1.0 - sight.level) * self.quantum * sight.share,
        )

    def _last_look(self, sight: Sight) -> ArmSizes:
        cases, weight = self.cases / sight.cases, self.weight * sight.cases / sight.share
        rounds, rounds_b = 2.0 * weight, 2.0 * weight
        if not sight.fresh and weight < self.rounds_b:
            rounds, rounds_b = weight * self.rounds_b / (self.rounds_b - weight), self.rounds_b
        variance = self.variance * sight.share * cases * weight
        return ArmSizes(cases=cases, rounds=rounds, rounds_b=rounds_b, variance=variance)

    def size(self, errors: float) -> float:
        return errors * self.se

    def add_drift(self, p: float) -> float:
        """A chance under the noise of single calls, with the variance of the drift added.

        One that is too small to be told from rounding is taken from `delta`.
        """
        if not self.drift or p >= 1.0:
            return p
        if p < (TINY if math.isinf(self.df) else NOTHING):
            return normal_cdf(-abs(self.delta) / self.se)
        shrink = math.sqrt(self.variance / (self.variance + self.drift))
        return normal_cdf(shrink * normal_quantile(p))
