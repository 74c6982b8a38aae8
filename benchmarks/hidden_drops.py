"""What infrastructure errors do to a verdict: unchanged runs left open, drops that they hide.

    PYTHONPATH=. python benchmarks/hidden_drops.py [--reps 1000] [--seed 1] [--jobs 2]

Unchanged: errors at random on both sides. Hidden: the agent fell by 5 points, and the errors fall
on calls that would fail, beside main's own at random.
"""

from __future__ import annotations

import functools
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from benchmarks.simulated_gate import (
    Shape,
    answers,
    chances,
    dropped,
    judged,
    lost_at_random,
    lost_where_it_fails,
    options,
)
from gate.records import RegressionRules, Tolerance

RULES = RegressionRules(alpha=0.01, tolerance=Tolerance(value=0.02))
SUITE = Shape(cases=100, rounds=3, history=12, cap=6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Shares of calls that are lost: of main's and of this run's at random, of this run's where it
    fails.
    """

    drop: float
    main: float
    random: float
    hidden: float
    shape: Shape = SUITE


CELLS = (
    Cell(drop=0.0, main=0.0, random=0.0, hidden=0.0),
    Cell(drop=0.0, main=0.05, random=0.05, hidden=0.0),
    Cell(drop=0.0, main=0.10, random=0.10, hidden=0.0),
    Cell(drop=0.0, main=0.0, random=0.05, hidden=0.0),
    Cell(drop=0.05, main=0.0, random=0.0, hidden=0.0),
    *(Cell(drop=0.05, main=0.0, random=0.0, hidden=h) for h in (0.04, 0.05, 0.12)),
    *(Cell(drop=0.05, main=0.05, random=0.05, hidden=h) for h in (0.04, 0.05, 0.12)),
    *(Cell(drop=0.05, main=0.05, random=0.0, hidden=h) for h in (0.04, 0.05, 0.12)),
)


def measure(job: tuple[Cell, int, int], *, seed: int) -> Counter[str]:
    cell, start, reps = job
    found: Counter[str] = Counter()
    for rep in range(start, start + reps):
        rng = np.random.default_rng([seed, rep])
        p = chances(rng, cell.shape.cases)
        q = dropped(rng, p, cell.drop, ("spread", "break")[rep % 2]) if cell.drop else p
        was, now = answers(rng, p, cell.shape.history), answers(rng, q, cell.shape.cap)
        lost = lost_where_it_fails(rng, now, cell.hidden) if cell.hidden else np.isnan(now)
        lost |= lost_at_random(rng, now, cell.random)
        was = np.where(lost_at_random(rng, was, cell.main), np.nan, was)
        ended = judged(cell.shape, was, np.where(lost, np.nan, now), RULES)
        found[ended.outcome] += 1
        found["calls"] += ended.calls
    return found


def main() -> None:
    parser = options(__doc__, reps=1000)
    parser.add_argument("--cells", default="")
    asked = parser.parse_args()
    print("| drop | main loses | this run loses at random | and where it fails |", end="")
    print(" fail | inconclusive | pass | other | calls |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    start = time.perf_counter()
    cells = [CELLS[int(i)] for i in asked.cells.split(",")] if asked.cells else CELLS
    with ProcessPoolExecutor(asked.jobs) as pool:
        for cell in cells:
            step = max(1, asked.reps // 4)
            jobs = [(cell, rep, step) for rep in range(0, asked.reps, step)]
            parts = pool.map(functools.partial(measure, seed=asked.seed), jobs)
            found = sum(parts, Counter[str]())
            named = [found[name] for name in ("fail", "inconclusive", "pass")]
            shares = [*named, asked.reps - sum(named)]
            cut = " | ".join(f"{100 * n / asked.reps:.1f}" for n in shares)
            told = (cell.drop, cell.main, cell.random, cell.hidden)
            head = " | ".join(f"{100 * share:.0f} %" for share in told)
            print(f"| {head} | {cut} | {found['calls'] / asked.reps:.0f} |", flush=True)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
