"""Where a suite stands in its plan of looks, and what a look must show to end it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gate.analysis.pairing import Pairing
from gate.records import Sight
from gate.stats.boundaries import (
    Boundaries,
    boundaries,
    caught_drift,
    find_surplus,
    nominal,
)
from gate.verdict.suite_data import SuiteData

CLOSE = 1e-3  # of the cap
DIGITS = 6  # of a share of information: equal plans share their boundaries


@dataclass(frozen=True, slots=True, kw_only=True)
class LookPosition:
    """`times`: shares of the cap's information at each look, this one at `index`. `surplus`: of the
    information of the last look (gate.stats.boundaries).
    """

    times: tuple[float, ...] = (1.0,)
    index: int = 0
    surplus: float = 0.0
    cases: float = 1.0  # share of the cases that were asked so far
    fresh: bool = False  # the baseline is measured in the same run

    @property
    def last(self) -> bool:
        return self.index == len(self.times) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LookBoundary:
    """What this look asks for at one share of alpha: one-sided levels of a single test."""

    alpha: float
    harm: float  # p at or below it accuses
    futility: float  # p at or above it acquits
    proof: float  # of a bound that may prove that nothing got worse
    bounds: Boundaries
    position: LookPosition

    def sight(self, power: float, *, settled: bool) -> Sight:
        """What the whole plan could see; of a plan that was broken off, what was seen so far."""
        if settled:
            return Sight(
                drift=caught_drift(self.bounds, self.alpha, 1.0 - power),
                power=power,
                level=nominal(self.bounds.harm[-1]),
                share=self.position.times[self.position.index],
                cases=self.position.cases,
                fresh=self.position.fresh,
            )
        so_far = boundaries((1.0,), self.harm, 1.0 - power)
        fresh = self.position.fresh
        return Sight(drift=so_far.drift, power=power, level=self.harm, fresh=fresh)


def find_position(data: SuiteData, pairing: Pairing | None) -> LookPosition:
    """The fixed size where the suite has no looks; trials made between two looks are one, too."""
    if data.looks is None:
        return LookPosition(fresh=data.fresh)
    trials = max(1, data.made)
    # A look that almost coincides with this one has nothing of its own to spend.
    apart = (c for c in data.looks.calls if abs(c - trials) > data.looks.cap * CLOSE)
    calls = tuple(sorted({*apart, trials}))
    times, information = _information(calls, data, pairing)
    cases = max(1, data.chosen)
    return LookPosition(
        times=times,
        surplus=find_surplus(information, calls[-1] / cases, max(1, data.meta.rounds)),
        index=calls.index(trials),
        cases=min(1.0, trials / max(1, data.chosen)),
        fresh=data.fresh,
    )


def find_boundary(alpha: float, power: float, where: LookPosition) -> LookBoundary:
    """The boundary at one share of alpha; of a fixed size just that share, to the last digit."""
    plan = boundaries(where.times, alpha, 1.0 - power, where.surplus)
    only = len(where.times) == 1
    return LookBoundary(
        alpha=alpha,
        harm=alpha if only else nominal(plan.harm[where.index]),
        futility=alpha if only else nominal(plan.futility[where.index]),
        proof=nominal(plan.proof[where.index]),
        bounds=plan,
        position=where,
    )


def _information(
    calls: tuple[int, ...], data: SuiteData, pairing: Pairing | None
) -> tuple[tuple[float, ...], float]:
    """The information, sum R Rb / (R + Rb), after these numbers of trials, whichever cases of a
    round come first: as shares of the last, and the last of a case.
    """
    cases = max(1, data.chosen or len(data.current.cases))
    if pairing is None or not pairing.n_paired or data.fresh:  # no arm, or both arms grow alike
        return tuple(round(c / calls[-1], DIGITS) for c in calls), calls[-1] / cases / 2.0
    success = pairing.baseline.column("success")
    rounds_b = (~np.isnan(success)).sum(axis=1).astype(np.float64)
    if not rounds_b.any():
        rounds_b[:] = max(1, pairing.baseline.rounds)
    # A case without a value in the baseline brings no information.
    kinds, counts = np.unique(rounds_b[rounds_b > 0.0], return_counts=True)

    def information(trials: int) -> float:
        full, part = divmod(trials, cases)
        done, more = (float(counts @ (r * kinds / (r + kinds))) for r in (full, full + 1))
        return done + (more - done) * part / cases

    most = information(calls[-1])
    times = (*(round(information(c) / most, DIGITS) for c in calls[:-1]), 1.0)
    return times, most / counts.sum()
