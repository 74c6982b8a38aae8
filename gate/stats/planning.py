"""Plans a run before it is made: detectable changes, the calls that they take, early ends.

Changes are measured in standard deviations of one call within its case (`sd`), so the formulas are
the same for every metric. With n cases, R rounds and Rb rounds of the baseline the information is
I = n R Rb / (R + Rb). A plan of looks catches a change of drift / sqrt(I) with the wanted power
(gate.stats.boundaries).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gate.stats.boundaries import (
    FAR,
    Boundaries,
    boundaries,
    caught_drift,
    endings,
    find_surplus,
    strong_suspicion,
)
from gate.stats.distributions import bisect, normal_quantile
from gate.stats.fall import ArmSizes, DifferenceVariances, Fall, difference_variances, least_fall

_MOST = 12.0  # the most cases or rounds, as a power of ten
_DIGITS = 6  # of a share of information, so that equal plans share their boundaries


@dataclass(frozen=True, slots=True, kw_only=True)
class Risks:
    """The chances of a false alarm (`alpha`, one-sided) and of a missed change (`beta`)."""

    alpha: float
    beta: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSize:
    """How much is measured: at most `rounds` of every case, with `looks` looks after equal batches.
    `planned`: rounds of a run that leaves no doubt; None: all of them.

    `rounds_b`: rounds of the baseline; None if it is measured in the same run. `shared`: variance,
    in squared sd, that all calls of a run have in common (the session effect). `fall`, in sd: how
    far the values can fall; a change then adds variance.
    """

    cases: float
    rounds: float
    rounds_b: float | None
    looks: int = 1
    planned: float | None = None
    shared: float = 0.0
    fall: Fall | None = None

    def information_of_a_case(self, rounds: float) -> float:
        """R Rb / (R + Rb) after so many rounds, which need not be a whole number."""
        if self.rounds_b is None:
            return rounds / 2.0
        full = math.floor(rounds)
        done, next_one = (r * self.rounds_b / (r + self.rounds_b) for r in (full, full + 1.0))
        return done + (next_one - done) * (rounds - full)

    @property
    def spread(self) -> float:
        """Standard error of the difference at the last look, in sd."""
        return math.sqrt(1.0 / (self.cases * self.information_of_a_case(self.rounds)) + self.shared)

    @property
    def arms(self) -> ArmSizes:
        return ArmSizes(
            cases=self.cases,
            rounds=self.rounds,
            rounds_b=self.rounds if self.rounds_b is None else self.rounds_b,
            variance=1.0,
        )

    def errors(self, change: float) -> DifferenceVariances:
        """Standard errors of the difference at the last look, if the agent changed by `change`."""
        variances = difference_variances(self.arms, self.fall, change)
        return DifferenceVariances(
            believed=math.sqrt(variances.believed + self.shared),
            true=math.sqrt(variances.true + self.shared),
        )

    def times(self) -> tuple[float, ...]:
        """The information at each look, as a share of the last one's."""
        total = self.information_of_a_case(self.rounds)
        shares = (k / self.looks for k in range(1, self.looks))
        early = (self.information_of_a_case(self.rounds * share) / total for share in shares)
        return (*(round(t, _DIGITS) for t in early), 1.0)

    def boundaries(self, risks: Risks) -> Boundaries:
        information = self.information_of_a_case(self.rounds)
        surplus = find_surplus(information, self.rounds, self.planned or self.rounds)
        return boundaries(self.times(), risks.alpha, risks.beta, surplus)

    def drift(self, risks: Risks) -> float:
        """The change that is caught with probability 1 - beta, in standard errors at the end."""
        return caught_drift(self.boundaries(risks), risks.alpha, risks.beta)


def least_change(size: PlanSize, risks: Risks, tolerance: float = 0.0) -> float:
    """The smallest change, in sd, that is caught with probability 1 - beta and exceeds the
    tolerance; infinite if even the worst answers are not significant.
    """
    ways = size.cases * _log_ways(size.rounds, size.rounds_b or size.rounds)
    if -ways + math.log(0.5) > math.log(risks.alpha):
        return math.inf
    reserve = normal_quantile(1.0 - risks.beta)
    return least_fall(
        size.arms,
        size.fall,
        boundary=size.drift(risks) - reserve,
        reserve=reserve,
        tolerance=tolerance,
        shared=size.shared,
    )


def fewest_cases(size: PlanSize, risks: Risks) -> float:
    """The number of cases from which on the worst answers are significant."""
    needed = max(0.0, math.log(0.5) - math.log(risks.alpha))
    return needed / _log_ways(size.rounds, size.rounds_b or size.rounds)


def cases_for(change: float, size: PlanSize, risks: Risks) -> float:
    """The number of cases with which a change (in sd) is caught, all else as in `size`; infinite if
    the session effect alone hides it.
    """
    drift = size.drift(risks)
    return _least(lambda n: _catches(replace(size, cases=n), change, drift, risks))


def rounds_for(change: float, size: PlanSize, risks: Risks) -> float:
    """The number of rounds with which a change (in sd) is caught, all else as in `size`; infinite
    if no number is enough, because the baseline is too small or cases break at random.
    """
    drift = size.drift(risks)
    return _least(lambda r: _catches(replace(size, rounds=r), change, drift, risks))


def _catches(size: PlanSize, change: float, drift: float, risks: Risks) -> bool:
    error, reserve = size.errors(change), normal_quantile(1.0 - risks.beta)
    return (drift - reserve) * error.believed + reserve * error.true <= change


def _least(enough: Callable[[float], bool]) -> float:
    """The smallest amount that is enough, by bisection of its logarithm."""
    if not enough(10.0**_MOST):
        return math.inf
    return float(10.0 ** bisect(lambda power: not enough(10.0**power), -3.0, _MOST))


# Values and weights of a normal variable: Gauss-Hermite quadrature with three nodes.
_THREE = ((-math.sqrt(3.0), 1.0 / 6.0), (0.0, 2.0 / 3.0), (math.sqrt(3.0), 1.0 / 6.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEnds:
    """How a plan of looks ends for one true change. `stopped`: chance to have ended by each look.
    `caught`: chance that the change is called a regression.
    """

    stopped: tuple[float, ...]
    caught: float

    @property
    def mean_share(self) -> float:
        """The mean number of calls, as a share of those of the maximum."""
        return _mean_share(self.stopped)


def forecast_ends(
    size: PlanSize, risks: Risks, *, change: float, tolerance: float, both: bool = False
) -> PlanEnds:
    """How a plan ends if the agent is worse by `change`; `change` and `tolerance` are in sd.
    `both`: an improvement is waited for, too.

    A look finds a regression beyond its boundary, if the estimate also exceeds the tolerance
    (before the last look by a standard error more). It finds the run harmless beyond the futility
    boundary, or if the bound of the harm is within the tolerance.
    """
    plan, errors = size.boundaries(risks), size.errors(change)
    roots = [math.sqrt(t) for t in plan.times]
    allowed = tolerance / errors.believed  # this and all below: standard errors that are believed
    beyond = [allowed * root + 1.0 for root in roots[:-1]] + [allowed]
    reached = [max(h, bar) for h, bar in zip(plan.harm, beyond, strict=True)]
    doubt = normal_quantile(1.0 - strong_suspicion(risks.alpha))
    harmless = [
        min(max(futility, allowed * root - proof), max(doubt, allowed * root))
        for futility, proof, root in zip(plan.futility, plan.proof, roots, strict=True)
    ]
    drift = change / errors.believed
    far = [FAR + abs(drift) * root for root in roots]
    harm = tuple(map(min, reached, far))
    low = [*harmless[:-1], harm[-1]]  # the last look decides
    bounds = replace(plan, harm=harm, futility=tuple(map(min, low, harm)))
    # The variance that nobody believes in is of the change itself: which cases break is random.
    scatter = math.sqrt(max(0.0, errors.true**2 - errors.believed**2)) / errors.believed
    nodes = _THREE if scatter else ((0.0, 1.0),)
    truths = endings(bounds, [drift + node * scatter for node, _ in nodes], both=both)
    stopped, caught = np.zeros(len(roots)), 0.0
    for each, (_, weight) in zip(truths, nodes, strict=True):
        stopped += weight * np.cumsum([one.accused + one.acquitted for one in each])
        caught += weight * sum(one.accused for one in each)
    ended = np.minimum(1.0, stopped[:-1]).tolist()
    return PlanEnds(stopped=(*ended, 1.0), caught=min(1.0, caught))


def mean_share_of_all(plans: list[PlanEnds]) -> float:
    """The mean share of the calls until all of several independent metrics have ended. For metrics
    that change together it is smaller.
    """
    stopped = np.array([plan.stopped for plan in plans]).prod(axis=0)
    return _mean_share(tuple(stopped.tolist()))


@dataclass(frozen=True, slots=True, kw_only=True)
class WaldFloor:
    """The mean number of calls that every test needs at least, for an unchanged and a changed
    agent.
    """

    unchanged: float
    changed: float


def wald_floor(change: float, risks: Risks) -> WaldFloor:
    """The calls of the sequential probability ratio test (Wald 1947) against an endless baseline;
    `change` in sd.
    """
    a, b = risks.alpha, risks.beta
    unchanged = (1.0 - a) * math.log((1.0 - a) / b) + a * math.log(a / (1.0 - b))
    changed = (1.0 - b) * math.log((1.0 - b) / a) + b * math.log(b / (1.0 - a))
    return WaldFloor(unchanged=2.0 * unchanged / change**2, changed=2.0 * changed / change**2)


def _log_ways(rounds: float, rounds_b: float) -> float:
    """The logarithm of the number of ways to shuffle a case's rounds."""
    return math.lgamma(rounds + rounds_b + 1) - math.lgamma(rounds + 1) - math.lgamma(rounds_b + 1)


def _mean_share(stopped: tuple[float, ...]) -> float:
    """The mean share of the calls, from the chances to have ended at looks 1 to K."""
    return 1.0 - sum(stopped[:-1]) / len(stopped)
