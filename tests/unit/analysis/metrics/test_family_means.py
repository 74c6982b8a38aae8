"""The families mean, rate and log_mean."""

import math

import numpy as np
import pytest

from gate.analysis.metrics.log_mean import LogMean
from gate.analysis.metrics.mean import Mean
from gate.analysis.metrics.rate import Rate
from gate.plugins import METRICS
from gate.records import Evidence, MetricSpec, Tolerance
from gate.stats.distributions import normal_cdf
from tests.support.sights import high, low, mde

NAN = math.nan
SHARE = MetricSpec(name="d.m", column="m")
LATENCY = MetricSpec(name="d.ms", column="m", unit="ms", direction="lower", high=None)
ALPHA = 0.01


def test_all_families_are_registered() -> None:
    assert set(METRICS.names()) >= {"mean", "rate", "quantile", "log_mean", "std", "max"}


@pytest.mark.parametrize("family", [Mean(), Rate(), LogMean()])
def test_mean_of_case_means(family: Mean | Rate | LogMean) -> None:
    values = np.array([[1.0, 0.0], [1.0, NAN], [NAN, NAN]])
    assert family.reduce(values) == 0.75
    assert family.per_case(values)[:2].tolist() == [0.5, 1.0]
    assert math.isnan(family.reduce(values[2:]))
    assert family.interval(values[2:], SHARE, confidence=0.95) is None


def test_scale() -> None:
    values = np.array([[0.0, 0.02], [0.01, 0.01]])
    assert Mean(scale=100.0).reduce(values) == pytest.approx(1.0)
    interval = Mean(scale=100.0).interval(
        values, MetricSpec(name="a.b", column="c", high=None), confidence=0.95
    )
    assert interval is not None
    assert interval.low <= 1.0 <= interval.high


def test_intervals_choose_what_the_rounds_allow() -> None:
    rng = np.random.default_rng(1)
    once, thrice = ((rng.random((40, r)) < 0.8).astype(float) for r in (1, 3))
    assert Rate().interval(once, SHARE, confidence=0.95).method == "Clopper-Pearson"
    assert Rate().interval(thrice, SHARE, confidence=0.95).method == "within-case variance"
    assert Mean().interval(once, SHARE, confidence=0.95).method == "t, between cases"
    assert Mean().interval(thrice, SHARE, confidence=0.95).method == "within-case variance"
    found = LogMean().interval(once, LATENCY, confidence=0.95)
    assert found.method == "between cases, on logarithms"
    assert LogMean().interval(thrice, LATENCY, confidence=0.95).n == 120


@pytest.mark.parametrize("family", [Mean(), Rate()])
def test_worse_follows_the_direction(family: Mean | Rate) -> None:
    rng = np.random.default_rng(2)
    was = (rng.random((60, 3)) < 0.9).astype(float)
    now = (rng.random((60, 3)) < 0.6).astype(float)
    lower = MetricSpec(name="d.m", column="m", direction="lower")
    tolerance = Tolerance(value=0.02)
    drop = family.compare(was, now, SHARE, tolerance=tolerance)
    gain = family.compare(was, now, lower, tolerance=tolerance)
    assert drop.p_worse < 1e-4
    assert gain.p_better == drop.p_worse
    assert drop.current - drop.baseline == pytest.approx(drop.delta)
    assert high(drop, ALPHA) < 0.0
    assert mde(drop, ALPHA / 5) > mde(drop, ALPHA)


def test_latency_is_compared_by_geometric_means() -> None:
    rng = np.random.default_rng(3)
    was = np.exp(7.0 + 0.3 * rng.standard_normal((80, 4)))
    now = np.exp(7.0 + 0.3 * rng.standard_normal((80, 4))) * 1.25
    now[0, 0] = 1e6  # one stuck answer decides nothing
    found = LogMean().compare(was, now, LATENCY, tolerance=Tolerance(value=0.05, relative=True))
    assert found.relative
    assert 0.15 < found.delta < 0.40
    assert low(found, ALPHA) > 0.0
    assert found.p_worse < 1e-6
    assert 0.05 <= mde(found, ALPHA) < 0.25


def test_the_numbers_beside_the_change_of_a_latency_are_its_means() -> None:
    """As in the limit, the trend and the cost of the same report."""
    rng = np.random.default_rng(3)
    was, now = np.exp(7.0 + rng.standard_normal((2, 80, 4)))
    now[0, 0] = 1e6
    found = LogMean().compare(was, now, LATENCY, tolerance=Tolerance(value=0.05, relative=True))
    means = (LogMean().reduce(was), LogMean().reduce(now))
    assert (found.baseline, found.current) == pytest.approx(means)


def test_absolute_tolerance_of_a_latency() -> None:
    rng = np.random.default_rng(4)
    was = np.exp(7.0 + 0.1 * rng.standard_normal((50, 3)))
    tolerance = Tolerance(value=200.0)
    found = LogMean().compare(was, was * 1.5, LATENCY, tolerance=tolerance)
    assert not found.relative
    assert found.delta == pytest.approx(found.baseline * 0.5, rel=0.02)
    assert mde(found, ALPHA) >= 199.0
    up = MetricSpec(name="d.m", column="m", high=None)
    worse = LogMean().compare(was, was / 1.5, up, tolerance=tolerance)
    assert worse.p_worse < 1e-6
    assert 199.0 <= mde(worse, ALPHA) < worse.baseline


def test_costs_of_nothing() -> None:
    rng = np.random.default_rng(5)
    was = np.where(rng.random((40, 3)) < 0.3, 0.0, 0.01)
    tolerance = Tolerance(value=0.05, relative=True)
    found = LogMean().compare(was, was * 2.0, LATENCY, tolerance=tolerance)
    assert found.p_worse < 0.05
    mostly = np.where(rng.random((40, 3)) < 0.9, 0.0, 0.01)
    assert LogMean().compare(mostly, mostly, LATENCY, tolerance=tolerance).delta == 0.0
    nothing = np.zeros((10, 2))
    free = LogMean().compare(nothing, nothing, LATENCY, tolerance=tolerance)
    assert (free.delta, free.relative) == (0.0, False)


def test_a_change_never_detectable_stays_so_on_the_log_scale() -> None:
    was = np.arange(1.0, 6.0).reshape(5, 1)
    up = MetricSpec(name="d.m", column="m", high=None)
    for spec in (LATENCY, up):
        found = LogMean().compare(
            was, was + 1.0, spec, tolerance=Tolerance(value=0.05, relative=True)
        )
        assert mde(found, ALPHA) == math.inf


@pytest.mark.parametrize("cases", [60, 100, 40_000])
def test_what_no_call_explains_a_session_effect_may(cases: int) -> None:
    """A chance that is 0 but for rounding, against an effect of which the drop is 1.8 sd."""
    was, now = np.ones((cases, 12)), np.ones((cases, 3))
    now[: 2 * cases // 5] = 0.0
    found = Rate().compare(was, now, SHARE, tolerance=Tolerance(value=0.02), drift=0.05)
    assert found.p_worse == pytest.approx(normal_cdf(found.delta / found.se), rel=0.05)
    scores = Mean().compare(was, now * 0.9, SHARE, tolerance=Tolerance(value=0.02), drift=0.06)
    assert 0.03 < scores.p_worse < 0.05


def test_wild_logarithms_do_not_overflow() -> None:
    was, now = np.full((5, 2), 1e-300), np.full((5, 2), 1e300)
    found = LogMean().compare(was, now, LATENCY, tolerance=Tolerance(value=0.05, relative=True))
    assert found.delta == math.inf


@pytest.mark.parametrize("name", ["mean", "rate", "quantile", "log_mean", "std", "max"])
def test_runs_without_a_common_case(name: str) -> None:
    family = METRICS.get_class(name)()
    was = np.array([[1.0, 2.0], [NAN, NAN]])
    found = family.compare(was, was[::-1], LATENCY, tolerance=Tolerance(value=0.05))
    assert isinstance(found, Evidence)
    assert found.too_few == "no case has a value in both runs"
    assert found.p_worse == 1.0
    empty = family.compare(
        np.full((2, 1), NAN),
        np.full((2, 1), NAN),
        LATENCY,
        tolerance=Tolerance(value=0.05),
    )
    assert empty.n_paired == 0


@pytest.mark.parametrize("name", ["mean", "rate", "quantile", "log_mean", "std", "max"])
def test_the_same_data_are_no_change(name: str) -> None:
    family = METRICS.get_class(name)()
    values = np.random.default_rng(6).random((50, 3))
    for relative in (False, True):
        found = family.compare(
            values, values, LATENCY, tolerance=Tolerance(value=0.05, relative=relative)
        )
        assert found.delta == pytest.approx(0.0, abs=1e-12)
        assert found.p_worse >= 0.5 - 1e-9
        assert low(found, ALPHA) <= 0.0 <= high(found, ALPHA)
