import re
from dataclasses import replace

import pytest

from gate.records import BaselineInfo, Spread, SpreadOf
from gate.report.session_page.spreads import TICKS, draw_spreads, scale_ticks
from tests.support.reports import passing

NOW = SpreadOf(trials=(1, 0, 3), median=300.0, p95=390.0)
WAS = SpreadOf(trials=(2, 2, 0), median=200.0, p95=250.0)
LATENCY = Spread(unit="ms", low=100.0, high=400.0, ratios=False, now=NOW, was=WAS)


def drawn(spread: Spread, **of_suite) -> str:
    report = passing()
    (suite,) = report.suites.values()
    suite = replace(suite, spreads={"latency_ms": spread}, **of_suite)
    return draw_spreads(replace(report, suites={suite.name: suite}))


def test_the_baseline_stands_above_this_run_on_one_axis():
    text = drawn(LATENCY)
    assert re.findall(r"<span>([^<]*trials?)</span>", text) == [
        "baseline, 4 trials",
        "now, 4 trials",
    ]
    assert re.findall(r"median [^<]*", text) == [
        "median 200 ms, p95 250 ms",
        "median 300 ms, p95 390 ms",
    ]
    assert re.findall(r'class="median" x1="([\d.]+)%"', text) == ["33.33", "66.67"]


def test_bars_are_shares_so_that_runs_of_different_size_can_be_compared():
    tall = [float(h) for h in re.findall(r'class="bar now"[^>]* height="([\d.]+)"', drawn(LATENCY))]
    short = [
        float(h) for h in re.findall(r'class="bar baseline"[^>]* height="([\d.]+)"', drawn(LATENCY))
    ]
    assert tall[1] == pytest.approx(3 * tall[0], abs=0.1)
    assert short[0] == pytest.approx(2 * tall[0], abs=0.1)


def test_an_axis_of_ratios_is_told_and_its_middle_is_the_geometric_mean():
    text = drawn(
        replace(LATENCY, low=10.0, high=1_000.0, ratios=True, now=replace(NOW, median=100))
    )
    assert "logarithmic scale" in text
    assert 'class="median" x1="50%"' in text
    assert "linear scale" in drawn(LATENCY)


def test_a_baseline_without_values_is_told():
    alone = replace(LATENCY, was=None)
    assert "the baseline has no such values" in drawn(alone)
    assert "no such values" not in drawn(alone, baseline=BaselineInfo(source="none"))


def test_nothing_is_drawn_of_nothing():
    assert draw_spreads(passing()) == ""


@pytest.mark.parametrize(
    ("low", "high", "ratios", "ticks"),
    [
        (3, 97, False, [20, 40, 60, 80]),
        (0, 0.0034, False, [0, 0.001, 0.002, 0.003]),
        (100, 3_000, True, [100, 200, 500, 1_000, 2_000]),
        (0.0001, 0.02, True, [0.0001, 0.0003, 0.001, 0.003, 0.01]),
        (1e-6, 5e3, True, [1e-6, 1e-4, 1e-2, 1, 100]),
    ],
)
def test_ticks_are_round_numbers(low, high, ratios, ticks):
    assert scale_ticks(low, high, ratios=ratios) == pytest.approx(ticks)
    assert 2 <= len(ticks) <= TICKS
