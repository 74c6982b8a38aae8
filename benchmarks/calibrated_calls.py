"""Does `gate calibrate` predict the calls of a run? By simulation.

    PYTHONPATH=. python benchmarks/calibrated_calls.py [--reps 20] [--seed 1] [--jobs 2]

For each of some agents that do not change: the mean calls that `gate calibrate` predicts from the
recorded runs of main, and the mean calls of as many real runs against a baseline of these runs.
"""

from __future__ import annotations

import functools
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from benchmarks.simulated_gate import Shape, answers, chances, judged, options, table
from gate.records import Config, PluginSpec, RegressionRules, Tolerance
from gate.records.baseline import BaselineRun
from gate.verdict.calibration.false_alarms import calibrate
from gate.verdict.calibration.recorded_rounds import RecordedSuite

AGENTS = 60  # each has a baseline of its own, which is lucky or not
SHAPES = (
    Shape(cases=40, rounds=3, history=15, cap=6),
    Shape(cases=100, rounds=3, history=6, cap=6),
    Shape(cases=100, rounds=3, history=15, cap=6),
    Shape(cases=100, rounds=3, history=48, cap=6),
    Shape(cases=200, rounds=1, history=8, cap=2),
)
RULES = RegressionRules(alpha=0.01, tolerance=Tolerance(value=0.02))
CONFIG = Config(agent=PluginSpec(name="http"), suites=(), regression=RULES)


def recorded(shape: Shape, was: np.ndarray) -> RecordedSuite:
    runs = tuple(
        BaselineRun(
            session_id=f"r{number}",
            commit=None,
            created_at=f"2026-01-01T00:00:{number:02d}Z",
            rounds=shape.rounds,
            kept=shape.rounds,
            cases=shape.cases,
        )
        for number in range(shape.history // shape.rounds)
    )
    kept = table(was, was.size, len(was))
    return RecordedSuite(name="s", table=kept, runs=runs, rounds=shape.rounds)


def measure(shape: Shape, *, reps: int, seed: int) -> tuple[float, float]:
    """Predicted and real calls, means over the agents."""
    sums = np.zeros(2)
    for agent in range(AGENTS):
        rng = np.random.default_rng([seed, shape.cases, shape.history, agent])
        p = chances(rng, shape.cases)
        was = answers(rng, p, shape.history)
        found = calibrate([recorded(shape, was)], CONFIG, reps=reps, seed=seed)
        real = [judged(shape, was, answers(rng, p, shape.cap), RULES).calls for _ in range(reps)]
        sums += found.splits.calls, float(np.mean(real))
    predicted, made = (sums / AGENTS).tolist()
    return predicted, made


def main() -> None:
    asked = options(__doc__, reps=20).parse_args()
    print("| suite | predicted | real | off |")
    print("|:--|--:|--:|--:|")
    one = functools.partial(measure, reps=asked.reps, seed=asked.seed)
    with ProcessPoolExecutor(asked.jobs) as pool:
        for shape, (predicted, real) in zip(SHAPES, pool.map(one, SHAPES), strict=True):
            off = f"{predicted / real - 1.0:+.1%}"
            print(f"| {shape.said} | {predicted:.0f} | {real:.0f} | {off} |", flush=True)


if __name__ == "__main__":
    main()
