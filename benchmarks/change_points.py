"""False alarms and power of the change points that `gate history` names.

    PYTHONPATH=. python benchmarks/change_points.py [--reps 2000] [--seed 1]

A suite of `cases` x 3 rounds is run `runs` times. Case difficulties: half Beta(.5, .5), 35 %
Beta(20, 1), 15 % Beta(1, 20). All calls of a run share a shift of standard deviation tau (points of
success; percent of the cost). Costs are log-normal (sigma 0.5 a call), the day's shift of them has
Student's t with 3 degrees of freedom. Percent of series in which anything was named, at alpha 1 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gate.stats.change_points import chance_noise, change_points

Array = npt.NDArray[np.float64]
ROUNDS, ALPHA = 3, 0.01


def difficulties(rng: np.random.Generator, cases: int) -> Array:
    kind = rng.random(cases)
    return np.where(
        kind < 0.5,
        rng.beta(0.5, 0.5, cases),
        np.where(kind < 0.85, rng.beta(20, 1, cases), rng.beta(1, 20, cases)),
    )


def successes(rng: np.random.Generator, cases: int, shifts: Array) -> Array:
    p = difficulties(rng, cases)
    chances = np.clip(p[None, :] + shifts[:, None], 0.0, 1.0)
    return rng.binomial(ROUNDS, chances).sum(axis=1) / (cases * ROUNDS)


def costs(rng: np.random.Generator, cases: int, shifts: Array) -> Array:
    calls = rng.lognormal(-6.0, 0.5, (len(shifts), cases * ROUNDS))
    return calls.mean(axis=1) * np.exp(shifts)


def steps(rng: np.random.Generator, cases: int, shifts: Array) -> Array:
    base = rng.integers(1, 5, cases)
    more = rng.random((len(shifts), cases, ROUNDS)) < 0.2
    return (base[None, :, None] + more).mean(axis=(1, 2)) * (1.0 + shifts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """`low`: the first run of the worse level and the one after its last."""

    metric: Callable[[np.random.Generator, int, Array], Array] = successes
    cases: int = 100
    runs: int = 20
    tau: float = 0.0
    alike: float = 0.0  # how far a day's shift is that of the day before
    drop: float = 0.0
    low: tuple[int, int] = (0, 0)

    def draw(self, rng: np.random.Generator) -> Array:
        heavy = self.metric is costs
        days = rng.standard_t(3, self.runs) if heavy else rng.normal(size=self.runs)
        for n in range(1, self.runs):
            days[n] = self.alike * days[n - 1] + (1.0 - self.alike**2) ** 0.5 * days[n]
        shifts = self.tau * days
        shifts[slice(*self.low)] -= self.drop
        return self.metric(rng, self.cases, shifts)

    def named(self, reps: int, seed: int) -> float:
        """Percent of series in which a change is named."""
        share, hits = self.metric is successes, 0
        for number in range(reps):
            values = self.draw(np.random.default_rng([seed, number])).tolist()
            calls = [self.cases * ROUNDS] * len(values)
            noise = chance_noise(float(np.mean(values)), calls, share=share)
            hits += bool(change_points(values, noise, alpha=ALPHA))
        return 100.0 * hits / reps


def false_alarms(reps: int, seed: int) -> None:
    print("nothing changed: runs 5, 10, 20")
    for cases in (10, 100):
        for label, series in (
            ("success, tau 0", Series()),
            ("success, tau 2", Series(tau=0.02)),
            ("success, tau 2, days alike (.5)", Series(tau=0.02, alike=0.5)),
            ("steps, tau 0", Series(metric=steps)),
            ("steps, tau 5 %", Series(metric=steps, tau=0.05)),
            ("cost, tau 10 % (t3)", Series(metric=costs, tau=0.10)),
        ):
            found = (replace(series, cases=cases, runs=runs) for runs in (5, 10, 20))
            cells = " ".join(f"{one.named(reps, seed):5.2f}" for one in found)
            print(f"  {cases:>4} cases  {label:<32} {cells}", flush=True)


def power(reps: int, seed: int) -> None:
    print("success of 100 cases fell by 5, 10, 20 points")
    for label, runs, low in (
        ("6 runs, the last 3", 6, (3, 6)),
        ("10 runs, the last 5", 10, (5, 10)),
        ("20 runs, the last 10", 20, (10, 20)),
        ("20 runs, the last 3", 20, (17, 20)),
        ("20 runs, 4 in the middle", 20, (8, 12)),
    ):
        for tau in (0.0, 0.01):
            series = (Series(runs=runs, tau=tau, low=low, drop=d) for d in (0.05, 0.10, 0.20))
            cells = " ".join(f"{one.named(reps, seed):5.1f}" for one in series)
            print(f"  {label:<26} tau {100 * tau:.0f}   {cells}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    false_alarms(given.reps, given.seed)
    power(max(200, given.reps // 5), given.seed)
