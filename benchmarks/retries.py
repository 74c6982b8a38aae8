"""How often a pull request that made the agent worse passes in the end, when heads with the same
files are pushed until one is green.

    PYTHONPATH=. python benchmarks/retries.py [--reps 2000] [--seed 1] [--drop 0.05]

100 cases x 3 rounds, up to 6, main has 4 x 3; alpha 1 %, tolerance 2 points. Case difficulties as
in session_effect.py; half of the drops weaken all cases, half break a few. Passed: every verdict
that is no regression.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from benchmarks.verdict_sim_adapter import sequential
from gate.records import Looks, equal_looks
from gate.verdict.course import Course, course

Array = npt.NDArray[np.float64]
CASES, ROUNDS, HISTORY = 100, 3, 4
HEADS = 5
ALPHA, TOLERANCE = 0.01, 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """Shares of the pull requests that have passed by each head, from the first one on."""

    afresh: tuple[float, ...]  # each head is asked anew
    same_session: tuple[float, ...]  # each goes on with the session before
    re_run: tuple[float, ...]  # the run of one head is run again: one batch more each time


def simulate(*, drop: float, reps: int, seed: int) -> Passed:
    with ProcessPoolExecutor(max_workers=2) as pool:
        found = list(pool.map(partial(_pull_request, drop, seed), range(reps), chunksize=25))
    shares = np.mean(found, axis=0)
    kinds = (tuple(float(share) for share in kind) for kind in shares)
    return Passed(**dict(zip(("afresh", "same_session", "re_run"), kinds, strict=True)))


def _pull_request(drop: float, seed: int, number: int) -> list[list[bool]]:
    """Whether it has passed by each head, in each of the three ways."""
    rng = np.random.default_rng([seed, number])
    before = _difficulties(rng)
    now = _worse(rng, before, drop, breaks=number % 2 == 1)
    main = _answers(rng, before, HISTORY * ROUNDS)
    looks = equal_looks(CASES * 2 * ROUNDS, batch=16)
    one, begun = _answers(rng, now, 2 * ROUNDS), course({"s": looks}, "", None)
    first, ended = _judged(main, one, looks, begun)
    again = partial(_judged, main, one, looks)

    def next_head(so_far: Course) -> tuple[bool, Course]:
        return again(course({"s": looks}, "", so_far.state(), stands=False))

    def next_attempt(so_far: Course) -> tuple[bool, Course]:
        return again(course({"s": looks}, "", so_far.state()))

    def anew(so_far: Course) -> tuple[bool, Course]:
        return _judged(main, _answers(rng, now, 2 * ROUNDS), looks, begun)

    return [_by_head(first, ended, way) for way in (anew, next_head, next_attempt)]


def _by_head(
    first: bool, ended: Course, again: Callable[[Course], tuple[bool, Course]]
) -> list[bool]:
    passed, found = first, [first]
    for _ in range(HEADS - 1):
        if not passed:  # who passed pushes no more
            passed, ended = again(ended)
        found.append(passed)
    return found


def _judged(main: Array, full: Array, looks: Looks, at: Course) -> tuple[bool, Course]:
    """The run from where it is to its end: whether it passed."""
    status = "regression"  # at its cap nothing is asked any more: what failed stays so
    while at.going:
        calls = at.trials("s").stop
        (status,) = sequential(
            main[:, :, None],
            _revealed(full, calls)[:, :, None],
            tolerance=TOLERANCE,
            alpha=ALPHA,
            calls_done=calls,
            looks=list(looks.calls),
        )
        at = at.after({"s"} if status == "continue" else (), "settled")
    return status != "regression", at


def _revealed(full: Array, calls: int) -> Array:
    seen = np.full_like(full, np.nan)
    rounds, cases = divmod(calls, len(full))
    seen[:, :rounds] = full[:, :rounds]
    seen[:cases, rounds : rounds + 1] = full[:cases, rounds : rounds + 1]
    return seen


def _difficulties(rng: np.random.Generator) -> Array:
    kind = rng.random(CASES)
    hard, easy = rng.beta(1, 20, CASES), rng.beta(20, 1, CASES)
    middle = rng.beta(0.5, 0.5, CASES)
    return np.where(kind < 0.5, middle, np.where(kind < 0.85, easy, hard)).clip(1e-9, 1 - 1e-9)


def _worse(rng: np.random.Generator, chance: Array, drop: float, *, breaks: bool) -> Array:
    """With a mean that is lower by `drop`, on the average where cases break."""
    if breaks:
        return chance * (rng.random(CASES) >= drop / chance.mean())
    logits, low, high = np.log(chance / (1.0 - chance)), 0.0, 8.0
    for _ in range(30):
        middle = (low + high) / 2.0
        fallen = chance.mean() - (1.0 / (1.0 + np.exp(middle - logits))).mean()
        low, high = (middle, high) if fallen < drop else (low, middle)
    return np.asarray(1.0 / (1.0 + np.exp(low - logits)))


def _answers(rng: np.random.Generator, chance: Array, rounds: int) -> Array:
    return (rng.random((CASES, rounds)) < chance[:, None]).astype(np.float64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reps", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--drop", type=float, default=0.05)
    options = parser.parse_args()
    found = simulate(drop=options.drop, reps=options.reps, seed=options.seed)
    print(f"percent passed by head 1 to {HEADS}; a true drop of {100 * options.drop:g} points")
    for name in Passed.__slots__:
        print(f"{name:13}", *(f"{100 * share:5.1f}" for share in getattr(found, name)))


if __name__ == "__main__":
    main()
