"""The score of a trajectory by its length, errors and violations."""

from __future__ import annotations

from dataclasses import dataclass, fields

from gate.errors import UsageError

BEST = 10.0
BONUS = 1.0  # of the seed formula, for no violation


@dataclass(frozen=True, slots=True, kw_only=True)
class Penalties:
    """Points that are taken off; `most_...` is the most for all such steps together."""

    extra_step: float = 0.5
    most_extra: float = 3.0
    flawed_step: float = 1.0
    most_flawed: float = 4.0
    violation: float = 10.0  # each, by `strict` only; 10 leaves nothing

    def __post_init__(self) -> None:
        for field in fields(self):
            if not 0 <= getattr(self, field.name) <= BEST:
                raise UsageError(f"trajectory: penalties.{field.name} must be from 0 to 10")


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """The numbers that a score is made of."""

    steps: int
    optimal: int
    flawed: int  # steps with an error or a correction
    violations: int

    @property
    def ratio(self) -> float:
        return self.steps / self.optimal

    @property
    def extra(self) -> int:
        return max(0, self.steps - self.optimal)


def strict_score(way: Way, rules: Penalties) -> float:
    """The strict score, 0 to 10. A trajectory without a step has 0 if a step is necessary."""
    if not way.steps:
        return 0.0
    points = BEST - _for_steps(way, rules) - rules.violation * way.violations
    return max(0.0, points)


def seed_score(way: Way, rules: Penalties) -> float:
    """The formula as it is often published: a bonus without violations instead of a penalty. With
    the usual penalties the best is 11, the worst is 3, and no steps have 11.
    """
    points = BEST - _for_steps(way, rules) + (0.0 if way.violations else BONUS)
    return max(0.0, points)


def seed_bounds(rules: Penalties) -> tuple[float, float]:
    """The lowest and the highest value of `seed_score`."""
    return max(0.0, BEST - rules.most_extra - rules.most_flawed), BEST + BONUS


def _for_steps(way: Way, rules: Penalties) -> float:
    extra = min(rules.extra_step * way.extra, rules.most_extra)
    return extra + min(rules.flawed_step * way.flawed, rules.most_flawed)
