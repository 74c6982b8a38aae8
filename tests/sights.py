"""Evidence asked at one level, as a test of a fixed size does."""

from gate.records import Evidence, Sight
from gate.stats.distributions import normal_quantile


def sight(alpha: float, power: float = 0.8) -> Sight:
    drift = normal_quantile(1.0 - alpha) + normal_quantile(power)
    return Sight(drift=drift, power=power, level=alpha)


def low(found: Evidence, alpha: float) -> float:
    return found.bounds(alpha)[0]


def high(found: Evidence, alpha: float) -> float:
    return found.bounds(alpha)[1]


def mde(found: Evidence, alpha: float, power: float = 0.8) -> float:
    return found.detectable(sight(alpha, power))
