"""The noise of a measured difference: its bounds, and the smallest change that is caught."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gate.records import Sight
from gate.stats.distributions import normal_cdf, normal_quantile, t_quantile
from gate.stats.fall import ArmSizes, Fall, least_fall

TINY = 1e-12  # a smaller chance from a Fourier transform is rounding
NOTHING = 1e-300  # smaller floats have fewer digits


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeNoise:
    """The noise of a difference; every size is on the scale of `delta`."""

    delta: float
    variance: float  # of delta by the noise of single calls
    quantum: float  # how far one call can move delta
    tolerance: float
    least_p: float  # p-value of the worst possible result
    limit: float = math.inf  # the largest possible difference
    drift: float = 0.0  # variance of delta beyond the noise of single calls
    df: float = math.inf
    cases: float = 1.0
    weight: float = 0.5  # mean of R Rb / (R + Rb) over the cases
    rounds_b: float = 1.0
    fall: Fall | None = None  # the variance that a change for the worse adds; None: none

    @property
    def se(self) -> float:
        return math.sqrt(self.variance + self.drift)

    def bounds(self, alpha: float) -> tuple[float, float]:
        """delta +- z sqrt(V + (z q)^2), each wrong with probability at most `alpha`."""
        z = t_quantile(1.0 - alpha, self.df)
        half = z * math.hypot(self.se, z * self.quantum)
        return max(-self.limit, self.delta - half), min(self.limit, self.delta + half)

    def detectable(self, sight: Sight) -> float:
        """The smallest change that the whole plan catches with the probability `sight.power`: it
        exceeds the boundary of a look, and the tolerance. Infinite if even the worst result is not
        significant.

        The standard error is at least `quantum`, because identical rounds do not prove that there
        is no noise.
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
        """The p-value `p`, of the noise of single calls, with the variance of the drift added.

        A `p` that may be rounding is computed from `delta` instead.
        """
        if not self.drift or p >= 1.0:
            return p
        if p < (TINY if math.isinf(self.df) else NOTHING):
            return normal_cdf(-abs(self.delta) / self.se)
        shrink = math.sqrt(self.variance / (self.variance + self.drift))
        return normal_cdf(shrink * normal_quantile(p))
