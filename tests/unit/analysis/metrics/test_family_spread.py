"""The standard deviation over the rounds of a case, `std` with `within: case`."""

import math

import numpy as np
import pytest

from gate.analysis.metrics.k_rounds import KRounds
from gate.analysis.metrics.mean import Mean
from gate.analysis.metrics.std import Std
from gate.records import MetricSpec, Sight, Tolerance

SPEC = MetricSpec(name="agent.score_spread", column="score", family="std", direction="lower")
FAMILY = Std(within="case")


def compare(was: np.ndarray, now: np.ndarray):
    return FAMILY.compare(was, now, SPEC, tolerance=Tolerance(value=0.02))


def test_what_differs_between_cases_is_no_spread() -> None:
    values = np.repeat([[0.0], [0.5], [1.0]], 4, axis=1)
    assert FAMILY.reduce(values) == 0.0
    assert Std().reduce(values) > 0.4


@pytest.mark.parametrize("value", [0.95, 0.7, 1 / 3, 0.1, 1234.56])
@pytest.mark.parametrize("rounds", [2, 3, 6, 7])
def test_equal_scores_have_no_spread_at_all(value: float, rounds: int) -> None:
    """Their sum is rounded, so that its mean may be another number than they are."""
    values = np.full((8, rounds), value)
    values[3, 1:] = math.nan
    whole = MetricSpec(name="operational.std_latency_ms", column="x", family="std", high=None)
    assert FAMILY.reduce(values) == Std().reduce(values) == 0.0
    for family in (FAMILY, Std()):
        found = family.interval(values, whole, confidence=0.95)
        assert (found.value, found.low) == (0.0, 0.0)
    found = compare(values, np.full((8, 5), value))
    assert (found.baseline, found.current, found.delta) == (0.0, 0.0, 0.0)
    mean = Mean().compare(values, np.full((8, 5), value), SPEC, tolerance=Tolerance(value=0.02))
    assert mean.delta == 0.0


def test_the_root_of_the_mean_variance_of_the_cases() -> None:
    values = np.array([[0.0, 1.0], [0.5, 0.5], [math.nan, 1.0]])
    assert FAMILY.reduce(values) == pytest.approx(math.sqrt((0.5 + 0.0) / 2))
    assert FAMILY.per_case(values)[:2].tolist() == pytest.approx([math.sqrt(0.5), 0.0])


def test_one_round_has_no_spread() -> None:
    values = np.ones((5, 1))
    assert math.isnan(FAMILY.reduce(values))
    assert FAMILY.interval(values, SPEC, confidence=0.95) is None
    assert FAMILY.needs == "2 rounds of each case are needed"
    assert compare(values, values).too_few


def test_of_pass_and_fail_its_square_is_half_the_flip_rate() -> None:
    values = (np.random.default_rng(1).random((50, 4)) < 0.6).astype(float)
    flips = KRounds(k=2, wanted="unlike").reduce(values)
    assert FAMILY.reduce(values) ** 2 == pytest.approx(flips / 2)


def test_more_rounds_do_not_change_it() -> None:
    rng = np.random.default_rng(2)
    few, many = (rng.normal(0.5, 0.1, (4000, rounds)) for rounds in (2, 10))
    assert FAMILY.reduce(few) == pytest.approx(0.1, abs=0.004)
    assert FAMILY.reduce(many) == pytest.approx(0.1, abs=0.002)


def test_scores_that_scatter_more_are_worse() -> None:
    rng = np.random.default_rng(3)
    was, now = rng.normal(0.5, 0.05, (60, 6)), rng.normal(0.5, 0.15, (60, 3))
    found = compare(was, now)
    assert found.p_worse < 1e-4
    assert found.delta == pytest.approx(0.1, abs=0.03)
    interval = FAMILY.interval(now, SPEC, confidence=0.95)
    assert 0.0 < interval.low < 0.15 < interval.high < 1.0


def test_what_is_within_the_tolerance_is_never_called_a_change() -> None:
    rng = np.random.default_rng(4)
    was, now = (rng.normal(0.5, 1e-4, (300, rounds)) for rounds in (6, 3))
    assert compare(was, now).detectable(Sight(drift=3.17, power=0.8, level=0.01)) == 0.02


@pytest.mark.parametrize("rounds_b", [3, 12])
def test_false_alarms_when_nothing_changed(rounds_b: int) -> None:
    rng = np.random.default_rng(rounds_b)
    alarms = 0
    for _ in range(200):
        chance = rng.beta(0.7, 0.5, 40)[:, None]
        was, now = ((rng.random((40, r)) < chance).astype(float) for r in (rounds_b, 3))
        alarms += compare(was, now).p_worse <= 0.05
    assert alarms <= 20  # 10 expected, standard deviation 3
