import numpy as np
import pytest

from gate.analysis.spreads import BINS, measure_spreads
from gate.analysis.table import Table
from gate.stats.quantiles import quantile


def table(latency, cost=(), digests=None) -> Table:
    cases = tuple(f"c{number}" for number in range(len(latency)))
    columns = {"latency_ms": np.array([latency], dtype=float).T}
    if len(cost):
        columns["cost_usd"] = np.array([cost], dtype=float).T
    return Table(
        suite="a", cases=cases, digests=digests or cases, rounds=1, columns=columns
    )  # fmt: skip


def test_every_trial_is_in_one_step_and_the_marks_are_those_of_the_metrics():
    was, now = [100.0, 200.0, 300.0, np.nan], [150.0, 250.0, 350.0, 450.0]
    spread = measure_spreads(table(now), table(was))["latency_ms"]
    assert (spread.low, spread.high, spread.ratios) == (100.0, 450.0, False)
    assert len(spread.now.trials) == BINS
    assert sum(spread.now.trials) == 4
    assert sum(spread.was.trials) == 3
    assert spread.now.p95 == quantile(np.array(now), 0.95)
    assert spread.was.median == 200.0


def test_values_of_several_sizes_have_steps_of_equal_ratios():
    spread = measure_spreads(table([10.0, 100.0, 1_000.0]), None)["latency_ms"]
    assert spread.ratios
    assert [at for at, trials in enumerate(spread.now.trials) if trials] == [0, BINS // 2, BINS - 1]
    assert spread.was is None


def test_a_nothing_among_the_values_has_no_ratio():
    assert not measure_spreads(table([0.0, 1.0, 1_000.0]), None)["latency_ms"].ratios


def test_only_cases_that_are_as_they_were_are_set_beside():
    was = table([1.0, 9.0], digests=("c0", "other"))
    spread = measure_spreads(table([2.0, 3.0]), was)["latency_ms"]
    assert sum(spread.was.trials) == 1
    assert spread.high == 3.0


@pytest.mark.parametrize("values", [[5.0, 5.0], [np.nan, np.nan]])
def test_what_is_alike_or_unknown_has_no_spread(values):
    assert measure_spreads(table(values, [0.0, 0.0]), None) == {}
