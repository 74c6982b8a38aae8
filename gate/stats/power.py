"""What a comparison can see: the smallest change that would be caught with the wanted power."""

from __future__ import annotations

from gate.records import Sight
from gate.stats.distributions import normal_quantile


def detectable(*, se: float, quantum: float, sight: Sight, tolerance: float) -> float:
    """Smallest true change that is flagged with probability `sight.power`, on the scale of `se`.

    Flagged means: beyond the boundary of a look and beyond `tolerance`. `se` and `quantum` are
    those of the last look. `quantum` is what one call can change; it bounds the standard error from
    below, since identical rounds do not prove that no noise exists.
    """
    se = max(se, normal_quantile(1.0 - sight.level) * quantum)
    return max(sight.drift * se, tolerance + normal_quantile(sight.power) * se)
