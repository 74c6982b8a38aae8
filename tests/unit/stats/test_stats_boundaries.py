"""Boundaries of a plan of looks: what they spend, where they meet, and what they see."""

from collections.abc import Sequence

import numpy as np
import pytest

from gate.stats.boundaries import (
    boundaries,
    caught_drift,
    crossing,
    nominal,
    strong_suspicion,
)
from gate.stats.distributions import normal_quantile, upper_tail

TENTHS = tuple(k / 10 for k in range(1, 11))


def paths(times: tuple[float, ...], drift: float, n: int, seed: int) -> np.ndarray:
    """Evidence of harm at each look of n runs."""
    steps = np.diff(np.array([0.0, *times]))
    noise = np.random.default_rng(seed).standard_normal((n, len(times)))
    walk = np.cumsum(noise * np.sqrt(steps) + drift * steps, axis=1)
    return walk / np.sqrt(times)


def share_caught(y: np.ndarray, harm: Sequence[float], futility: Sequence[float]) -> float:
    """Of the runs those that reach `harm` before they end at `futility`."""
    caught, going = 0, np.ones(len(y), dtype=bool)
    for at, worse, harmless in zip(y.T, harm, futility, strict=True):
        caught += int((going & (at >= worse)).sum())
        going &= (at < worse) & (at > harmless)
    assert not going.any()
    return caught / len(y)


@pytest.mark.parametrize("times", [TENTHS, (0.25, 1.0), (0.1, 0.11, 0.5, 0.51, 1.0)])
def test_accuses_by_chance_as_often_as_it_says(times: tuple[float, ...]) -> None:
    found = boundaries(times, 0.05, 0.2)
    y = paths(times, 0.0, 100_000, 1)
    assert (y >= found.harm).any(axis=1).mean() == pytest.approx(0.05, abs=0.003)
    first = (y[:, 0] >= found.harm[0]).mean()
    assert first == pytest.approx(0.05 * times[0] ** 2.0, abs=0.001)


@pytest.mark.parametrize("times", [TENTHS, (0.3, 0.6, 1.0)])
def test_a_change_of_the_drift_is_caught_as_often_as_it_says(times: tuple[float, ...]) -> None:
    found = boundaries(times, 0.01, 0.2)
    y = paths(times, found.drift, 50_000, 2)
    assert share_caught(y, found.harm, found.futility) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(("looks", "power"), [(3, 2.0), (10, 2.0), (11, 2.2), (20, 2.2)])
def test_the_first_of_many_looks_spends_less(looks: int, power: float) -> None:
    found = boundaries(tuple(k / looks for k in range(1, looks + 1)), 0.05, 0.2)
    assert nominal(found.harm[0]) == pytest.approx(0.05 * looks**-power, rel=1e-3)


def test_nobody_ends_undecided() -> None:
    found = boundaries(TENTHS, 0.01, 0.2)
    assert found.harm[-1] == found.futility[-1]
    assert all(f < h for f, h in zip(found.futility[:-1], found.harm[:-1], strict=True))
    assert list(found.harm) == sorted(found.harm, reverse=True)
    assert list(found.futility) == sorted(found.futility)


def test_what_is_caught_as_a_strong_suspicion_is_looked_at_again() -> None:
    plan = boundaries(TENTHS, 0.01, 0.2)
    drift = caught_drift(plan, 0.01, 0.2)
    assert drift < plan.drift
    doubt = normal_quantile(1.0 - strong_suspicion(0.01))
    bars = (*(min(bar, doubt) for bar in plan.futility[:-1]), plan.harm[-1])
    y = paths(TENTHS, drift, 200_000, 4)
    assert share_caught(y, plan.harm, bars) == pytest.approx(0.8, abs=0.003)


def test_one_look_is_the_test_of_a_fixed_size() -> None:
    found = boundaries((1.0,), 0.01, 0.2)
    assert found.harm == found.futility == (normal_quantile(0.99),)
    assert found.drift == pytest.approx(normal_quantile(0.99) + normal_quantile(0.8))


def test_a_bound_that_is_looked_at_again_and_again() -> None:
    times = (0.2, 0.4, 1.0)
    found = boundaries(times, 0.05, 0.2)
    above = (paths(times, 0.0, 100_000, 3) >= found.proof).any(axis=1).mean()
    assert above == pytest.approx(0.2, abs=0.005)


def test_any_spending_may_be_followed() -> None:
    """All spent at the end: the fixed size, but for what two looks cannot both spend."""
    *early, last = crossing((0.5, 1.0), lambda t: 0.05 * (t == 1.0) + 1e-9)
    assert early[0] > 5.0
    assert last == pytest.approx(normal_quantile(0.95), abs=1e-4)
    assert nominal(last) == pytest.approx(0.05, abs=1e-4)


def test_smaller_shares_of_alpha_ask_for_more() -> None:
    one, many = boundaries(TENTHS, 0.01, 0.2), boundaries(TENTHS, 0.0005, 0.2)
    assert all(b > a for a, b in zip(one.harm, many.harm, strict=True))
    assert many.drift > one.drift


def test_tail_of_the_normal_distribution() -> None:
    z = np.array([-9.0, -3.0, 0.0, 1.0, 4.0])
    assert upper_tail(-z) + upper_tail(z) == pytest.approx(np.ones(5), abs=1e-7)
    assert upper_tail(np.array([1.6448536]))[0] == pytest.approx(0.05, rel=1e-6)
