"""What `gate plan` says of suites of pass/fail cases: the tables of docs/plan.md.

    PYTHONPATH=. python benchmarks/plans.py [--reps 60] [--seed 3] [--jobs 2]

Means over simulated baselines; main has four times the rounds, a run may make twice as many. First
the smallest drop that is caught 80 % of the time, in points; then, for 100 cases x 3 rounds, the
calls and the chance to block for three true drops.
"""

from __future__ import annotations

import functools
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from benchmarks.caught import forecast, planned
from benchmarks.simulated_gate import Shape, answers, chances, options
from gate.verdict.planning.detectable import Forecast

CASES, ROUNDS = (10, 40, 100, 300, 1000), (1, 3, 5)
DROPS = (0.0, 0.05, 0.10)


def shape(cases: int, rounds: int) -> Shape:
    return Shape(cases=cases, rounds=rounds, history=4 * rounds, cap=2 * rounds)


def forecasts(one: Shape, *, reps: int, seed: int) -> list[Forecast]:
    """What is known after each of `reps` baselines of simulated agents."""
    rng = np.random.default_rng([seed, one.cases, one.rounds])
    return [forecast(answers(rng, chances(rng, one.cases), one.history)) for _ in range(reps)]


def least(one: Shape, *, reps: int, seed: int) -> tuple[float, int]:
    """The mean in points, and how many baselines no drop at all is caught after."""
    said = [known.least(planned(one)) for known in forecasts(one, reps=reps, seed=seed)]
    drops = [drop for drop in said if drop is not None]
    return 100 * float(np.mean(drops)), len(said) - len(drops)


def ends(drop: float, *, reps: int, seed: int) -> tuple[float, float]:
    """Mean calls of a run, and percent of the runs that are blocked."""
    one = shape(100, 3)
    said = [known.ends(planned(one), drop) for known in forecasts(one, reps=reps, seed=seed)]
    calls = one.cases * one.cap * float(np.mean([end.mean_share for end in said]))
    return calls, 100 * float(np.mean([end.caught for end in said]))


def main() -> None:
    asked = options(__doc__, reps=60, seed=3).parse_args()
    wanted = {"reps": asked.reps, "seed": asked.seed}
    with ProcessPoolExecutor(asked.jobs) as pool:
        cells = [[shape(cases, rounds) for rounds in ROUNDS] for cases in CASES]
        rows = [pool.map(functools.partial(least, **wanted), row) for row in cells]
        print("| cases | 1 round | 3 rounds | 5 rounds |\n|--:|--:|--:|--:|")
        for cases, row in zip(CASES, rows, strict=True):
            figures = (f"{drop:.2g}" + f" ({never} never)" * (never > 0) for drop, never in row)
            print(f"| {cases} | {' | '.join(figures)} |", flush=True)
        print("\n| true drop | calls | blocked |\n|--:|--:|--:|")
        found = pool.map(functools.partial(ends, **wanted), DROPS)
        for drop, (calls, blocked) in zip(DROPS, found, strict=True):
            print(f"| {100 * drop:.0f} points | {calls:.0f} | {blocked:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
