"""All suites together, and a score a dimension, against the formulas of docs/reports.md."""

from collections import Counter

import numpy as np
import pytest

from gate.analysis.table import Table
from gate.analysis.totals import dimension_scores, sum_totals
from gate.records import MetricSpec

NAN = np.nan


def table(specs=(), **columns):
    columns = {name.replace("__", "."): np.array(rows) for name, rows in columns.items()}
    rows, rounds = next(iter(columns.values())).shape
    cases = tuple(f"c{n}" for n in range(rows))
    return Table(
        suite="s",
        cases=cases,
        digests=cases,
        rounds=rounds,
        columns=columns,
        specs={spec.name: spec for spec in specs},
    )


def spec(name, low=0.0, high=1.0, direction="higher"):
    return MetricSpec(name=name, column=name, low=low, high=high, direction=direction)


def test_each_trial_counts_once_whatever_suite_it_is_of():
    one = table(
        success=[[1.0, 0.0], [1.0, NAN]],
        infra_error=[[0.0, 0.0], [0.0, 1.0]],
        latency_ms=[[10.0, 20.0], [30.0, NAN]],
        total_tokens=[[5.0, NAN], [7.0, NAN]],
    )
    two = table(success=[[0.0]], infra_error=[[0.0]], latency_ms=[[100.0]], total_tokens=[[NAN]])
    codes = [Counter({f"code{n:02}": n for n in range(1, 12)}), Counter({"code01": 20, "x": 1})]
    found = sum_totals([one, two], codes)
    assert (found.suites, found.cases, found.trials, found.judged) == (2, 3, 5, 4)
    assert found.success_rate == pytest.approx(2 / 4)
    assert (found.mean_latency_ms, found.worst_latency_ms, found.avg_tokens) == (40.0, 100.0, 6.0)
    assert found.failures_top[:2] == (("code01", 21), ("code11", 11))
    assert len(found.failures_top) == 10


def test_nothing_measured_is_unknown_and_not_zero():
    found = sum_totals([table(infra_error=[[1.0]])], [Counter()])
    assert (found.trials, found.success_rate, found.mean_latency_ms, found.avg_tokens) == (
        1,
        None,
        None,
        None,
    )
    assert sum_totals([], []).success_rate is None


def test_a_dimension_is_the_mean_over_cases_of_its_values_between_worst_and_best():
    specs = [
        spec("quality.points", 1.0, 5.0),
        spec("quality.share"),
        spec("safety.rate", direction="lower"),
        spec("operational.cost", 0.0, None),
        spec("other.never"),
    ]
    found = dimension_scores(
        table(
            specs,
            quality__points=[[5.0, 3.0], [1.0, NAN]],  # 1, .5 | 0
            quality__share=[[0.0, NAN], [0.5, NAN]],  # 0, - | .5
            safety__rate=[[0.25, 0.25], [NAN, NAN]],
            operational__cost=[[9.0, 9.0], [9.0, 9.0]],
            other__never=[[NAN, NAN], [NAN, NAN]],
            success=[[1.0, 1.0], [1.0, 1.0]],
        )
    )
    # The first case: rounds .5 and .5; the second: one round, .25.
    assert found == {
        "quality": pytest.approx((0.5 + 0.25) / 2),
        "safety": pytest.approx(0.75),
        "other": None,
    }
