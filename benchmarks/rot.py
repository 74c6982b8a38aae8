"""Slow rot: when main is called red, and how often a main that does not change is.

    PYTHONPATH=. python benchmarks/rot.py [--reps 1000] [--seed 1] [--cases 100] [--anchor release]

An anchor of five runs (`--anchor best`: which may follow main upwards). A year is 250 runs of an
unchanged main. Rot is ten merges that each cost 1.5 points, with 1 or 5 runs after each; it is
caught if main is red in one of the runs at 7.5 points or before. All calls of a run share a shift
with standard deviation tau. Case difficulties: half Beta(.5, .5), 35 % Beta(20, 1), 15 %
Beta(1, 20). Half of the falls weaken all cases, half break a few. 3 rounds, tolerance 2 points.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing import Pool

import numpy as np
import numpy.typing as npt

from gate.analysis.anchor import Watched
from gate.analysis.table import Table
from gate.records import MetricSpec, Tolerance
from gate.records.baseline import BaselineRun
from gate.store.baseline.anchor import RUNS, AnchorRules, MainRuns, follow_main

Array = npt.NDArray[np.float64]
SPEC = MetricSpec(name="agent.success_rate", column="success", family="rate", unit="share")
ROUNDS, NIGHTS, STEP, MERGES, CAUGHT = 3, 250, 0.015, 10, 5
NEVER = 10**9
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def first_red(
    number: int, *, seed: int, cases: int, falls: Sequence[float], tau: float, wanted: str
) -> int:
    """The run, from 0, in which main is first called red; NEVER if it is not. `falls`: how far main
    is below its first level in each run.
    """
    rng = np.random.default_rng([seed, number])
    chances, breaks = _chances(rng, cases), rng.random() < 0.5
    order = rng.permutation(cases)
    rules = AnchorRules(
        wanted=wanted, watched=(Watched(spec=SPEC, tolerance=Tolerance(value=0.02)),)
    )
    anchor, kept, values = None, [], np.zeros((cases, 0))
    levels = {
        fall: _break(chances, fall, order) if breaks else _weaken(chances, fall)
        for fall in set(falls)
    }
    for night, fall in enumerate(falls):
        day = _shift(levels[fall], rng.normal(0.0, tau)) if tau else levels[fall]
        passed = (rng.random((cases, ROUNDS)) < day[:, None]).astype(np.float64)
        run = _run(night, cases)
        before = MainRuns(table=_table(values), runs=tuple(kept))
        anchor = follow_main(before, anchor, _table(passed), run, rules)
        if anchor.header.falls:
            return night
        values = np.hstack([values, passed])[:, -(RUNS - 1) * ROUNDS :]
        kept = [*kept, run][-(RUNS - 1) :]
    return NEVER


def _chances(rng: np.random.Generator, cases: int) -> Array:
    kind = rng.random(cases)
    hard, easy = rng.beta(1, 20, cases), rng.beta(20, 1, cases)
    chances = np.where(kind < 0.5, rng.beta(0.5, 0.5, cases), np.where(kind < 0.85, easy, hard))
    return chances.clip(1e-6, 1 - 1e-6)


def _weaken(chances: Array, fall: float) -> Array:
    """All logits lower by as much as takes the mean down by `fall`."""
    logits, low, high = np.log(chances / (1.0 - chances)), -12.0, 12.0
    wanted = max(0.005, float(chances.mean()) - fall)
    for _ in range(40):
        middle = (low + high) / 2.0
        higher = (1.0 / (1.0 + np.exp(-(logits + middle)))).mean() >= wanted
        low, high = (low, middle) if higher else (middle, high)
    return 1.0 / (1.0 + np.exp(-(logits + low)))


def _break(chances: Array, fall: float, order: npt.NDArray[np.intp]) -> Array:
    """The first cases of the order fail, until the mean is down by `fall`."""
    broken, left = chances.copy(), fall * len(chances)
    for case in order:
        lost = min(float(broken[case]), max(0.0, left))
        broken[case] -= lost
        left -= lost
    return broken.clip(1e-6, 1 - 1e-6)


def _shift(chances: Array, shift: float) -> Array:
    """All logits by one amount that moves the mean by about `shift`."""
    slope = max(0.02, float((chances * (1.0 - chances)).mean()))
    return 1.0 / (1.0 + np.exp(-(np.log(chances / (1.0 - chances)) + shift / slope)))


def _table(values: Array) -> Table:
    ids = tuple(f"c{number:04d}" for number in range(len(values)))
    return Table(
        suite="s",
        cases=ids,
        digests=ids,
        rounds=values.shape[1],
        columns={"success": values},
        specs={SPEC.name: SPEC},
    )


def _run(night: int, cases: int) -> BaselineRun:
    return BaselineRun(
        session_id=f"r{night}",
        commit=None,
        created_at=(BEGAN + timedelta(days=night)).isoformat(),
        rounds=ROUNDS,
        kept=ROUNDS,
        cases=cases,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reps", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--anchor", default="release")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--tau", type=float, nargs="+", default=[0.0, 0.5, 1.0, 2.0], help="points")
    options = parser.parse_args()
    level = [0.0] * RUNS
    with Pool(options.processes) as pool:

        def red(falls: list[float], tau: float) -> Array:
            simulate = partial(
                first_red,
                seed=options.seed,
                cases=options.cases,
                falls=falls,
                tau=tau,
                wanted=options.anchor,
            )
            return np.array(pool.map(simulate, range(options.reps), chunksize=4))

        for points in options.tau:
            tau = points / 100.0
            years = 100 * (red(level + [0.0] * NIGHTS, tau) < NEVER).mean()
            print(f"tau {points:g}: {years:.1f} % of years red", flush=True)
            for runs in (1, 5):
                falls = [STEP * merge for merge in range(1, MERGES + 1) for _ in range(runs)]
                caught = 100 * (red(level + falls, tau) < RUNS + CAUGHT * runs).mean()
                print(f"  {runs} runs a merge: {caught:.1f} % red by 7.5 points", flush=True)


if __name__ == "__main__":
    main()
