"""What chance alone does to a measured difference: its bounds, and what could be seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gate.records import Sight
from gate.stats.distributions import normal_cdf, normal_quantile, t_quantile


def detectable(*, se: float, quantum: float, sight: Sight, tolerance: float) -> float:
    """Smallest true change that is flagged with probability `sight.power`, on the scale of `se`.

    Flagged means: beyond the boundary of a look and beyond `tolerance`. `se` and `quantum` are
    those of the last look. `quantum` is what one call can change; it bounds the standard error from
    below, since identical rounds do not prove that no noise exists.
    """
    se = max(se, normal_quantile(1.0 - sight.level) * quantum)
    return max(sight.drift * se, tolerance + normal_quantile(sight.power) * se)


TINY = 1e-12  # of a distribution found by a Fourier transform the rest is rounding
NOTHING = 1e-300  # a smaller number is no float with all its digits


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """All on the scale of `delta`."""

    delta: float
    variance: float  # of delta by the noise of single calls
    quantum: float  # what one call can move delta by
    tolerance: float
    least_p: float  # p-value of the worst that can happen
    limit: float = math.inf  # size of the largest difference there can be
    drift: float = 0.0  # variance of delta beyond the noise of single calls
    df: float = math.inf

    @property
    def se(self) -> float:
        return math.sqrt(self.variance + self.drift)

    def bounds(self, alpha: float) -> tuple[float, float]:
        """delta +- z sqrt(V + (z q)^2), each wrong with probability at most `alpha`."""
        z = t_quantile(1.0 - alpha, self.df)
        half = z * math.hypot(self.se, z * self.quantum)
        return max(-self.limit, self.delta - half), min(self.limit, self.delta + half)

    def detectable(self, sight: Sight) -> float:
        """Smallest change that is caught; infinite where even the worst is not significant."""
        if self.least_p > sight.level and sight.share >= 1.0:
            return math.inf
        return detectable(
            se=math.sqrt(self.variance * sight.share + self.drift),
            quantum=self.quantum * sight.share,
            sight=sight,
            tolerance=self.tolerance,
        )

    def blurred(self, p: float) -> float:
        """A chance under the noise of single calls, with the variance of the drift added.

        One that is too small to be told from rounding is taken from `delta`.
        """
        if not self.drift or p >= 1.0:
            return p
        if p < (TINY if math.isinf(self.df) else NOTHING):
            return normal_cdf(-abs(self.delta) / self.se)
        shrink = math.sqrt(self.variance / (self.variance + self.drift))
        return normal_cdf(shrink * normal_quantile(p))
