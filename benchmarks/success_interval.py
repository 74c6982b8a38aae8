"""How often intervals of a success rate have the rate of all cases of their kind in them.

    PYTHONPATH=. python benchmarks/success_interval.py [--suites 2000] [--seed 1]

A suite's cases are drawn from a beta distribution with the given mean; `alike` is the correlation
that the rounds of a case then have. Prints a row of benchmarks/README.md for each shape of a suite.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gate.analysis.metrics.rate import Rate
from gate.records import MetricSpec
from gate.stats.intervals import RESAMPLES, share_of_cases_like_these

Array = npt.NDArray[np.float64]
Ends = tuple[float, float]
RATES = (0.5, 0.8, 0.9, 0.95, 0.97)
SHAPES = ((40, 3, 0.0), (40, 3, 0.3), (40, 3, 0.6), (40, 3, 1.0), (12, 3, 0.3), (200, 5, 0.3))
SPEC = MetricSpec(name="agent.success_rate", column="success", family="rate", unit="share")


def suite(rate: float, cases: int, rounds: int, alike: float, rng: np.random.Generator) -> Array:
    if alike in (0.0, 1.0):
        chances = np.full(cases, rate) if alike == 0.0 else (rng.random(cases) < rate) * 1.0
    else:
        spread = 1.0 / alike - 1.0
        chances = rng.beta(rate * spread, (1.0 - rate) * spread, size=cases)
    return (rng.random((cases, rounds)) < chances[:, None]).astype(float)


def ours(values: Array, rng: np.random.Generator) -> Ends:
    found = share_of_cases_like_these(values, 0.95, seed=0)
    assert found is not None
    return found.low, found.high


def percentiles(values: Array, rng: np.random.Generator) -> Ends:
    means = values.mean(axis=1)
    if len(set(means)) == 1:
        return ours(values, rng)
    return _percentiles(means[rng.integers(len(means), size=(RESAMPLES, len(means)))].mean(axis=1))


def answers(values: Array, rng: np.random.Generator) -> Ends:
    n = values.size
    return _percentiles(rng.binomial(n, values.mean(), size=1000) / n)


def these_cases(values: Array, rng: np.random.Generator) -> Ends:
    found = Rate().interval(values, SPEC, confidence=0.95)
    assert found is not None
    return found.low, found.high


def _percentiles(drawn: Array) -> Ends:
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


WAYS: tuple[Callable[[Array, np.random.Generator], Ends], ...] = (
    ours,
    percentiles,
    answers,
    these_cases,
)


def covered(rate: float, shape: tuple[int, int, float], suites: int, seed: int) -> list[float]:
    """Percent, for each of WAYS."""
    rng = np.random.default_rng([seed, int(rate * 100), *map(int, shape[:2]), int(shape[2] * 10)])
    hits = np.zeros(len(WAYS))
    for _ in range(suites):
        values = suite(rate, *shape, rng)
        for number, way in enumerate(WAYS):
            low, high = way(values, rng)
            hits[number] += low - 1e-9 <= rate <= high + 1e-9
    return list(100.0 * hits / suites)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--suites", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for shape in SHAPES:
        found = [covered(rate, shape, options.suites, options.seed) for rate in RATES]
        ways = [", ".join(f"{one[n]:.0f}" for one in found) for n in range(len(WAYS))]
        cases, rounds, alike = shape
        print(f"| {cases} x {rounds}, {alike:g} | {' | '.join(ways)} |", flush=True)


if __name__ == "__main__":
    main()
