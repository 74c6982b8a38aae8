"""The interval and the estimate of a change after runs that may end early, by simulation.

    PYTHONPATH=. python benchmarks/early_end.py [--reps 4000] [--seed 1] [--jobs 2]
        [--suites 10x5,40x3,100x3,300x1] [--history 4] [--cap 2] [--also]

Cases and drops are those of the other simulations. The interval is that of a report, 98 %: each
bound may be wrong in 1 % of the runs. `width`: to that of a run of a fixed size with as many calls.
`below`: the share of runs whose estimate lies below the truth. `--also`: something else may decide
when the run ends, so the interval is the one that holds at every look.

`--values`: the intervals of the success rate itself instead, of the cases that were asked: that of
a metric (95 %, each bound may be wrong in 2.5 %) and that of a gate (98 %). The gate's limit is two
points below the truth.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from benchmarks.simulated_gate import (
    Array,
    Ended,
    Shape,
    answers,
    chances,
    dropped,
    judged,
    options,
    table,
)
from gate.analysis.estimates import estimates
from gate.analysis.metrics.rate import Rate
from gate.records import GateRule, RegressionRules, Tolerance

DROPS = ((0.0, "spread"), (0.05, "spread"), (0.05, "break"), (0.10, "spread"), (0.10, "break"))
RULES = RegressionRules(alpha=0.01, tolerance=Tolerance(value=0.02))
ALSO = GateRule(metric="agent.success_rate", min=0.0)  # nothing breaks it


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    shape: Shape
    drop: float
    kind: str

    @property
    def said(self) -> str:
        drop = f"{100 * self.drop:.0f} {self.kind}" if self.drop else "none"
        return f"{self.shape.cases}x{self.shape.rounds} | {drop}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    low: float  # shares of the runs whose bound is on the wrong side
    high: float
    width: float
    below: float
    measured: float  # means over the blocked runs, points
    unbiased: float
    disagree: int  # runs in which the interval and the test say different things about zero


def simulate(cell: Cell, *, reps: int, seed: int, also: bool) -> Found:
    rng = np.random.default_rng([seed, cell.shape.cases, cell.shape.rounds, round(1e3 * cell.drop)])
    sums, blocked, disagree = np.zeros(4), [], 0
    for _ in range(reps):
        p = chances(rng, cell.shape.cases)
        q = dropped(rng, p, cell.drop, cell.kind) if cell.drop else p
        was = answers(rng, p, cell.shape.history)
        now = answers(rng, q, cell.shape.cap)
        ended = judged(cell.shape, was, now, RULES, gates=(ALSO,) if also else ())
        row, truth = ended.row, float((q - p).mean())
        low, high = row.ci_low or 0.0, row.ci_high or 0.0
        estimate = row.delta if row.unbiased is None else row.unbiased
        fixed = (
            Rate()
            .compare(was[: ended.cases], ended.seen, ended.spec, tolerance=Tolerance(value=0.0))
            .bounds(0.01)
        )
        sums += (
            low > truth + 1e-7,
            high < truth - 1e-7,
            (high - low) / max(1e-9, fixed[1] - fixed[0]),
            (estimate or 0.0) < truth,
        )
        if row.status == "regression":
            blocked.append((row.delta or 0.0, estimate or 0.0))
        worse = row.p_adjusted is not None and row.p_adjusted <= RULES.alpha
        disagree += worse != (high <= 1e-9)
    low, high, width, below = (sums / reps).tolist()
    means = np.mean(blocked, axis=0) if blocked else np.full(2, np.nan)
    return Found(
        low=low,
        high=high,
        width=width,
        below=below,
        measured=100 * float(means[0]),
        unbiased=100 * float(means[1]),
        disagree=disagree,
    )


def simulate_values(cell: Cell, *, reps: int, seed: int) -> tuple[float, ...]:
    """Percent of the runs in which a bound of the metric (low, high) and of the gate is wrong, and
    percent that ended early.
    """
    rng = np.random.default_rng([seed, cell.shape.cases, cell.shape.rounds, round(1e3 * cell.drop)])
    wrong = np.zeros(5)
    for _ in range(reps):
        p = chances(rng, cell.shape.cases)
        q = dropped(rng, p, cell.drop, cell.kind) if cell.drop else p
        limit = GateRule(metric="agent.success_rate", min=max(0.0, float(q.mean()) - 0.02))
        was, now = answers(rng, p, cell.shape.history), answers(rng, q, cell.shape.cap)
        ended = judged(cell.shape, was, now, RULES, gates=(limit,))
        early = ended.calls < cell.shape.cases * cell.shape.cap
        wrong += (*_wrong_bounds(ended, q[: ended.cases], cell.shape.cases), early)
    return tuple((100 * wrong / reps).tolist())


def _wrong_bounds(ended: Ended, chances: Array, cases: int) -> tuple[bool, ...]:
    truth, gate = float(chances.mean()), ended.verdict.gates[0]
    seen = table(ended.seen, ended.calls, cases)
    metric = estimates(seen, seen.specs)["agent.success_rate"]
    return tuple(
        wrong
        for one in (metric, gate)
        for wrong in ((one.ci_low or 0.0) > truth + 1e-9, (one.ci_high or 1.0) < truth - 1e-9)
    )


def cells(suites: str, history: int, cap: int) -> Iterator[Cell]:
    for suite in suites.split(","):
        cases, rounds = map(int, suite.split("x"))
        shape = Shape(cases=cases, rounds=rounds, history=history * rounds, cap=cap * rounds)
        for drop, kind in DROPS:
            yield Cell(shape=shape, drop=drop, kind=kind)


def main() -> None:
    parser = options(__doc__, reps=4000)
    parser.add_argument("--suites", default="10x5,40x3,100x3,300x1")
    parser.add_argument("--history", type=int, default=4)
    parser.add_argument("--cap", type=int, default=2)
    parser.add_argument("--also", action="store_true")
    parser.add_argument("--values", action="store_true")
    asked = parser.parse_args()
    listed = list(cells(asked.suites, asked.history, asked.cap))
    if asked.values:
        print("| suite | drop | metric: low wrong % | high | gate: low | high | ended early % |")
        print("|:--|:--|--:|--:|--:|--:|--:|")
        of_values = functools.partial(simulate_values, reps=asked.reps, seed=asked.seed)
        with ProcessPoolExecutor(asked.jobs) as pool:
            for cell, wrong in zip(listed, pool.map(of_values, listed), strict=True):
                figures = " | ".join(f"{share:.2f}" for share in wrong)
                print(f"| {cell.said} | {figures} |", flush=True)
        return
    print(
        "| suite | drop | low wrong % | high wrong % | width | below % | blocked: measured |"
        " unbiased | disagree |"
    )
    print("|:--|:--|--:|--:|--:|--:|--:|--:|--:|")
    one = functools.partial(simulate, reps=asked.reps, seed=asked.seed, also=asked.also)
    with ProcessPoolExecutor(asked.jobs) as pool:
        for cell, found in zip(listed, pool.map(one, listed), strict=True):
            print(
                f"| {cell.said} | {100 * found.low:.2f} | "
                f"{100 * found.high:.2f} | {found.width:.2f} | {100 * found.below:.0f} | "
                f"{found.measured:.1f} | {found.unbiased:.1f} | {found.disagree} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
