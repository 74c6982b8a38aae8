"""Tails of sums of numbers of few outcomes."""

import math

import numpy as np
import pytest

from gate.stats.lattice import Numbers, tails


def coins(count: int, *, step: float = 1.0, steps: int = 1) -> Numbers:
    """Each is `step` up or down."""
    return Numbers(
        values=np.array([[-step, step]]),
        chances=np.array([[0.5, 0.5]]),
        counts=np.array([count]),
        steps=steps,
    )


def test_numbers_that_never_vary() -> None:
    nothing = Numbers(
        values=np.zeros((0, 1)), chances=np.zeros((0, 1)), counts=np.zeros(0, int), steps=1
    )
    assert (tails(nothing, 0.0).down, tails(nothing, 0.0).up) == (0.5, 0.5)


def test_half_of_a_tie_counts() -> None:
    found = tails(coins(2), 0.0)
    assert (found.down, found.up, found.exact) == (0.5, 0.5, True)
    assert tails(coins(2), -2.0).down == pytest.approx(0.125)
    assert tails(coins(2), 2.0).up == pytest.approx(0.125)
    assert tails(coins(2), 2.0).down == pytest.approx(0.875)


def test_a_fine_lattice_on_which_only_few_places_are_used_is_exact() -> None:
    found = tails(coins(20, step=0.3, steps=10**6), -6.0)
    assert found.exact
    assert found.down == pytest.approx(0.5**21, rel=1e-6)


@pytest.mark.parametrize("steps", [10**5, 10**15])
def test_values_between_two_places_of_a_coarse_lattice(steps: int) -> None:
    """Two kinds whose steps have nothing in common: 0.1 and an irrational one."""
    odd = math.sqrt(2) / 10
    numbers = Numbers(
        values=np.array([[-0.1, 0.1], [-odd, odd]]),
        chances=np.full((2, 2), 0.5),
        counts=np.array([9, 9]),
        steps=steps,
    )
    sums = sorted(0.1 * i + odd * j for i in range(-9, 10, 2) for j in range(-9, 10, 2))
    for seen in (sums[0], sums[20], sums[70]):
        down = sum(
            math.comb(9, i)
            * math.comb(9, j)
            / 2**18
            * (0.5 if abs(0.1 * (2 * i - 9) + odd * (2 * j - 9) - seen) < 1e-9 else 1.0)
            for i in range(10)
            for j in range(10)
            if 0.1 * (2 * i - 9) + odd * (2 * j - 9) <= seen + 1e-9
        )
        found = tails(numbers, seen)
        assert found.down == pytest.approx(down, rel=0.02)
        assert found.down + found.up == pytest.approx(1.0, abs=1e-3)


def test_the_normal_curve_never_turns_round() -> None:
    rare = Numbers(
        values=np.array([[-0.01, 0.99]]),
        chances=np.array([[0.99, 0.01]]),
        counts=np.array([1000]),
        steps=10**15,
    )
    far = [tails(rare, 0.99 * k - 0.01 * (1000 - k)) for k in (20, 60, 300, 1000)]
    assert not far[0].exact
    assert [found.up for found in far] == sorted((found.up for found in far), reverse=True)
    assert far[-1].up < 1e-4
