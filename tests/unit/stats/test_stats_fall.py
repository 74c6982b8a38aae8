"""A change that is caught 8 times in 10: the variance that a fall adds, against simulation."""

import math

import numpy as np
import pytest

from gate.stats.fall import ArmSizes, Fall, difference_variances, least_fall

FALL = Fall(level=0.6, square=0.5, span=1.0)


def arms(cases: float = 40, rounds: float = 3, rounds_b: float = 12) -> ArmSizes:
    return ArmSizes(cases=cases, rounds=rounds, rounds_b=rounds_b, variance=0.1)


def test_an_agent_that_did_not_fall_has_the_noise_of_both_sides() -> None:
    for fall in (None, FALL):
        found = difference_variances(arms(), fall, 0.0)
        assert found.believed == pytest.approx(0.1 * (1 / 3 + 1 / 12) / 40)
        assert found.true == pytest.approx(found.believed)


def broken(rng: np.random.Generator, p: np.ndarray, gone: float) -> np.ndarray:
    return np.where(rng.random(p.shape) < gone, 0.0, p)


@pytest.mark.parametrize(("rounds", "rounds_b"), [(3, 3), (3, 12), (6, 12)])
def test_cases_that_break_add_the_variance_that_the_formula_says(rounds, rounds_b) -> None:
    """Half of the formula is of them: the other half is put aside by a fall that weakens none."""
    rng, n, reps, x = np.random.default_rng(1), 200, 3000, 0.06
    p = np.resize([1.0, 1.0, 0.5, 0.0], n)
    level, square, v = p.mean(), (p**2).mean(), (p * (1 - p)).mean()
    q = broken(rng, np.tile(p, (reps, 1)), x / level)
    was = rng.binomial(rounds_b, np.tile(p, (reps, 1)))
    now = rng.binomial(rounds, q)
    delta = (now / rounds - was / rounds_b).mean(axis=1)
    both, s = rounds + rounds_b, was + now
    weight = rounds * rounds_b / both
    pooled = (s * (both - s) / both / (both - 1)).mean(axis=1) / weight / n
    side = ArmSizes(cases=n, rounds=rounds, rounds_b=rounds_b, variance=v)
    mixed = difference_variances(side, Fall(level=level, square=square, span=math.inf), x)
    # Weakened, with no Bernoulli variance: the noise as it was, and x^2 in the pooled variance.
    plain = v / weight / n
    alike = plain + x**2 / (both - 1) / n
    assert 2 * mixed.true - plain == pytest.approx(delta.var(), rel=0.08)
    if rounds == rounds_b:
        assert 2 * mixed.believed - alike == pytest.approx(pooled.mean(), rel=0.03)


@pytest.mark.parametrize(("rounds", "rounds_b"), [(2, 4), (1, 1), (3, 3)])
def test_rounds_that_a_look_gives_inexactly_are_the_same_rounds(rounds, rounds_b) -> None:
    """Else 300 cases x 2 against 4 rounds printed a drop that was caught in 83.4 %."""
    exact = difference_variances(arms(300, rounds, rounds_b), FALL, 0.05)
    for off in (1e-12, -1e-12, -1e-5):
        found = difference_variances(arms(300, rounds + off, rounds_b), FALL, 0.05)
        assert found.believed == pytest.approx(exact.believed, rel=1e-4)


def test_a_fall_from_the_top_is_noisier_than_no_fall() -> None:
    """From 0.98 to 0.90 calls vary more than four times as much."""
    sure = ArmSizes(cases=100, rounds=3, rounds_b=3, variance=0.98 * 0.02)
    found = difference_variances(sure, Fall(level=0.98, square=0.98**2, span=1.0), 0.08)
    assert found.true > 2.0 * difference_variances(sure, None, 0.08).true


def test_the_least_fall_solves_its_equation() -> None:
    found = least_fall(arms(), FALL, boundary=2.6, reserve=0.84, tolerance=0.02)
    errors = difference_variances(arms(), FALL, found)
    assert found == pytest.approx(2.6 * math.sqrt(errors.believed) + 0.84 * math.sqrt(errors.true))
    plain = least_fall(arms(), None, boundary=2.6, reserve=0.84)
    assert 1.08 < found / plain < 1.25


def test_what_cannot_fall_so_far_is_beyond_its_level() -> None:
    few = ArmSizes(cases=2, rounds=1, rounds_b=1, variance=0.2)
    assert least_fall(few, FALL, boundary=2.6, reserve=0.84) >= FALL.level
