"""False alarms and power when runs share a session effect, with it counted in and without.

    PYTHONPATH=. python benchmarks/session_effect.py [--reps 1000] [--seed 1] [--jobs 2]
        [--runs 5,10,20] [--cases 300]

An agent that did not change is simulated four times as often: its shares are small.

Main ran `runs` times, each case 3 times. The values of as many runs are stored as a baseline file
keeps (the newest 5 of 300 cases, 16 of 100) and the means of all; a pull request that changed
nothing (or lowered success) runs once, without looks. All calls of a run share a shift with
standard deviation tau of the suite's success. Case difficulties: half Beta(.5, .5), 35 %
Beta(20, 1), 15 % Beta(1, 20). Blocked: one-sided p <= 1 % and a drop of 2 points.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pool

import numpy as np
import numpy.typing as npt

from gate.analysis.estimates import family_of
from gate.analysis.pooling import pool
from gate.analysis.table import Table
from gate.records import MetricSpec, Tolerance
from gate.records.baseline import BaselineRun
from gate.records.settings import BaselineRules

Array = npt.NDArray[np.float64]
SPEC = MetricSpec(name="agent.success_rate", column="success", family="rate", unit="share")
ROUNDS = 3
ALPHA, TOLERANCE = 0.01, 0.02
CHUNK = 50  # repetitions


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What is true, in shares of the suite's success: `tau` between runs; `drop` of the pull
    request; `step` that main fell by, `at` runs ago; `trend` that main lost a run in its last
    ten.
    """

    tau: float = 0.0
    drop: float = 0.0
    step: float = 0.0
    at: int = 0
    trend: float = 0.0

    @property
    def unchanged(self) -> bool:
        return not (self.drop or self.step or self.trend)

    def level(self, age: int) -> float:
        """Of the run that has `age` newer ones, above the newest."""
        return (self.step if self.at and age >= self.at else 0.0) + self.trend * min(age, 9)


@dataclass(frozen=True, slots=True)
class Seen:
    """Shares of the repetitions."""

    without: float  # blocked, all kept runs pooled, the session effect ignored
    counted: float  # blocked, as the gate does it
    cut: float  # pools that ended too early or too late
    noticed: float  # a session effect was allowed for


def simulate(first: int, *, world: World, runs: int, cases: int, seed: int) -> Array:
    """How many of CHUNK repetitions, from number `first` on, show what `Seen` has, in its order."""
    tally, kept = np.zeros(4), runs_kept(cases)
    for number in range(first, first + CHUNK):
        rng = np.random.default_rng([seed, number, runs])
        logits = _logits(rng, cases)
        levels = [world.level(age) for age in reversed(range(runs))]
        past = [_run(rng, logits, rng.normal(0.0, world.tau) + level) for level in levels]
        now = _run(rng, logits, rng.normal(0.0, world.tau) - world.drop)
        found = pool(*_stored(past, kept))
        everything = np.hstack(past[-(world.at or kept) :][-kept:])
        tally += (
            _blocked(everything, now, 0.0),
            _blocked(found.table.column("success"), now, found.drift.get(SPEC.name, 0.0)),
            len(found.runs) != min(kept, runs, world.at or kept),
            SPEC.name in found.drift,
        )
    return tally


def runs_kept(cases: int) -> int:
    """Runs of main whose values a baseline file keeps: 16 of 100 cases, 5 of 300."""
    return BaselineRules().rounds_to_keep(cases=cases, rounds=ROUNDS) // ROUNDS


def _logits(rng: np.random.Generator, cases: int) -> Array:
    kind = rng.random(cases)
    hard, easy = rng.beta(1, 20, cases), rng.beta(20, 1, cases)
    chance = np.where(
        kind < 0.5, rng.beta(0.5, 0.5, cases), np.where(kind < 0.85, easy, hard)
    ).clip(1e-6, 1 - 1e-6)
    return np.log(chance / (1.0 - chance))


def _run(rng: np.random.Generator, logits: Array, shift: float) -> Array:
    """One run whose expected success is `shift` higher, by one shift of all logits."""
    chance = 1.0 / (1.0 + np.exp(-logits))
    wanted, low, high = chance.mean() + shift, -8.0, 8.0
    for _ in range(25):
        middle = (low + high) / 2.0
        shifted = 1.0 / (1.0 + np.exp(-(logits + middle)))
        low, high = (middle, high) if shifted.mean() < wanted else (low, middle)
    return (rng.random((len(logits), ROUNDS)) < shifted[:, None]).astype(np.float64)


def _stored(past: list[Array], most: int) -> tuple[Table, list[BaselineRun]]:
    ids = tuple(f"c{i:03d}" for i in range(len(past[0])))
    kept = past[-most:]
    table = Table(
        suite="s",
        cases=ids,
        digests=ids,
        rounds=ROUNDS * len(kept),
        columns={"success": np.hstack(kept)},
        specs={SPEC.name: SPEC},
    )
    runs = [
        BaselineRun(
            session_id=f"r{number:02d}",
            commit=None,
            created_at="2026-01-01",
            rounds=ROUNDS,
            kept=ROUNDS if number >= len(past) - most else 0,
            cases=len(values),
            means={SPEC.name: float(values.mean())},
        )
        for number, values in enumerate(past)
    ]
    return table, runs


def _blocked(baseline: Array, now: Array, drift: float) -> bool:
    evidence = family_of(SPEC).compare(
        baseline, now, SPEC, tolerance=Tolerance(value=TOLERANCE), drift=drift
    )
    return evidence.p_worse <= ALPHA and evidence.delta <= -TOLERANCE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--runs", default="5,10,20")
    parser.add_argument("--cases", type=int, default=300)
    options = parser.parse_args()
    print("runs  tau   drop  step trend  blocked %: without / counted in  pool wrong %  allowed %")
    worlds = [World(tau=tau) for tau in (0.0, 0.005, 0.01, 0.02)]
    worlds += [World(drop=drop) for drop in (0.03, 0.05)]
    worlds += [World(drop=0.05, step=0.1, at=2)]
    worlds += [World(drop=drop, trend=0.015) for drop in (0.0, 0.05)]
    with Pool(options.jobs) as jobs:
        for runs in map(int, options.runs.split(",")):
            for world in worlds:
                reps = options.reps * (4 if world.unchanged else 1)
                ask = partial(
                    simulate, world=world, runs=runs, cases=options.cases, seed=options.seed
                )
                tallies = jobs.map(ask, range(0, reps, CHUNK), chunksize=1)
                seen = Seen(*(np.sum(tallies, axis=0) / (CHUNK * len(tallies))).tolist())
                print(
                    f"{runs:4d} {100 * world.tau:4.1f} {100 * world.drop:6.1f}"
                    f" {100 * world.step:5.0f} {100 * world.trend:5.1f}"
                    f" {100 * seen.without:15.1f} / {100 * seen.counted:<14.1f}"
                    f" {100 * seen.cut:13.1f} {100 * seen.noticed:10.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
