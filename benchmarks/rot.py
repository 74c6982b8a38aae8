"""Slow rot: when main is called red, and how often a main that does not change is.

    PYTHONPATH=. python benchmarks/rot.py [--reps 1000] [--seed 1] [--cases 100] [--anchor release]
    PYTHONPATH=. python benchmarks/rot.py --check 20

An anchor of five runs (`--anchor best`: which may follow main upwards). A year is 250 runs of an
unchanged main. Rot is ten merges that each cost 1.5 points, with 1 or 5 runs after each; it is
caught if main is red in one of the runs at 7.5 points or before. All calls of a run share a shift
with standard deviation tau. Case difficulties: half Beta(.5, .5), 35 % Beta(20, 1), 15 %
Beta(1, 20). Half of the falls weaken all cases, half break a few. 3 rounds, tolerance 2 points.

The gate stores and reads a baseline file each night, which takes ten times as long as its tests.
So the histories are judged by its tests alone; `--check N` has N histories of each kind judged by
the gate, too, and names those that end differently.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing import Pool

import numpy as np
import numpy.typing as npt

from gate.analysis.anchor import LEVEL, WINDOWS, Watched, session_variance
from gate.analysis.table import Table
from gate.records import Evidence, MetricSpec, Tolerance
from gate.records.baseline import BaselineRun, RunSteps
from gate.stats.change import ChangeQuestion, change_in_mean
from gate.store.baseline.anchor import BETTER, RUNS, WORSE, AnchorRules, MainRuns, follow_main

Array = npt.NDArray[np.float64]
SPEC = MetricSpec(name="agent.success_rate", column="success", family="rate", unit="share")
ROUNDS, NIGHTS, STEP, MERGES, CAUGHT = 3, 250, 0.015, 10, 5
TOLERANCE = 0.02
NEVER = 10**9
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """`falls`: how far main is below its first level in each run."""

    cases: int
    falls: tuple[float, ...]
    tau: float
    wanted: str  # release, best

    def draw(self, number: int, seed: int) -> list[Array]:
        """The answers of each run, cases x rounds: 1 passed, 0 failed."""
        rng = np.random.default_rng([seed, number])
        chances, breaks = _chances(rng, self.cases), rng.random() < 0.5
        order = rng.permutation(self.cases)
        levels = {
            fall: _break(chances, fall, order) if breaks else _weaken(chances, fall)
            for fall in set(self.falls)
        }
        runs = []
        for fall in self.falls:
            day = levels[fall]
            if self.tau:
                day = _shift(day, rng.normal(0.0, self.tau))
            runs.append((rng.random((self.cases, ROUNDS)) < day[:, None]).astype(np.float64))
        return runs


# --------------------------------------------------------------------- by the tests of the gate


def first_red(number: int, *, seed: int, world: World) -> int:
    """The run, from 0, in which main is first called red; NEVER if it is not."""
    runs = world.draw(number, seed)
    anchor, steps, better_since = (0, RUNS), RunSteps(), 0
    for night in range(1, len(runs)):
        change = runs[night].mean(axis=1) - runs[night - 1].mean(axis=1)
        steps = RunSteps(
            count=steps.count + 1,
            squares=steps.squares + float(change.mean()) ** 2,
            noise=steps.noise + float(change.var(ddof=1)) / len(change),
        )
        end = night + 1
        if world.wanted == "best" and end - (better_since or anchor[1]) >= RUNS:
            later = (end - RUNS, end)
            if not better_since:
                seen = _compare(runs, anchor, later, steps)
                better_since = end if seen.p_better <= BETTER else 0
            else:
                if _compare(runs, anchor, later, steps).p_worse > WORSE:
                    anchor = later
                better_since = 0
        if _is_red(runs, anchor, end, steps):
            return night
    return NEVER


def _is_red(runs: list[Array], anchor: tuple[int, int], end: int, steps: RunSteps) -> bool:
    before = float(np.mean(runs[anchor[0] : anchor[1]]))
    for window in WINDOWS:
        if end - window < anchor[1]:
            return False
        if float(np.mean(runs[end - window : end])) - before > 1e-9 - TOLERANCE:
            continue  # within the tolerance, whatever the test says
        if _compare(runs, anchor, (end - window, end), steps).p_worse <= LEVEL:
            return True
    return False


def _compare(
    runs: list[Array], then: tuple[int, int], now: tuple[int, int], steps: RunSteps
) -> Evidence:
    shares = 1.0 / (then[1] - then[0]) + 1.0 / (now[1] - now[0])
    question = ChangeQuestion(
        direction="higher", span=1.0, worst=0.0, drift=session_variance(steps) * shares
    )
    before, after = np.hstack(runs[slice(*then)]), np.hstack(runs[slice(*now)])
    return change_in_mean(before, after, question)


# ----------------------------------------------------------------------------------- by the gate


def first_red_by_gate(number: int, *, seed: int, world: World) -> int:
    """The same, by the code that follows main in a baseline file."""
    rules = AnchorRules(
        wanted=world.wanted,
        watched=(Watched(spec=SPEC, tolerance=Tolerance(value=TOLERANCE)),),
    )
    kept: list[BaselineRun] = []
    anchor, values = None, np.zeros((world.cases, 0))
    for night, passed in enumerate(world.draw(number, seed)):
        run = _run(night, world.cases)
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
    parser.add_argument("--check", type=int, help="histories that the gate judges, too")
    options = parser.parse_args()
    differ = 0
    with Pool(options.processes) as pool:

        def red(falls: Sequence[float], points: float) -> Array:
            nonlocal differ
            level = (0.0,) * RUNS
            world = World(
                cases=options.cases,
                falls=(*level, *falls),
                tau=points / 100.0,
                wanted=options.anchor,
            )
            numbers = range(options.check or options.reps)
            ask = partial(first_red, seed=options.seed, world=world)
            found = np.array(pool.map(ask, numbers, chunksize=4))
            if options.check:
                by_gate = partial(first_red_by_gate, seed=options.seed, world=world)
                differ += int((found != np.array(pool.map(by_gate, numbers, chunksize=1))).sum())
            return found

        for points in options.tau:
            years = 100 * (red([0.0] * NIGHTS, points) < NEVER).mean()
            print(f"tau {points:g}: {years:.1f} % of years red", flush=True)
            for runs in (1, 5):
                falls = [STEP * merge for merge in range(1, MERGES + 1) for _ in range(runs)]
                caught = 100 * (red(falls, points) < RUNS + CAUGHT * runs).mean()
                print(f"  {runs} runs a merge: {caught:.1f} % red by 7.5 points", flush=True)
    if options.check:
        sys.exit(f"{differ} histories end differently by the gate" if differ else 0)


if __name__ == "__main__":
    main()
