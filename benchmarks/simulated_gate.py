"""Runs of the gate on simulated agents, judged by what `gate run` calls."""

from __future__ import annotations

import argparse
import functools
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gate.analysis.table import Table
from gate.analysis.tally import Tally
from gate.records import (
    Comparison,
    GateRule,
    MetricSpec,
    Policy,
    RegressionRules,
    Verdict,
    equal_looks,
)
from gate.store.baseline.find import Compared
from gate.verdict.decide import decide
from gate.verdict.stop_rule import look_at_suites
from gate.verdict.suite_data import UNPLANNED, SuiteData

Array = npt.NDArray[np.float64]
SUCCESS = MetricSpec(name="agent.success_rate", column="success", family="rate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """`history`: rounds of main; `cap`: rounds that the pull request may make."""

    cases: int
    rounds: int
    history: int
    cap: int

    @property
    def said(self) -> str:
        return f"{self.cases} x {self.rounds}, main {self.history}, at most {self.cap}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    verdict: Verdict
    calls: int
    seen: Array  # the answers that were asked for, NaN where none was

    @property
    def cases(self) -> int:
        """That were asked at all."""
        return len(self.seen)

    @property
    def spec(self) -> MetricSpec:
        return SUCCESS

    @property
    def outcome(self) -> str:
        return self.verdict.outcome

    @property
    def row(self) -> Comparison:
        """Not there where so many calls got no answer that nothing was compared."""
        return self.verdict.comparisons[0]


def options(about: str | None, *, reps: int, seed: int = 1) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in (("--reps", reps), ("--seed", seed), ("--jobs", 2)):
        parser.add_argument(name, type=int, default=default)
    return parser


def chances(rng: np.random.Generator, shape: int | tuple[int, ...]) -> Array:
    """Of each case to pass, never quite 0 or 1: half Beta(.5, .5), 35 % Beta(20, 1), 15 %
    Beta(1, 20).
    """
    which = rng.random(shape)
    hard = np.where(which < 0.85, rng.beta(20.0, 1.0, shape), rng.beta(1.0, 20.0, shape))
    return np.clip(np.where(which < 0.5, rng.beta(0.5, 0.5, shape), hard), 1e-9, 1.0 - 1e-9)


@functools.cache
def _typical() -> Array:
    return chances(np.random.default_rng(0), 100_000)


def weakened(p: Array, shift: float) -> Array:
    """The chances with their log-odds lowered."""
    return 1.0 / (1.0 + np.exp(shift) * (1.0 - p) / p)


def find_shift(p: Array, drop: float) -> float:
    """What lowers the mean of the chances by `drop`, by bisection."""
    low, high = 0.0, 20.0
    for _ in range(40):
        middle = (low + high) / 2.0
        enough = float((p - weakened(p, middle)).mean()) >= drop
        low, high = (low, middle) if enough else (middle, high)
    return high


@functools.cache
def _shift(drop: float) -> float:
    return find_shift(_typical(), drop)


def dropped(rng: np.random.Generator, p: Array, drop: float, kind: str) -> Array:
    """`spread`: every case is weakened alike; `break`: a few cases, at random, fail for good."""
    if kind == "spread":
        return weakened(p, _shift(round(drop, 4)))
    return np.where(rng.random(p.shape) < drop / float(_typical().mean()), 0.0, p)


def answers(rng: np.random.Generator, p: Array, rounds: int) -> Array:
    return (rng.random((len(p), rounds)) < p[:, None]).astype(np.float64)


def lost_at_random(rng: np.random.Generator, values: Array, share: float) -> Array:
    """Where a call ended in an infrastructure error."""
    return rng.random(values.shape) < share


def lost_where_it_fails(rng: np.random.Generator, values: Array, share: float) -> Array:
    """The same, on calls that would fail as far as there are such."""
    failing = (values == 0.0).mean()
    return (values == 0.0) & (rng.random(values.shape) < share / max(failing, share))


def judged(
    shape: Shape, was: Array, now: Array, rules: RegressionRules, gates: tuple[GateRule, ...] = ()
) -> Ended:
    """A pull request of which `now` holds all calls up to the cap, round by round; infrastructure
    errors are NaN.
    """
    looks = equal_looks(shape.cases * shape.cap)
    plan = replace(UNPLANNED, cases=shape.cases, rounds=shape.rounds, looks=looks)
    for made in looks.calls:
        suite = SuiteData(
            name="s",
            current=table(now[: min(made, shape.cases)], made, shape.cases),
            compared=Compared(table=table(was[: min(made, shape.cases)], was.size, len(was))),
            meta=plan,
            tally=Tally(trials=made),
        )
        if not look_at_suites([suite], gates=gates, regression=rules).suites:
            break
    verdict = decide([suite], gates=gates, regression=rules, policy=Policy())
    return Ended(verdict=verdict, calls=made, seen=suite.current.column("success"))


def table(values: Array, made: int, cases: int) -> Table:
    """The first `made` calls, round by round."""
    rows, rounds = values.shape
    there = np.arange(rounds) * cases + np.arange(rows)[:, None] < made
    names = tuple(f"c{i:06d}" for i in range(rows))
    return Table(
        suite="s",
        cases=names,
        digests=names,
        rounds=rounds,
        columns={
            "success": np.where(there, values, np.nan),
            "infra_error": np.where(there, np.isnan(values).astype(np.float64), np.nan),
        },
        specs={SUCCESS.name: SUCCESS},
    )
