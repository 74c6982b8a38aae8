"""Is "would have been caught 8 times in 10" true? By simulation.

    PYTHONPATH=. python benchmarks/caught.py [--reps 2000] [--seed 1] [--jobs 2]

For each run that changed nothing: the detectable drop that its verdict printed, and the one that
`gate plan` printed before. Then another run of the same suite against the same baseline, whose
agent is worse by just that much: was it blocked? Half of the drops weaken all cases, half break a
few of them.
"""

from __future__ import annotations

import functools
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from benchmarks.simulated_gate import (
    SUCCESS,
    Shape,
    answers,
    chances,
    dropped,
    judged,
    options,
    table,
)
from gate.analysis.noise import measure_noise
from gate.records import RegressionRules, Tolerance
from gate.verdict.planning.detectable import Forecast
from gate.verdict.planning.detectable import PlanShape as Planned

SHAPES = (
    Shape(cases=20, rounds=5, history=20, cap=10),
    Shape(cases=40, rounds=3, history=12, cap=6),
    Shape(cases=40, rounds=3, history=48, cap=6),
    Shape(cases=50, rounds=1, history=4, cap=2),
    Shape(cases=100, rounds=1, history=16, cap=2),
    Shape(cases=100, rounds=3, history=3, cap=3),
    Shape(cases=100, rounds=3, history=12, cap=3),
    Shape(cases=100, rounds=3, history=12, cap=6),
    Shape(cases=100, rounds=3, history=24, cap=6),
    Shape(cases=100, rounds=3, history=48, cap=6),
    Shape(cases=300, rounds=1, history=4, cap=2),
    Shape(cases=300, rounds=3, history=15, cap=6),
)
RULES = RegressionRules(alpha=0.01, tolerance=Tolerance(value=0.02))
KINDS = ("spread", "break")


def forecast(was: np.ndarray) -> Forecast:
    """What `gate plan` knows after these rounds of main."""
    allowed = Tolerance(value=0.02)
    noise = measure_noise(SUCCESS, table(was, was.size, len(was)).values(SUCCESS), allowed)
    return Forecast(spec=SUCCESS, noise=noise, tolerance=0.02)


def planned(shape: Shape) -> Planned:
    return Planned(
        cases=shape.cases,
        rounds=shape.rounds,
        max_rounds=shape.cap,
        rounds_b=float(shape.history),
        tests=1,
        alpha=RULES.alpha,
        power=RULES.power,
        early=True,
        both=False,
        fresh=False,
        batch=1,
        price=None,
    )


def measure(job: tuple[Shape, int], *, seed: int) -> dict[str, list]:
    shape, start = job
    found: dict[str, list] = {"verdict": [], "plan": []}
    for rep in range(start, start + 100):
        rng = np.random.default_rng([seed, shape.cases, shape.rounds, shape.history, rep])
        p = chances(rng, shape.cases)
        was = answers(rng, p, shape.history)
        unchanged = judged(shape, was, answers(rng, p, shape.cap), RULES)
        for name, least in (
            ("verdict", unchanged.row.mde),
            ("plan", forecast(was).least(planned(shape))),
        ):
            if least is None or least >= 0.6:
                found[name].append((rep % 2, None, None))
                continue
            q = dropped(rng, p, least, KINDS[rep % 2])
            ended = judged(shape, was, answers(rng, q, shape.cap), RULES)
            found[name].append((rep % 2, least, ended.row.status == "regression"))
    return found


def main() -> None:
    asked = options(__doc__, reps=2000).parse_args()
    print("| suite | who says it | drop, points | caught % | weakened, broken | no figure |")
    print("|:--|:--|--:|--:|--:|--:|")
    start = time.perf_counter()
    with ProcessPoolExecutor(asked.jobs) as pool:
        for shape in SHAPES:
            jobs = [(shape, rep) for rep in range(0, asked.reps, 100)]
            parts = list(pool.map(functools.partial(measure, seed=asked.seed), jobs))
            for name in ("verdict", "plan"):
                rows = [row for part in parts for row in part[name]]
                known = [row for row in rows if row[1] is not None]
                share = 100 * np.mean([row[2] for row in known])
                apart = [100 * np.mean([r[2] for r in known if r[0] == k]) for k in (0, 1)]
                size = 100 * np.mean([row[1] for row in known])
                print(
                    f"| {shape.said} | {name} | {size:.1f} | {share:.1f} | "
                    f"{apart[0]:.1f}, {apart[1]:.1f} | {len(rows) - len(known)} |",
                    flush=True,
                )
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
