"""How often the printed intervals of a p95 miss, by simulation, in percent of the runs.

    PYTHONPATH=. python benchmarks/p95_coverage.py [--reps 4000] [--seed 1] [--jobs 2]

Latencies are log-normal: cases differ by a factor exp(`apart`), the calls of one case by
exp(`within`), one standard deviation each; a slower agent takes 22 % longer. Each bound is counted
by itself, lower / upper: of the 98 % interval of the change, in milliseconds and relative to main
(1 % allowed), and of the 95 % interval of the run's own p95 (2.5 %), each for the p95 of these very
cases.
"""

from __future__ import annotations

import functools
import itertools
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from benchmarks.simulated_gate import Array, options
from gate.analysis.metrics.quantile import Quantile
from gate.records import MetricSpec, Tolerance

SUITES, HISTORIES, SLOWER = ((40, 3), (100, 3), (300, 1)), (1, 4), (0.0, 0.2)
SPREADS = ((0.5, 0.4), (0.2, 0.6))  # apart, within
P95 = Quantile(q=0.95)
SPEC = MetricSpec(
    name="operational.p95_latency_ms",
    column="latency_ms",
    family="quantile",
    direction="lower",
    low=0.0,
    high=None,
)
ALPHA = 0.01  # of each bound of a change
GRID = np.array([NormalDist().inv_cdf((i + 0.5) / 999) for i in range(999)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    cases: int
    rounds: int
    history: int
    slower: float  # on the logarithm
    apart: float
    within: float

    @property
    def said(self) -> str:
        spread = f"{self.apart} / {self.within}"
        return f"{self.cases}x{self.rounds} | {self.history} | {self.slower:g} | {spread}"


def measure(cell: Cell, *, reps: int, seed: int) -> Array:
    """Lower and upper bound: of the change in ms, of the relative change, of the run's own p95."""
    scale = (cell.slower, cell.apart, cell.within)
    rng = np.random.default_rng([seed, cell.cases, cell.history, *(int(100 * x) for x in scale)])
    missed = np.zeros((3, 2))
    for _ in range(reps):
        level = rng.normal(0.0, cell.apart, (cell.cases, 1))
        noise = rng.standard_normal((cell.cases, cell.rounds * (cell.history + 1)))
        calls = np.exp(level + cell.within * noise)
        was, now = calls[:, cell.rounds :], calls[:, : cell.rounds] * np.exp(cell.slower)
        before = float(np.quantile(np.exp(level + cell.within * GRID), 0.95))
        after = before * float(np.exp(cell.slower))
        truths = (after - before, after / before - 1.0)
        for place, truth in enumerate(truths):
            allowed = Tolerance(value=0.2, relative=place == 1)
            low, high = P95.compare(was, now, SPEC, tolerance=allowed).bounds(ALPHA)
            missed[place] += (truth < low, truth > high)
        own = P95.interval(now, SPEC, confidence=0.95)
        assert own is not None
        missed[2] += (after < own.low, after > own.high)
    return 100 * missed / reps


def main() -> None:
    asked = options(__doc__, reps=4000).parse_args()
    cells = [
        Cell(cases=n, rounds=r, history=h, slower=slower, apart=apart, within=within)
        for (n, r), h, slower, (apart, within) in itertools.product(
            SUITES, HISTORIES, SLOWER, SPREADS
        )
    ]
    print("| suite | main x | slower | apart / within | change, ms | change, relative | own p95 |")
    print("|:--|--:|--:|:--|--:|--:|--:|")
    worst = np.zeros((3, 2))
    one = functools.partial(measure, reps=asked.reps, seed=asked.seed)
    with ProcessPoolExecutor(asked.jobs) as pool:
        for cell, missed in zip(cells, pool.map(one, cells), strict=True):
            figures = " | ".join(f"{low:.2f} / {high:.2f}" for low, high in missed)
            print(f"| {cell.said} | {figures} |", flush=True)
            worst = np.maximum(worst, missed)
    print("worst:", " | ".join(f"{low:.2f} / {high:.2f}" for low, high in worst))


if __name__ == "__main__":
    main()
