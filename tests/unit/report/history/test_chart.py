import re
from dataclasses import replace

from gate.report.history.chart import DRAWN, draw_course
from tests.support.long_history import LATENCY, long_history


def drawn(metric: str = "agent.success_rate", runs: int = 24, **changes: object) -> str:
    (suite,) = long_history(runs).suites
    suite = replace(suite, **changes)
    course = next(one for one in suite.courses if one.metric == metric)
    return draw_course(course, suite, lambda run: f"reports/{run.run_id}/report.html")


def numbers(text: str, what: str, *names: str) -> list[list[float]]:
    found = re.findall(f'<(?:line|rect|circle) class="{what}"[^>]*>', text)
    return [[float(re.search(rf' {name}="([-0-9.]+)', one)[1]) for name in names] for one in found]


def test_a_dot_a_run_from_left_to_right_and_higher_values_above():
    dots = numbers(drawn(), "dot", "cx", "cy")
    assert len(dots) == 24
    assert [x for x, _ in dots] == sorted(x for x, _ in dots)
    assert dots[0][1] < dots[10][1] > dots[20][1]


def test_a_dot_leads_to_the_report_and_the_stroke_below_it_to_the_commit():
    text = drawn()
    assert text.count('href="reports/') == 24
    assert text.count('href="https://github.com/o/r/commit/') == 24
    (suite,) = long_history().suites
    none = draw_course(suite.courses[0], suite, lambda run: "")
    assert none.count('href="https://github.com/o/r/commit/') == 48


def test_a_value_that_is_unknown_breaks_the_line():
    gap = drawn("retrieval.ndcg@5")
    assert len(numbers(gap, "dot", "cx")) == 24 - 3
    assert len(numbers(gap, "way", "x1")) == 23 - 2 * 3


def test_intervals_are_bands_around_their_values():
    text = drawn()
    bands, dots = numbers(text, "interval", "x", "y", "height"), numbers(text, "dot", "cx", "cy")
    assert len(bands) == len(dots)
    for (left, top, height), (x, y) in zip(bands, dots, strict=True):
        assert left < x
        assert top < y < top + height
    assert numbers(drawn("agent.avg_steps"), "interval", "x") == []


def test_a_change_of_level_stands_between_its_runs_with_both_levels():
    text = drawn()
    fell, rose = numbers(text, "turn bad", "x1"), numbers(text, "turn good", "x1")
    dots = [x for (x,) in numbers(text, "dot", "cx")]
    assert dots[7] < fell[0][0] < dots[8]
    assert dots[15] < rose[0][0] < dots[16]
    assert "0.94 → 0.75" in text
    assert len(numbers(text, "level", "x1")) == 4


def test_an_accepted_change_is_marked_with_its_words():
    text = drawn()
    assert text.count('<g class="start">') == 1
    assert "by ana: meant" in text


def test_values_have_their_unit_and_dates_their_year():
    text = drawn(LATENCY.name)
    assert re.findall(r'text-anchor="end">([^<]*ms)<', text)[0] == "2,200 ms"
    assert "2026-08-01" in text
    assert "$" in drawn("agent.cost_per_task")


def test_a_long_history_shows_the_newest_runs_and_says_so():
    text = drawn(runs=DRAWN + 40)
    assert len(numbers(text, "dot", "cx")) == DRAWN
    assert f"the newest {DRAWN} runs" in text


def test_one_run_is_a_dot_in_the_middle():
    assert numbers(drawn(runs=1), "dot", "cx") == [[50.0]]
