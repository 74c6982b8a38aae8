"""Group-sequential boundaries: how bad, or how harmless, results must be at a look to end a run.

The evidence of harm y_k = -z_k at information t_k is a Brownian motion over sqrt(t_k) (Jennison and
Turnbull 2000, chapter 3). Error is spent as a function of t (Lan and DeMets 1983), so looks may
come at any time. The recursion keeps the density of the paths that have not stopped yet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from gate.stats.distributions import normal_cdf, normal_quantile, upper_tail
from gate.stats.pairs import Array

# Powers of the information t with which the chances of error are spent, without and with a surplus.
HARM_POWERS = (2.2, 1.5)  # alpha t^2.2: little is spent on early looks, which exaggerate
FUTILITY_POWERS = (1.6, 0.5)
FEW_LOOKS, FEW_HARM, FEW_FUTILITY = 10, 2.0, 1.5  # without a surplus, at up to as many looks
MODEST, LARGE = 1.1, 1.33  # 4/3: 16 times the planned rounds, of which 2 times run
USUAL_HISTORY = 4.0  # rounds of a baseline, in planned rounds
LOOKS_COST = 1.1  # about the drift of many looks over that of one: where its search begins
FAR = 8.0  # standard errors beyond which no path is followed
SUSPICIOUS = 0.05  # raw p-value from which a drop is mentioned
NODES = 48  # of the quadrature over the paths that go on
PANEL = 48  # nodes of a Gauss-Legendre rule; longer stretches are cut into panels
MOST_NODES = 800  # where two looks almost coincide
CLOSE = 1e-6
NEAR = 1e-4  # a step of Newton's method after which the error is its square

Spending = Callable[[float], float]


def strong_suspicion(alpha: float) -> float:
    """The p-value up to which a drop is looked at again, whatever the futility boundary says;
    `alpha`: the metric's share. Among twenty metrics one is always a little suspicious.
    """
    return min(SUSPICIOUS, 4.0 * alpha)


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundaries:
    """Boundaries of the evidence of harm, in standard errors, one entry per look.

    `harm`: from here on the change is worse. `futility`: up to here a regression is unlikely.
    `proof`: half the width of a one-sided bound that is valid at every look. At the last look harm
    and futility are equal, so that it always decides.
    """

    times: tuple[float, ...]
    harm: tuple[float, ...]
    futility: tuple[float, ...]
    proof: tuple[float, ...]
    drift: float  # change, in standard errors at the last look, caught with probability 1 - beta


def find_surplus(information: float, rounds: float, planned: float) -> float:
    """How much sharper than usual the last look of a plan is: 0 is usual, 1 much sharper.
    `information`: R Rb / (R + Rb) of a case after that look, at `rounds` rounds.

    The usual baseline has four times the `planned` rounds. What a larger one brings is used to end
    earlier, not to see less. The numbers come from simulation: docs/decisions/0044-twenty-looks.md.
    """
    usual = USUAL_HISTORY * planned
    times = information * (rounds + usual) / (rounds * usual)
    return round(min(1.0, max(0.0, (times - MODEST) / (LARGE - MODEST))), 3)


@lru_cache(maxsize=512)
def boundaries(
    times: tuple[float, ...], alpha: float, beta: float, surplus: float = 0.0
) -> Boundaries:
    """The boundaries for looks at the shares `times` of the last look's information (ascending, the
    last is 1). `surplus`: as of find_surplus.

    A run without a change reaches `harm` with probability `alpha` at most, also if it does not end
    at `futility`. A change of `drift` is missed with probability `beta`.
    """
    if len(times) == 1:  # a fixed size
        z, z_power = normal_quantile(1.0 - alpha), normal_quantile(1.0 - beta)
        return Boundaries(
            times=times, harm=(z,), futility=(z,), proof=(z_power,), drift=z + z_power
        )

    few = len(times) <= FEW_LOOKS
    harm_power = _between((FEW_HARM if few else HARM_POWERS[0], HARM_POWERS[1]), surplus)
    futility_power = _between(
        (FEW_FUTILITY if few else FUTILITY_POWERS[0], FUTILITY_POWERS[1]), surplus
    )

    def accused(t: float) -> float:
        return float(alpha * t**harm_power)

    alone = normal_quantile(1.0 - alpha) + normal_quantile(1.0 - beta)

    def missed(t: float) -> float:
        return float(beta * t**futility_power)

    harm, proof = crossing(times, accused), crossing(times, missed)
    drift = _drift(times, harm, missed, start=LOOKS_COST * alone)
    harmless, _ = _harmless(times, harm, missed, drift)
    return Boundaries(
        times=times, harm=harm, futility=(*harmless, harm[-1]), proof=proof, drift=drift
    )


def _between(ends: tuple[float, float], share: float) -> float:
    return ends[0] + share * (ends[1] - ends[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Chances that a plan ends at one look: `accused` as worse, `acquitted` as no worse."""

    accused: float
    acquitted: float


def endings(
    plan: Boundaries, drifts: Sequence[float], *, both: bool = False
) -> list[tuple[Ending, ...]]:
    """For each of some truths the chances that a plan ends at each look; the truth is worse by the
    drift, in standard errors of the last look. `both`: a plan that goes on until it is also clear
    whether it got better, by the same boundaries mirrored.
    """
    paths = Paths.start()
    looks = []
    for t, harm, futility in zip(plan.times, plan.harm, plan.futility, strict=True):
        ends = _two_sided if both else _one_sided
        looks.append([ends(paths.with_drift(drift), t, harm, futility) for drift in drifts])
        if not both:
            paths = paths.between(t, futility, harm)
        elif futility <= 0.0:
            paths = paths.between(t, -harm, harm)
        else:
            paths = paths.between(t, futility, harm).beside(paths.between(t, -harm, -futility))
    return list(zip(*looks, strict=True))


def _one_sided(paths: Paths, t: float, harm: float, futility: float) -> Ending:
    return Ending(accused=paths.above(t, harm), acquitted=paths.below(t, futility))


def _two_sided(paths: Paths, t: float, harm: float, futility: float) -> Ending:
    acquitted = paths.below(t, -harm)
    if futility > 0.0:
        acquitted += paths.below(t, futility) - paths.below(t, -futility)
    return Ending(accused=paths.above(t, harm), acquitted=acquitted)


@lru_cache(maxsize=512)
def caught_drift(plan: Boundaries, alpha: float, beta: float) -> float:
    """The change, in standard errors at the last look, that a run catches with probability 1 -
    beta. It is a little smaller than the drift of the plan: with a strong suspicion the run goes
    on where the plan would end at `futility`.
    """
    if len(plan.times) == 1:
        return plan.drift
    doubt = normal_quantile(1.0 - strong_suspicion(alpha))
    futility = (*(min(bound, doubt) for bound in plan.futility[:-1]), plan.harm[-1])
    near = (0.96 * plan.drift, plan.drift)
    chances = endings(replace(plan, futility=futility), near)
    low, high = (normal_quantile(sum(one.accused for one in looks)) for looks in chances)
    share = (normal_quantile(1.0 - beta) - low) / (high - low)  # nearly a line on this scale
    return min(plan.drift, near[0] + share * (near[1] - near[0]))


def crossing(times: Sequence[float], spent: Spending) -> tuple[float, ...]:
    """One-sided boundary that a path without drift exceeds by time t with the chance `spent(t)`."""
    paths = Paths.start()
    bounds: list[float] = []
    before = 0.0
    for t in times:
        level = spent(t) - before
        before = spent(t)
        bounds.append(paths.bound_above(t, level))
        paths = paths.between(t, -FAR, bounds[-1])
    return tuple(bounds)


def _drift(
    times: Sequence[float], harm: Sequence[float], missed: Spending, *, start: float
) -> float:
    """The drift at which the two boundaries meet at the last look."""
    beta = missed(1.0)
    return solve_decreasing(lambda d: _harmless(times, harm, missed, d)[1] - beta, guess=start)


def _harmless(
    times: Sequence[float], harm: Sequence[float], missed: Spending, drift: float
) -> tuple[list[float], float]:
    """The futility boundary before the last look, and the chance to end below `harm` with this
    drift.
    """
    paths = Paths.start(drift)
    bounds: list[float] = []
    spent = 0.0
    for t, upper in zip(times[:-1], harm, strict=False):
        level = missed(t) - spent
        spent += level
        bounds.append(min(paths.bound_below(t, level), upper))
        paths = paths.between(t, bounds[-1], upper)
    return bounds, spent + paths.below(1.0, harm[-1])


def _one_look(level: float) -> float:
    return normal_quantile(1.0 - min(max(level, 1e-12), 0.5))


def solve_decreasing(f: Callable[[float], float], *, guess: float) -> float:
    """The root of a decreasing function within +-FAR: secant steps, and halving where they do not
    help.
    """
    low, high = -FAR, FAR
    before, seen, x = guess, f(guess), guess + 0.05
    for step in range(80):
        y = f(x)
        low, high = (x, high) if y > 0.0 else (low, x)
        secant = x - y * (x - before) / (y - seen) if y != seen else math.inf
        helps = low <= secant <= high and (step == 0 or abs(y) <= abs(seen) / 2.0)
        before, seen, x = x, y, secant if helps else (low + high) / 2.0
        if abs(x - before) < CLOSE:
            break
    return x


@dataclass(frozen=True, slots=True)
class Paths:
    """The paths that have not stopped by `time`: chance `weights` at values `at` of the Brownian
    motion (not divided by sqrt(time)).
    """

    time: float
    at: Array
    weights: Array
    drift: float

    @classmethod
    def start(cls, drift: float = 0.0) -> Paths:
        return cls(0.0, np.zeros(1), np.ones(1), drift)

    def with_drift(self, drift: float) -> Paths:
        """The same paths under a drift; these have none."""
        if not self.time:
            return replace(self, drift=drift)
        likelihood = np.exp(drift * self.at - drift * drift * self.time / 2.0)
        return replace(self, weights=self.weights * likelihood, drift=drift)

    def above(self, t: float, bound: float) -> float:
        """Chance to be at `bound` standard errors or higher at `t`."""
        return float(self.weights @ upper_tail(self._standard(t, bound * math.sqrt(t))))

    def below(self, t: float, bound: float) -> float:
        """Chance to be at `bound` standard errors or lower at `t`."""
        return float(self.weights @ upper_tail(-self._standard(t, bound * math.sqrt(t))))

    def bound_above(self, t: float, level: float, guess: float | None = None) -> float:
        """The bound, in standard errors, that a path exceeds at `t` with the chance `level`."""
        return self._bound(t, level, _one_look(level) if guess is None else guess, side=1.0)

    def bound_below(self, t: float, level: float, guess: float | None = None) -> float:
        """The bound, in standard errors, that a path is below at `t` with the chance `level`."""
        alone = self.drift * math.sqrt(t) - _one_look(level)
        return self._bound(t, level, alone if guess is None else guess, side=-1.0)

    def _bound(self, t: float, level: float, guess: float, *, side: float) -> float:
        """Newton's method on the logarithm of the chance, which is concave, and halving where a
        step leaves the bracket.
        """
        low, high, x = -FAR, FAR, guess
        slope_of = math.sqrt(t / (t - self.time) / (2.0 * math.pi))
        for _ in range(80):
            beyond = side * self._standard(t, x * math.sqrt(t))
            chance = float(self.weights @ upper_tail(beyond))
            low, high = (x, high) if (chance > level) == (side > 0.0) else (low, x)
            slope = slope_of * float(self.weights @ np.exp(-0.5 * beyond * beyond))
            step = math.inf
            if slope > 0.0 and chance > 0.0:
                step = side * math.log(chance / level) * chance / slope
            before, x = x, x + step if low <= x + step <= high else (low + high) / 2.0
            if abs(x - before) < NEAR:
                break
        return x

    def between(self, t: float, low: float, high: float) -> Paths:
        """The paths between the bounds at `t`; bounds in standard errors."""
        root, sd = math.sqrt(t), math.sqrt(t - self.time)
        low, high = min(low, high) * root, high * root
        nodes = min(MOST_NODES, max(NODES, 4.5 * (high - low) / sd))
        panels = math.ceil(nodes / PANEL)
        width = (high - low) / panels
        points, sizes = _legendre()
        starts = low + width * np.arange(panels)
        at = (starts[:, None] + width * points).ravel()
        moved = (at[:, None] - self.at[None, :] - self.drift * (t - self.time)) / sd
        density = np.exp(-0.5 * moved**2) @ self.weights / (sd * math.sqrt(2.0 * math.pi))
        return Paths(t, at, density * np.tile(sizes * width, panels), self.drift)

    def beside(self, other: Paths) -> Paths:
        """These and the others of the same time."""
        at = np.concatenate((self.at, other.at))
        return replace(self, at=at, weights=np.concatenate((self.weights, other.weights)))

    def _standard(self, t: float, value: float) -> Array:
        step = t - self.time
        return (value - self.at - self.drift * step) / math.sqrt(step)


@lru_cache(maxsize=1)
def _legendre() -> tuple[Array, Array]:
    """Points and weights of one panel, from 0 to 1: a large rule takes a second to find."""
    points, sizes = np.polynomial.legendre.leggauss(PANEL)
    return (points + 1.0) / 2.0, sizes / 2.0


def nominal(bound: float) -> float:
    """The one-sided level of a single test with this boundary."""
    return normal_cdf(-bound)
