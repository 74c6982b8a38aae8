import re
from dataclasses import replace

import pytest

from gate.report.session_page.charts import draw_charts
from tests.support.reports import SCENARIOS, comparison, gate, latency, passing


def drawn(*comparisons, gates=()) -> str:
    return draw_charts(passing(comparisons=comparisons, gates=gates))


def line_of(text: str, metric: str) -> str:
    return next(part for part in text.split('<div class="line">') if f">{metric}<" in part)


def places(line: str, what: str) -> list[float]:
    return [float(x) for x in re.findall(f'class="{what}[^"]*" (?:cx|x1|x)="([-0-9.]+)%"', line)]


def test_a_fall_lies_left_of_zero_and_left_of_the_band():
    fell = comparison(delta=-0.2, ci_low=-0.3, ci_high=-0.1, tolerance=0.05, status="regression")
    line = line_of(drawn(fell), "agent.success_rate")
    (zero,), (dot,), (band,) = (places(line, what) for what in ("zero", "dot", "band"))
    assert dot < band < zero == 50
    assert places(line, "range")[0] < dot
    assert "−20.0\xa0pt" in line


def test_more_milliseconds_lie_to_the_left_as_they_are_worse():
    slower = latency(delta=0.5, ci_low=0.4, ci_high=0.6, level="block")
    line = line_of(drawn(slower), "operational.p95_latency_ms")
    assert places(line, "dot")[0] < 50


def test_blocking_rows_are_open_and_the_others_folded_by_family():
    rows = [comparison(), *(comparison(f"retrieval.recall@{k}", level="warn") for k in (1, 3, 5))]
    text = drawn(*rows)
    opened, folded = text.split("<details", 1)
    assert "agent.success_rate" in opened
    assert "retrieval: 3 metrics that do not block" in folded
    assert folded.count('class="line"') == 3


def test_a_limit_is_a_band_with_target_baseline_and_value_on_one_scale():
    limit = gate(min=0.9, target=0.95, value=0.8, ci_low=0.75, ci_high=0.85, status="fail")
    compared = comparison("correctness.fact_accuracy", baseline=0.94, current=0.8)
    line = line_of(drawn(compared, gates=(limit,)).split("<h2>Limits")[1], limit.metric)
    (value,), (band,), (target,), (before,) = (
        places(line, what) for what in ("dot", "band", "target", "ring")
    )
    assert value < band < before < target
    assert "min 0.90" in line


def test_what_has_no_numbers_is_not_drawn():
    assert drawn(comparison(delta=None, ci_low=None, ci_high=None)) == ""
    assert drawn(gates=(gate(value=None, status="missing"),)) == ""


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_place_is_inside_the_drawing(name):
    report = replace(SCENARIOS[name]())
    for place in re.findall(r'(?:cx|x[12]?)="([-0-9.]+)%"', draw_charts(report)):
        assert 0 <= float(place) <= 100
