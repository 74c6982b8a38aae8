"""The families quantile, std and max."""

import math

import numpy as np
import pytest

from gate.analysis.metrics.max import Max
from gate.analysis.metrics.quantile import Quantile
from gate.analysis.metrics.std import Std
from gate.records import MetricSpec, Tolerance
from tests.support.sights import high, low, mde

NAN = math.nan
LATENCY = MetricSpec(name="d.ms", column="m", unit="ms", direction="lower", high=None)
HIGHER = MetricSpec(name="d.up", column="m", high=None)
TEN_PERCENT = Tolerance(value=0.1, relative=True)
ALPHA = 0.05


def _latencies(cases: int, rounds: int, seed: int) -> np.ndarray:
    return np.exp(7.0 + 0.4 * np.random.default_rng(seed).standard_normal((cases, rounds)))


def test_quantile_of_all_calls() -> None:
    values = np.arange(1.0, 101.0).reshape(50, 2)
    assert Quantile(q=0.5).reduce(values) == 50.5
    assert Quantile(q=0.5).per_case(values)[0] == 1.5
    interval = Quantile(q=0.5).interval(values, LATENCY, confidence=0.95)
    assert interval is not None
    assert 35.0 < interval.low < 50.5 < interval.high < 65.0
    assert interval.n == 100
    assert Quantile().interval(np.full((2, 2), NAN), LATENCY, confidence=0.95) is None


@pytest.mark.parametrize("calls", [3, 26, 40, 77])
@pytest.mark.parametrize("q", [0.05, 0.5, 0.95, 0.99])
def test_the_interval_of_a_quantile_holds_it(q: float, calls: int) -> None:
    """It lies between two calls, and so may lie below the lower one that its rank tells."""
    values = _latencies(calls, 1, seed=calls)
    interval = Quantile(q=q).interval(values, LATENCY, confidence=0.9)
    assert interval is not None
    assert interval.low <= interval.value <= interval.high


def test_too_few_calls_for_a_p95() -> None:
    was, now = _latencies(20, 6, 1), _latencies(20, 3, 2)
    found = Quantile().compare(was, now, LATENCY, tolerance=TEN_PERCENT)
    assert found.too_few == "60 of the 100 calls that a p95 needs"
    assert not Quantile(q=0.5).compare(was, now, LATENCY, tolerance=TEN_PERCENT).too_few


def test_a_slower_p95_is_caught_and_sized() -> None:
    was, now = _latencies(200, 6, 3), 1.5 * _latencies(200, 3, 4)
    found = Quantile().compare(was, now, LATENCY, tolerance=TEN_PERCENT)
    assert found.relative
    assert found.p_worse < 1e-4
    assert 0.3 < found.delta < 0.7
    assert 0.0 < low(found, ALPHA) < found.delta < high(found, ALPHA)
    assert 0.1 <= mde(found, ALPHA) < 0.5
    assert found.too_few == ""


def test_the_other_direction_and_natural_units() -> None:
    was, now = _latencies(200, 3, 5), 0.6 * _latencies(200, 3, 6)
    found = Quantile(q=0.5).compare(was, now, HIGHER, tolerance=Tolerance(value=10.0))
    assert not found.relative
    assert found.p_worse < 1e-4
    assert high(found, ALPHA) < 0.0
    assert found.delta == pytest.approx(found.current - found.baseline)
    assert 10.0 <= mde(found, ALPHA) < found.baseline


def test_the_interval_of_a_quantile_ends_where_the_data_end() -> None:
    was, now = _latencies(34, 3, 7), _latencies(34, 3, 8)
    found = Quantile(q=0.99).compare(was, now, LATENCY, tolerance=TEN_PERCENT)
    assert high(found, ALPHA) == math.inf
    assert "p99" in found.too_few


def test_p95_raises_few_false_alarms() -> None:
    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        level = np.exp(7.0 + rng.standard_normal((60, 1)))
        was, now = (level * np.exp(0.4 * rng.standard_normal((60, r))) for r in (6, 3))
        found = Quantile().compare(was, now, LATENCY, tolerance=TEN_PERCENT)
        alarms += found.p_worse <= 0.05
    assert alarms <= 20  # 10 expected


def test_standard_deviation() -> None:
    values = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert Std().reduce(values) == pytest.approx(np.std([1, 2, 3, 4], ddof=1))
    assert Std().per_case(values).tolist() == pytest.approx([math.sqrt(0.5)] * 2)
    assert math.isnan(Std().reduce(values[:1, :1]))
    assert Std().interval(values[:1, :1], LATENCY, confidence=0.95) is None
    wide = _latencies(60, 3, 9)
    interval = Std().interval(wide, LATENCY, confidence=0.95)
    assert interval is not None
    assert interval.low < Std().reduce(wide) < interval.high
    assert interval == Std().interval(wide, LATENCY, confidence=0.95)


def test_a_wider_spread_is_caught() -> None:
    rng = np.random.default_rng(10)
    was = 1000.0 + 50.0 * rng.standard_normal((100, 3))
    now = 1000.0 + 100.0 * rng.standard_normal((100, 3))
    found = Std().compare(was, now, LATENCY, tolerance=TEN_PERCENT)
    assert found.p_worse < 1e-4
    assert 0.7 < found.delta < 1.3
    assert low(found, ALPHA) > 0.0
    natural = Std().compare(was, now, LATENCY, tolerance=Tolerance(value=5.0))
    assert natural.delta == pytest.approx(50.0, abs=15.0)
    constant = np.full((9, 2), 3.0)
    assert not Std().compare(constant, constant, LATENCY, tolerance=TEN_PERCENT).relative


def test_a_mean_that_moved_is_no_wider_spread() -> None:
    rng = np.random.default_rng(11)
    was = 1000.0 + 50.0 * rng.standard_normal((100, 3))
    now = 400.0 + 20.0 * rng.standard_normal((100, 3))
    found = Std().compare(was, now, LATENCY, tolerance=TEN_PERCENT)
    assert found.p_worse > 0.99
    assert found.current == pytest.approx(np.std(now, ddof=1))
    assert found.baseline == pytest.approx(np.std(was, ddof=1))


def test_of_equal_spreads_few_are_called_wider() -> None:
    alarms = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        was, now = (1000.0 + 50.0 * rng.standard_normal((40, r)) for r in (6, 3))
        alarms += Std().compare(was, now, LATENCY, tolerance=TEN_PERCENT).p_worse <= 0.05
    assert alarms <= 0.08 * 400


def test_the_worst_call_is_a_fact_that_proves_little() -> None:
    was = np.array([[1.0, 5.0], [2.0, NAN], [NAN, NAN]])
    now = np.array([[9.0], [2.0], [1.0]])
    assert Max().reduce(was) == 5.0
    assert Max().per_case(was)[:2].tolist() == [5.0, 2.0]
    assert math.isnan(Max().per_case(was)[2])
    interval = Max().interval(was, LATENCY, confidence=0.95)
    assert interval is not None
    assert (interval.low, interval.high) == (5.0, 5.0)
    assert Max().interval(was[2:], LATENCY, confidence=0.95) is None
    slower = Max().compare(was, now, LATENCY, tolerance=TEN_PERCENT)
    assert slower.delta == pytest.approx(0.8)
    assert slower.p_worse == pytest.approx(1 / 3)
    assert slower.p_better == 1.0
    faster = Max().compare(now, was, LATENCY, tolerance=Tolerance(value=1.0))
    assert faster.delta == -4.0
    assert faster.p_better == pytest.approx(1 / 3)
    assert Max().compare(now, was, HIGHER, tolerance=TEN_PERCENT).p_worse == (pytest.approx(1 / 3))
