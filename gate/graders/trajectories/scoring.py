"""How long a way an agent took, and points for it."""

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
    """What a score is made of."""

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
    """0 to 10. Who did nothing where something was needed took no way and has 0."""
    if not way.steps:
        return 0.0
    points = BEST - _for_steps(way, rules) - rules.violation * way.violations
    return max(0.0, points)


def seed_score(way: Way, rules: Penalties) -> float:
    """The formula as it is often written down: a bonus for no violation instead of a penalty, so
    that with the usual penalties the best is 11, the worst is 3, and doing nothing has 11.
    """
    points = BEST - _for_steps(way, rules) + (0.0 if way.violations else BONUS)
    return max(0.0, points)


def seed_bounds(rules: Penalties) -> tuple[float, float]:
    """The least and the most that `seed` can come to."""
    return max(0.0, BEST - rules.most_extra - rules.most_flawed), BEST + BONUS


def _for_steps(way: Way, rules: Penalties) -> float:
    extra = min(rules.extra_step * way.extra, rules.most_extra)
    return extra + min(rules.flawed_step * way.flawed, rules.most_flawed)
