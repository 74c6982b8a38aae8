"""How often a pull request is blocked, by how much its agent really fell, and the calls it takes.

    PYTHONPATH=. python benchmarks/blocked.py [--reps 1000] [--seed 1] [--jobs 2]
        [--suites 100x3] [--history 4] [--cap 2] [--drops 0,5,10]

Suites are cases x planned rounds. Main has `history` times the planned rounds, a run makes at most
`cap` times as many. `--drops` in points; half of them weaken all cases, half break a few. Alpha
1 %, tolerance 2 points.
"""

from __future__ import annotations

import functools
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from benchmarks.simulated_gate import Shape, answers, chances, dropped, judged, options
from gate.records import RegressionRules, Tolerance

RULES = RegressionRules(alpha=0.01, tolerance=Tolerance(value=0.02))
KINDS = ("spread", "break")
CHUNK = 50  # repetitions


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    shape: Shape
    drop: float  # of the success rate
    seed: int


def measure(first: int, *, cell: Cell) -> tuple[int, int]:
    """Of CHUNK repetitions, from number `first` on: how many were blocked, and their calls."""
    blocked = calls = 0
    shape = cell.shape
    for rep in range(first, first + CHUNK):
        rng = np.random.default_rng([cell.seed, shape.cases, shape.rounds, shape.history, rep])
        before = chances(rng, shape.cases)
        was = answers(rng, before, shape.history)
        after = dropped(rng, before, cell.drop, KINDS[rep % 2]) if cell.drop else before
        ended = judged(shape, was, answers(rng, after, shape.cap), RULES)
        blocked += ended.row.status == "regression"
        calls += ended.calls
    return blocked, calls


def main() -> None:
    parser = options(__doc__, reps=1000)
    parser.add_argument("--suites", default="100x3")
    parser.add_argument("--history", type=int, default=4)
    parser.add_argument("--cap", type=int, default=2)
    parser.add_argument("--drops", default="0,5,10")
    asked = parser.parse_args()
    print("| suite | drop, points | blocked % | calls |")
    print("|:--|--:|--:|--:|")
    with ProcessPoolExecutor(asked.jobs) as pool:
        for suite in asked.suites.split(","):
            cases, rounds = map(int, suite.split("x"))
            history, cap = asked.history * rounds, asked.cap * rounds
            shape = Shape(cases=cases, rounds=rounds, history=history, cap=cap)
            for points in map(float, asked.drops.split(",")):
                cell = Cell(shape=shape, drop=points / 100, seed=asked.seed)
                chunks = range(0, asked.reps, CHUNK)
                found = list(pool.map(functools.partial(measure, cell=cell), chunks))
                blocked, calls = np.sum(found, axis=0) / (CHUNK * len(found))
                print(
                    f"| {shape.said} | {points:g} | {100 * blocked:.1f} | {calls:.0f} |", flush=True
                )


if __name__ == "__main__":
    main()
