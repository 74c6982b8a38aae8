"""How often the interval of each kind of metric misses the truth, by simulation.

    PYTHONPATH=. python benchmarks/intervals.py [--reps 2000] [--seed 1] [--suites 10x5,40x3]
                                                [--only p95] [--jobs 2]

Two intervals, both from the code that `gate run` calls: the 95 % interval of a metric's value, and
the 98 % interval of its change against a base branch with four times as many rounds. The truth is
that of these very cases, read off thousands of rounds. Prints the share of runs whose interval lies
above the truth and below it, in percent: nominal 2.5 and 2.5 of a value, 1 and 1 of a change.

Half of the runs with an unchanged agent, half with one that got worse: it passes less often, takes
20 % more time, money and steps. Each metric has its own agents: pass/fail as in coverage.py; scores
of five steps; times and costs log-normal within a case (standard deviation 0.4) and between cases
(0.7, a factor of two; `dear`: 1.4, a factor of four).
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from benchmarks.simulated_gate import chances, options
from gate.analysis.estimates import default_tolerance, family_of
from gate.analysis.table import ratio_of
from gate.records import Direction, MetricSpec

Array = npt.NDArray[np.float64]
Rounds = Callable[[int], Array]  # an agent on its cases: rounds -> cases x rounds
SUITES = "10x5,20x2,40x3,100x1,100x3,300x3"
HISTORY = 4  # times as many rounds of the base branch
AGENTS = 40  # sets of cases, each of which runs reps / AGENTS times
MANY = 2000  # rounds that stand for the truth


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A metric, and how the values of its agents are drawn: `draw` (rng, cases, worse)."""

    spec: MetricSpec
    draw: Callable[[np.random.Generator, int, bool], Rounds]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Shares of the runs, in percent; NaN where there is no interval."""

    name: str
    suite: str
    above: float
    below: float
    change_above: float
    change_below: float

    @property
    def row(self) -> str:
        return (
            f"| {self.name} | {self.suite} | {self.above:.1f} | {self.below:.1f} | "
            f"{self.above + self.below:.1f} | {self.change_above:.1f} | {self.change_below:.1f} | "
            f"{self.change_above + self.change_below:.1f} |"
        )


def main() -> int:
    parser = options(__doc__, reps=2000)
    parser.add_argument("--suites", default=SUITES)
    parser.add_argument("--only", default="", help="metrics with this in their name")
    given = parser.parse_args()
    names = [name for name in KINDS if given.only in name]
    cells = [(name, suite) for name in names for suite in given.suites.split(",")]
    measure_one = functools.partial(measure, reps=given.reps, seed=given.seed)
    print("| metric | suite | above | below | both | change above | below | both |")
    print("|:--|:--|--:|--:|--:|--:|--:|--:|")
    with ProcessPoolExecutor(given.jobs) as pool:
        for cell in pool.map(measure_one, cells):
            print(cell.row, flush=True)
    return 0


def measure(cell: tuple[str, str], *, reps: int, seed: int) -> Cell:
    name, suite = cell
    cases, rounds = (int(number) for number in suite.split("x"))
    kind = KINDS[name]
    rng = np.random.default_rng([seed, cases, rounds, list(KINDS).index(name)])
    runs = [
        told
        for agent in range(AGENTS)
        for told in _runs(kind, rng, cases, rounds, worse=agent % 2 == 1, reps=reps // AGENTS)
    ]
    above, below, change_above, change_below = (
        100.0 * sum(column) / len(column) if (column := _told(runs, at)) else np.nan
        for at in range(4)
    )
    return Cell(
        name=name,
        suite=suite,
        above=above,
        below=below,
        change_above=change_above,
        change_below=change_below,
    )


def _told(runs: Sequence[tuple[float, ...]], at: int) -> list[float]:
    """What the runs with an interval say."""
    return [run[at] for run in runs if not np.isnan(run[at])]


def _runs(
    kind: Kind, rng: np.random.Generator, cases: int, rounds: int, *, worse: bool, reps: int
) -> Iterator[tuple[float, float, float, float]]:
    """Of each run: whether the value's interval lay above and below the truth, and the change's."""
    family, spec, tolerance = family_of(kind.spec), kind.spec, default_tolerance(kind.spec)
    seed = int(rng.integers(1 << 31))
    was, now = (kind.draw(np.random.default_rng(seed), cases, bad) for bad in (False, worse))
    before, after = was(MANY), now(MANY)
    truth = family.reduce(after)
    if tolerance.relative:  # of geometric means, of ratios
        moved = family.compare(before, after, spec, tolerance=tolerance).delta
    else:
        moved = truth - family.reduce(before)
    for _ in range(reps):
        values = now(rounds)
        interval = family.interval(values, spec, confidence=0.95)
        own = (np.nan, np.nan)
        if interval is not None:
            own = (float(interval.low > truth), float(interval.high < truth))
        change = family.compare(was(HISTORY * rounds), values, spec, tolerance=tolerance)
        low, high = (np.nan, np.nan) if change.too_few else change.bounds(0.01)
        if np.isnan(low):
            yield *own, np.nan, np.nan
        else:
            yield *own, float(low > moved), float(high < moved)


# ----------------------------------------------------------------------------------------- agents


def _passes(rng: np.random.Generator, cases: int, worse: bool) -> Rounds:
    p = chances(rng, cases)
    p = p * 0.9 if worse else p
    return lambda rounds: (rng.random((cases, rounds)) < p[:, None]).astype(float)


def _scores(rng: np.random.Generator, cases: int, worse: bool) -> Rounds:
    """0, 0.25 to 1, most of them good."""
    level = rng.beta(4.0, 1.5, cases)[:, None] - (0.05 if worse else 0.0)

    def draw(rounds: int) -> Array:
        noisy = level + 0.15 * rng.standard_normal((cases, rounds))
        return np.clip(np.rint(noisy * 4.0), 0.0, 4.0) / 4.0

    return draw


def _counts(rng: np.random.Generator, cases: int, worse: bool, *, mean: float) -> Rounds:
    level = mean * rng.gamma(2.0, 0.5, cases)[:, None] * (1.2 if worse else 1.0)
    return lambda rounds: rng.poisson(level, (cases, rounds)).astype(float)


def _amounts(rng: np.random.Generator, cases: int, worse: bool, *, between: float) -> Rounds:
    level = np.exp(between * rng.standard_normal(cases))[:, None] * (1.2 if worse else 1.0)
    return lambda rounds: level * np.exp(0.4 * rng.standard_normal((cases, rounds)))


def _costs(rng: np.random.Generator, cases: int, worse: bool, *, between: float) -> Rounds:
    """Cost and success; a failed trial costs a third more."""
    level = np.exp(between * rng.standard_normal(cases))[:, None]
    p = rng.beta(1.4, 0.6, cases)[:, None] * (0.9 if worse else 1.0)

    def draw(rounds: int) -> Array:
        success = (rng.random((cases, rounds)) < p).astype(float)
        noise = np.exp(0.4 * rng.standard_normal(success.shape) + 0.3 * (1.0 - success))
        return ratio_of(level * noise, success)

    return draw


def _spec(family: str, *, direction: Direction = "higher", **options: object) -> MetricSpec:
    """A metric in [0, 1]."""
    return MetricSpec(
        name="metric", column="column", family=family, direction=direction, options=options
    )


def _amount(family: str, *, per: str = "", **options: object) -> MetricSpec:
    """A metric without an upper end, of which less is better."""
    spec = _spec(family, direction="lower", **options)
    return replace(spec, high=None, per=per)


_TIMES = functools.partial(_amounts, between=0.7)
_DEAR_TIMES = functools.partial(_amounts, between=1.4)
_K = itertools.chain.from_iterable(
    [(name, Kind(spec=_spec("k_rounds", k=2, wanted=wanted), draw=_passes))]
    for name, wanted in (("pass^2", "all"), ("pass@2", "any"), ("consistency", "alike"))
)
KINDS = {
    "pass/fail": Kind(spec=_spec("rate"), draw=_passes),
    "score": Kind(spec=_spec("mean"), draw=_scores),
    "steps": Kind(spec=_amount("mean"), draw=functools.partial(_counts, mean=4.0)),
    "violations per 100": Kind(
        spec=_amount("mean", scale=100.0),
        draw=functools.partial(_counts, mean=0.02),
    ),
    "mean time": Kind(spec=_amount("log_mean"), draw=_TIMES),
    "mean time, dear": Kind(spec=_amount("log_mean"), draw=_DEAR_TIMES),
    "p50 of times": Kind(spec=_amount("quantile", q=0.5), draw=_TIMES),
    "p95 of times": Kind(spec=_amount("quantile", q=0.95), draw=_TIMES),
    "deviation of times": Kind(spec=_amount("std"), draw=_TIMES),
    "deviation of a case's scores": Kind(
        spec=_spec("std", direction="lower", within="case"), draw=_scores
    ),
    "cost per success": Kind(
        spec=_amount("ratio", per="success"),
        draw=functools.partial(_costs, between=0.7),
    ),
    "cost per success, dear": Kind(
        spec=_amount("ratio", per="success"),
        draw=functools.partial(_costs, between=1.4),
    ),
    **dict(_K),
}

if __name__ == "__main__":
    sys.exit(main())
