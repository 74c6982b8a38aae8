"""How often one-sided bounds miss, by simulation: at nominal 5 %, at most 5 % of the runs.

    PYTHONPATH=. python benchmarks/coverage.py [--reps 20000] [--seed 1] [--jobs 2] [--alpha .05]
                                               [--suites 10x5,40x3] [--histories 1,4]

Two bounds, both from the code that `gate run` calls: of the difference to the baseline, against the
true difference of these very cases, mean(q - p); and of the current mean, which gates against
numbers use, against mean(q). `low` missed: it lay above the truth; `high`: below it.

Cases pass with chance p: half of them Beta(.5, .5), 35 % Beta(20, 1), 15 % Beta(1, 20). The
baseline has HISTORY x as many rounds. A drop either weakens every case (spread: a shift of the
log-odds) or breaks a few of them for good (break). Exit code 1 when a bound misses too often.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.simulated_gate import chances, find_shift, options, weakened
from gate.analysis.metrics.rate import Rate
from gate.records import MetricSpec, Tolerance

Array = npt.NDArray[np.float64]
SUITES = "10x5,40x3,100x3,300x1"
CHANGES = (("none", 0.0), ("spread", 0.05), ("spread", 0.10), ("break", 0.05), ("break", 0.10))
AT_ONCE = 1000  # simulated runs that are in memory together
PASSES = MetricSpec(name="agent.success_rate", column="success", family="rate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    cases: int
    rounds: int
    history: int
    kind: str
    drop: float

    @property
    def suite(self) -> str:
        return f"{self.cases}x{self.rounds}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Misses:
    """Shares of the runs in which a bound lay on the wrong side of the truth."""

    difference_low: float
    difference_high: float
    mean_low: float
    mean_high: float

    @property
    def worst(self) -> float:
        return max(self.difference_low, self.difference_high, self.mean_low, self.mean_high)


@functools.cache
def typical() -> Array:
    """Chances of many cases, to turn a drop of the mean into a shift or a share of cases."""
    return chances(np.random.default_rng(0), (400_000,))


@functools.cache
def shift_for(drop: float) -> float:
    return find_shift(typical(), drop)


def after(rng: np.random.Generator, p: Array, cell: Cell) -> Array:
    """The chances of the current agent."""
    if cell.kind == "none":
        return p
    if cell.kind == "spread":
        return weakened(p, shift_for(cell.drop))
    return np.where(rng.random(p.shape) < cell.drop / float(typical().mean()), 0.0, p)


def runs(cell: Cell, seed: int, reps: int) -> Iterator[tuple[Array, Array, float, float]]:
    """Baseline, current (cases x rounds), true difference, true mean."""
    key = (seed, cell.cases, cell.rounds, cell.history, len(cell.kind), round(1000 * cell.drop))
    rng = np.random.default_rng(key)
    for start in range(0, reps, AT_ONCE):
        number = min(AT_ONCE, reps - start)
        p = chances(rng, (number, cell.cases, 1))
        q = after(rng, p, cell)
        was = rng.random((number, cell.cases, cell.rounds * cell.history)) < p
        now = rng.random((number, cell.cases, cell.rounds)) < q
        for b, c, one_p, one_q in zip(was, now, p, q, strict=True):
            truth = float((one_q - one_p).mean()), float(one_q.mean())
            yield b.astype(np.float64), c.astype(np.float64), *truth


def measure(cell: Cell, *, seed: int, reps: int, alpha: float) -> Misses:
    missed = np.zeros(4)
    for baseline, current, difference, mean in runs(cell, seed, reps):
        evidence = Rate().compare(baseline, current, PASSES, tolerance=Tolerance(value=0.0))
        low, high = evidence.bounds(alpha)
        of_mean = Rate().interval(current, PASSES, confidence=1.0 - 2.0 * alpha)
        missed += (low > difference, high < difference, of_mean.low > mean, of_mean.high < mean)
    shares = (missed / reps).tolist()
    return Misses(
        difference_low=shares[0],
        difference_high=shares[1],
        mean_low=shares[2],
        mean_high=shares[3],
    )


def main() -> int:
    parser = options(__doc__, reps=20_000)
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--suites", default=SUITES)
    parser.add_argument("--histories", default="1,4")
    asked = parser.parse_args()
    cells = [
        Cell(cases=int(cases), rounds=int(rounds), history=int(history), kind=kind, drop=drop)
        for cases, rounds in (suite.split("x") for suite in asked.suites.split(","))
        for history in asked.histories.split(",")
        for kind, drop in CHANGES
    ]
    one = functools.partial(measure, seed=asked.seed, reps=asked.reps, alpha=asked.alpha)
    start = time.perf_counter()
    print(f"Misses in % of {asked.reps} runs, nominal {asked.alpha:.1%} a side, seed {asked.seed}")
    print()
    print("| suite | main x | drop | difference: low | high | mean: low | high | |")
    print("|:--|--:|:--|--:|--:|--:|--:|:--|")
    worst = 0.0
    with ProcessPoolExecutor(asked.jobs) as pool:
        for cell, found in zip(cells, pool.map(one, cells), strict=True):
            drop = f"{cell.drop:.0%} {cell.kind}" if cell.drop else "none"
            shares = (found.difference_low, found.difference_high, found.mean_low, found.mean_high)
            row = " | ".join(f"{share:.2%}"[:-1] for share in shares)
            mark = "misses" if found.worst > asked.alpha else ""
            print(f"| {cell.suite} | {cell.history} | {drop} | {row} | {mark} |", flush=True)
            worst = max(worst, found.worst)
    print(f"\nworst: {worst:.2%}; {time.perf_counter() - start:.0f} s")
    return int(worst > asked.alpha)


if __name__ == "__main__":
    sys.exit(main())
