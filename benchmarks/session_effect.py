"""False alarms and power when runs share a session effect, with it counted in and without.

    PYTHONPATH=. python benchmarks/session_effect.py [--reps 1000] [--seed 1] [--runs 5,10,20]

Main ran `runs` times, 300 cases x 3 rounds, the values of the newest 5 runs and the means of all
are stored; a pull request that changed nothing (or lowered success) runs once. All calls of a run
share a shift with standard deviation tau of the suite's success. Case difficulties: half
Beta(.5, .5), 35 % Beta(20, 1), 15 % Beta(1, 20). Blocked: one-sided p <= 1 % and a drop of
2 points.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.analysis.estimates import family_of
from gate.analysis.pooling import pool
from gate.analysis.table import Table
from gate.records import MetricSpec, Tolerance
from gate.records.baseline import BaselineRun

Array = npt.NDArray[np.float64]
SPEC = MetricSpec(name="agent.success_rate", column="success", family="rate", unit="share")
CASES, ROUNDS, KEPT = 300, 3, 5
ALPHA, TOLERANCE = 0.01, 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Shares of the repetitions."""

    without: float  # blocked, all kept runs pooled, the session effect ignored
    counted: float  # blocked, as the gate does it
    cut: float  # pools that ended too early or too late
    noticed: float  # a session effect was found


def simulate(
    *, tau: float, drop: float, runs: int, reps: int, seed: int, step: float = 0.0, at: int = 0
) -> Seen:
    """`step`: success of all but the newest `at` runs was higher by so much."""
    tally = np.zeros(4)
    for number in range(reps):
        rng = np.random.default_rng([seed, number, runs])
        logits = _logits(rng)
        levels = [step if at and r < runs - at else 0.0 for r in range(runs)]
        past = [_run(rng, logits, rng.normal(0.0, tau) + level) for level in levels]
        now = _run(rng, logits, rng.normal(0.0, tau) - drop)
        found = pool(*_stored(past))
        everything = np.hstack(past[-(at or KEPT) :][-KEPT:])
        tally += (
            _blocked(everything, now, 0.0),
            _blocked(found.table.column("success"), now, found.drift.get(SPEC.name, 0.0)),
            len(found.runs) != min(KEPT, runs, at or KEPT),
            SPEC.name in found.drift,
        )
    without, counted, cut, noticed = (float(x) for x in tally / reps)
    return Seen(without=without, counted=counted, cut=cut, noticed=noticed)


def _logits(rng: np.random.Generator) -> Array:
    kind = rng.random(CASES)
    hard, easy = rng.beta(1, 20, CASES), rng.beta(20, 1, CASES)
    chance = np.where(
        kind < 0.5, rng.beta(0.5, 0.5, CASES), np.where(kind < 0.85, easy, hard)
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
    return (rng.random((CASES, ROUNDS)) < shifted[:, None]).astype(np.float64)


def _stored(past: list[Array]) -> tuple[Table, list[BaselineRun]]:
    ids = tuple(f"c{i:03d}" for i in range(CASES))
    kept = past[-KEPT:]
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
            kept=ROUNDS if number >= len(past) - KEPT else 0,
            cases=CASES,
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
    parser.add_argument("--runs", default="5,10,20")
    options = parser.parse_args()
    print("runs  tau   drop  step   blocked %: without / counted in   pool wrong %  effect seen %")
    for runs in map(int, options.runs.split(",")):
        cells = [(tau, 0.0, 0.0, 0) for tau in (0.0, 0.005, 0.01, 0.02)]
        cells += [(0.0, drop, 0.0, 0) for drop in (0.03, 0.05)]
        cells += [(0.0, 0.05, 0.1, 2)]
        for tau, drop, step, at in cells:
            size = {"runs": runs, "reps": options.reps, "seed": options.seed}
            seen = simulate(tau=tau, drop=drop, step=step, at=at, **size)
            print(
                f"{runs:4d} {100 * tau:4.1f} {100 * drop:6.1f} {100 * step:5.0f}"
                f" {100 * seen.without:15.1f} / {100 * seen.counted:<14.1f}"
                f" {100 * seen.cut:13.1f} {100 * seen.noticed:14.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
