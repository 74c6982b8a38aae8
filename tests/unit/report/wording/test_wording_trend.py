from dataclasses import replace

import pytest

from gate.report.wording.trend import sparkline, trends
from tests.support.reports import SUCCESS, metrics, passing, suite


@pytest.mark.parametrize(
    ("values", "bars"),
    [
        ((0.0, 0.5, 1.0), "▁▅█"),
        ((0.9, 0.9, 0.9), "▅▅▅"),
        ((0.90, 0.91, 0.90), "▄▅▄"),
        ((1.0, None, 0.0), "█·▁"),
        ((0.0, 0.0), "▅▅"),
        ((-4.0, -2.0), "▁█"),
        ((None, None), "··"),
        ((), ""),
    ],
)
def test_a_sign_a_run(values, bars):
    assert sparkline(values) == bars


def report(**history):
    known = {SUCCESS: history["values"]}
    return replace(passing(), suites={"analytics": suite(history=known)})


def test_a_trend_ends_with_this_run():
    (trend,) = trends(report(values=(0.5, None, 0.7)))
    assert (trend.suite, trend.metric, trend.runs) == ("analytics", SUCCESS, 3)
    assert (trend.first, trend.last, trend.bars[-1]) == ("0.50", "0.92", "█")


@pytest.mark.parametrize("values", [(), (0.5,), (None, 0.5, None)])
def test_fewer_than_two_known_values_are_no_trend(values):
    assert list(trends(report(values=values))) == []


def test_a_metric_without_a_value_now_has_no_trend():
    now = {name: found for name, found in metrics().items() if name != SUCCESS}
    gone = suite(history={SUCCESS: (0.5, 0.6)}, metrics=now)
    assert list(trends(replace(passing(), suites={"analytics": gone}))) == []
