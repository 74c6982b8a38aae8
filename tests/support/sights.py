"""Evidence and p-values asked as tests of a fixed size do."""

from collections.abc import Sequence

from gate.records import Evidence, Sight
from gate.stats.distributions import normal_quantile
from gate.stats.multiplicity import step_down


def sight(alpha: float, power: float = 0.8) -> Sight:
    drift = normal_quantile(1.0 - alpha) + normal_quantile(power)
    return Sight(drift=drift, power=power, level=alpha)


def low(found: Evidence, alpha: float) -> float:
    return found.bounds(alpha)[0]


def high(found: Evidence, alpha: float) -> float:
    return found.bounds(alpha)[1]


def mde(found: Evidence, alpha: float, power: float = 0.8) -> float:
    return found.detectable(sight(alpha, power))


def holm(p_values: Sequence[float]) -> list[float]:
    return step_down(p_values, lambda _, sharing: float(sharing), len(p_values))
