"""How often an agent that got better is called an improvement, and what it costs, by simulation.

    PYTHONPATH=. python benchmarks/improvements.py [--reps 1000] [--seed 1] [--jobs 2]

100 cases x 3 rounds, 12 rounds on main, at most 6; alpha 1 %, tolerance 2 points. With `stop:
early` a run ends as soon as it is clear that nothing got worse, with `stop: both` it goes on until
it is clear whether something got better. Half of the changes reach all cases, half a few of them.
"""

from __future__ import annotations

import functools
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.simulated_gate import Shape, answers, chances, dropped, judged, options
from gate.records import RegressionRules, Tolerance

SHAPE = Shape(cases=100, rounds=3, history=12, cap=6)
RULES = RegressionRules(alpha=0.01, tolerance=Tolerance(value=0.02))
GAINS, STOPS, KINDS = (-0.05, 0.0, 0.05, 0.10), ("early", "both"), ("spread", "break")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    improved: float  # percent of the runs
    blocked: float
    calls: float  # mean


def measure(cell: tuple[float, str], *, reps: int, seed: int) -> Found:
    """Both values of `stop` meet the same agents and answers."""
    gain, stop = cell
    rng = np.random.default_rng([seed, round(1000 * gain) % 1000])
    rules, sums = replace(RULES, stop=stop), np.zeros(3)
    for rep in range(reps):
        good = chances(rng, SHAPE.cases)
        bad = dropped(rng, good, abs(gain), KINDS[rep % 2]) if gain else good
        before, after = (good, bad) if gain < 0.0 else (bad, good)
        was, now = answers(rng, before, SHAPE.history), answers(rng, after, SHAPE.cap)
        ended = judged(SHAPE, was, now, rules)
        status = ended.row.status
        sums += (100 * (status == "improvement"), 100 * (status == "regression"), ended.calls)
    improved, blocked, calls = (sums / reps).tolist()
    return Found(improved=improved, blocked=blocked, calls=calls)


def main() -> None:
    asked = options(__doc__, reps=1000).parse_args()
    cells = [(gain, stop) for gain in GAINS for stop in STOPS]
    print("| change, points | stop | called an improvement % | blocked % | calls |")
    print("|--:|:--|--:|--:|--:|")
    one = functools.partial(measure, reps=asked.reps, seed=asked.seed)
    with ProcessPoolExecutor(asked.jobs) as pool:
        for (gain, stop), found in zip(cells, pool.map(one, cells), strict=True):
            print(
                f"| {100 * gain:+.0f} | {stop} | {found.improved:.1f} | {found.blocked:.1f} |"
                f" {found.calls:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
