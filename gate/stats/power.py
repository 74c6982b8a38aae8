"""What a comparison can see: the smallest change that would be caught with the wanted power."""

from __future__ import annotations

from gate.stats.distributions import normal_quantile


def detectable(*, se: float, quantum: float, alpha: float, power: float, tolerance: float) -> float:
    """Smallest true change that is flagged with probability `power`, on the scale of `se`.

    Flagged means: beyond z_alpha standard errors and beyond `tolerance`. `quantum` is what one call
    can change; it bounds the standard error from below, since identical rounds do not prove that no
    noise exists.
    """
    z = normal_quantile(1.0 - alpha)
    se = max(se, z * quantum)
    return max(z * se, tolerance) + normal_quantile(power) * se
