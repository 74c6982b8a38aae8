"""Odds that noise breaks a limit, of each family of metrics, beside unchanged runs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gate.analysis.estimates import family_of
from gate.analysis.noise_odds import RunSize, estimate_odds
from gate.records import GateRule, MetricSpec

Array = np.ndarray
RUNS = 400


def metric(family: str, **changes: Any) -> MetricSpec:
    return MetricSpec(name="a.metric", column="x", family=family, **changes)


def passes(rng: np.random.Generator, cases: int, rounds: int) -> Array:
    chances = np.linspace(0.7, 1.0, cases)[:, None]
    return (rng.random((cases, rounds)) < chances).astype(float)


def prices(rng: np.random.Generator, cases: int, rounds: int) -> Array:
    usual = np.linspace(-0.5, 0.5, cases)[:, None]
    return np.exp(usual + rng.normal(0.0, 0.5, (cases, rounds)))


def per_success(rng: np.random.Generator, cases: int, rounds: int) -> Array:
    return prices(rng, cases, rounds) + 1j * passes(rng, cases, rounds)


def per_hundred(rng: np.random.Generator, cases: int, rounds: int) -> Array:
    return 1.0 - passes(rng, cases, rounds)


LOWER = {"direction": "lower", "high": None}
FAMILIES = {
    "p95": (metric("quantile", options={"q": 0.95}, **LOWER), prices),
    "largest": (metric("max", **LOWER), prices),
    "cost per success": (metric("ratio", per="y", **LOWER), per_success),
    "mean cost": (metric("log_mean", **LOWER), prices),
    "per hundred": (metric("mean", options={"scale": 100.0}, **LOWER), per_hundred),
    "pass^3": (metric("k_rounds", options={"k": 3, "wanted": "all"}), passes),
}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("far", [0.0, 1.0])
def test_the_odds_are_the_share_of_unchanged_runs_beyond_the_limit(name: str, far: float) -> None:
    """Limits at the level of the runs, and a standard deviation on its good side."""
    spec, ask = FAMILIES[name]
    rng = np.random.default_rng(4)
    cases, rounds = 40, 3
    family = family_of(spec)
    seen = np.array([family.reduce(ask(rng, cases, rounds)) for _ in range(RUNS)])
    lower = spec.direction == "lower"
    limit = float(np.median(seen) + (1 if lower else -1) * far * seen.std())
    gate = GateRule(metric=spec.name, **{"max" if lower else "min": limit})
    size = RunSize(cases=cases, rounds=rounds, max_rounds=rounds, level=0.01)
    found = estimate_odds(gate, spec, ask(rng, cases, 6_000), size)
    broken = (seen > limit + 1e-9) if lower else (seen < limit - 1e-9)
    assert found.chance == pytest.approx(broken.mean(), abs=0.07)
    assert found.why == ""


def test_both_limits_count() -> None:
    ask: Callable[..., Array] = passes
    stored = ask(np.random.default_rng(1), 40, 100)
    size = RunSize(cases=40, rounds=1, max_rounds=1, level=0.01)
    spec = metric("rate")

    def chance(**limits: float) -> float:
        return estimate_odds(GateRule(metric="a", **limits), spec, stored, size).chance

    assert chance(min=0.8, max=0.9) == pytest.approx(chance(min=0.8) + chance(max=0.9))


@pytest.mark.parametrize(
    ("spec", "values", "why"),
    [
        (metric("rate"), np.full((40, 3), np.nan), "the baseline has no value of it"),
        (metric("std", **LOWER), np.ones((40, 3)), "the noise of a std is unknown"),
        (
            metric("quantile", options={"q": 0.99}, **LOWER),
            np.ones((40, 3)),
            "its calls are too few for this quantile",
        ),
        (
            metric("k_rounds", options={"k": 2, "wanted": "all"}),
            np.ones((40, 3)),
            "it needs two runs of main with as many rounds as this one",
        ),
    ],
)
def test_what_cannot_be_told_is_not(spec: MetricSpec, values: Array, why: str) -> None:
    size = RunSize(cases=40, rounds=3, max_rounds=6, level=0.01)
    found = estimate_odds(GateRule(metric=spec.name, max=0.5), spec, values, size)
    assert (found.chance, found.why) == (None, why)


def test_one_stored_round_is_a_guess() -> None:
    stored = passes(np.random.default_rng(2), 40, 1)
    size = RunSize(cases=40, rounds=3, max_rounds=6, level=0.01)
    found = estimate_odds(GateRule(metric="a", min=0.8), metric("rate"), stored, size)
    assert found.chance is not None
    assert found.why == "from one stored round a case"
