"""Runs dealt from recorded rounds of a real model, and simulated from the same rounds' shares.

    PYTHONPATH=. python benchmarks/real_model.py --reps 2000 --seed 1

`examples/real-model/pool.json` has the rounds of each kind of agent, and no verdict. No model is
asked. Of each case the base branch gets 12 rounds of the unchanged agent and the pull request up
to 6 of its kind: `same base` takes the 12 rounds of the example's baseline, which all live runs
share; `dealt` draws new ones each time; `simulated` draws passes from the share of each case.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from benchmarks.simulated_gate import Array, Ended, Shape, answers, judged, options
from gate.records import RegressionRules
from gate.stats.intervals import clopper_pearson
from tests.support.paths import ROOT

EXAMPLE = ROOT / "examples" / "real-model"
SAME = "unchanged"
ROUNDS, HISTORY, CAP = 3, 12, 6

Dealer = Callable[[np.random.Generator], tuple[Array, Array]]


def read_pool() -> dict[str, Array]:
    """Of each kind: cases x rounds, 1 passed, 0 failed; the cases stand in the same order."""
    pool = json.loads((EXAMPLE / "pool.json").read_text(encoding="utf-8"))
    cases = sorted(pool[SAME])
    return {
        kind: np.array([[float(digit) for digit in rounds[case]] for case in cases])
        for kind, rounds in pool.items()
    }


def read_base() -> Array:
    """The rounds of the example's baseline, cases x 12, in the order of `read_pool`."""
    stored = json.loads((EXAMPLE / "baselines" / "quiz.json").read_text(encoding="utf-8"))
    rows = {case["id"]: case["values"]["success"] for case in stored["cases"]}
    return np.array([rows[case] for case in sorted(rows)], dtype=np.float64)


def draw(rng: np.random.Generator, rounds: Array, number: int) -> Array:
    """So many rounds of each case, no round twice."""
    return rng.permuted(rounds, axis=1)[:, :number]


def dealers(pool: dict[str, Array], base: Array, kind: str) -> dict[str, Dealer]:
    """How a pair of base branch and pull request comes about."""

    def deal(rng: np.random.Generator) -> tuple[Array, Array]:
        if kind != SAME:
            return draw(rng, pool[SAME], HISTORY), draw(rng, pool[kind], CAP)
        both = draw(rng, pool[SAME], HISTORY + CAP)
        return both[:, :HISTORY], both[:, HISTORY:]

    def simulate(rng: np.random.Generator) -> tuple[Array, Array]:
        was, now = (pool[name].mean(axis=1) for name in (SAME, kind))
        return answers(rng, was, HISTORY), answers(rng, now, CAP)

    return {
        "same base": lambda rng: (base, draw(rng, pool[kind], CAP)),
        "dealt": deal,
        "simulated": simulate,
    }


def run(deal: Dealer, rng: np.random.Generator) -> Ended:
    was, now = deal(rng)
    order = rng.permutation(len(was))
    shape = Shape(cases=len(was), rounds=ROUNDS, history=HISTORY, cap=CAP)
    return judged(shape, was[order], now[order], RegressionRules())


def count_runs(row: tuple[str, str], *, reps: int, seed: int) -> tuple[int, float]:
    """Of runs of one kind, dealt in one way: how many were blocked, and their mean calls."""
    kind, name = row
    deal = dealers(read_pool(), read_base(), kind)[name]
    rng = np.random.default_rng([seed, *map(ord, kind + name)])
    runs = [run(deal, rng) for _ in range(reps)]
    calls = float(np.mean([one.calls for one in runs]))
    return sum(one.outcome == "fail" for one in runs), calls


def main() -> None:
    chosen = options(__doc__, reps=2000).parse_args()
    pool, base = read_pool(), read_base()
    for kind, rounds in pool.items():
        change = 100 * (rounds.mean() - pool[SAME].mean())
        share = rounds.mean(axis=1)
        print(
            f"{kind}: {rounds.size} calls, {100 * rounds.mean():.1f} % pass, {change:+.1f} points; "
            f"cases from {100 * share.min():.0f} to {100 * share.max():.0f} %, "
            f"{np.count_nonzero((share >= 0.2) & (share <= 0.95))} of {len(share)} from 20 to 95 %"
        )
    print(f"baseline: {100 * base.mean():.1f} % pass\n")
    print("| agent | | runs | blocked | 95 % interval | calls |")
    print("|:--|:--|--:|--:|--:|--:|")
    rows = [(kind, name) for kind in pool for name in dealers(pool, base, kind)]
    count = functools.partial(count_runs, reps=chosen.reps, seed=chosen.seed)
    with ProcessPoolExecutor(chosen.jobs) as processes:
        for (kind, name), (blocked, calls) in zip(rows, processes.map(count, rows), strict=True):
            sure = clopper_pearson(blocked, chosen.reps, confidence=0.95)
            print(
                f"| {kind} | {name} | {chosen.reps:,} | {100 * blocked / chosen.reps:.1f} % | "
                f"{100 * sure.low:.1f} to {100 * sure.high:.1f} % | {calls:.0f} |"
            )


if __name__ == "__main__":
    main()
