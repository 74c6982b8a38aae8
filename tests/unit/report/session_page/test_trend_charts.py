import re
from dataclasses import replace

import pytest

from gate.records import AcceptedStart, LevelShift, StoredRun
from gate.records.baseline import AnchorLevel, AnchorReport
from gate.report.session_page.trends import RUNS, draw_trends
from tests.support.reports import passing

SUCCESS = "agent.success_rate"


def drawn(values, **of_suite) -> str:
    report = passing()
    (suite,) = report.suites.values()
    runs = tuple(
        StoredRun(commit=f"{number:07x}", created_at=f"2026-01-{number % 28 + 1:02}T03:00:00Z")
        for number, _ in enumerate(values)
    )
    suite = replace(suite, history={SUCCESS: values}, history_runs=runs, **of_suite)
    url = "https://github.test/octo/bot/actions/runs/7"
    provenance = replace(report.provenance, run_url=url)
    return draw_trends(replace(report, suites={suite.name: suite}, provenance=provenance))


def dots(text: str) -> list[float]:
    return [float(x) for x in re.findall(r'<circle class="dot" cx="([-\d.]+)%"', text)]


def test_each_run_is_a_dot_that_leads_to_its_commit_and_this_one_is_the_last():
    text = drawn((0.9, 0.8, 0.95))
    assert dots(text) == [12.5, 37.5, 62.5, 87.5]
    found = re.findall(r'<a href="https://github.test/octo/bot/commit/(\w+)"[^>]*><circle', text)
    assert found[:3] == ["0000000", "0000001", "0000002"]
    assert ">2026-01-01<" in text
    assert "0.90 → 0.92, 3 runs before this one" in text


def test_a_change_of_level_is_marked_between_its_runs():
    shift = LevelShift(
        metric=SUCCESS, at=2, before=0.95, after=0.85, runs_before=2, runs_after=2
    )  # fmt: skip
    text = drawn((0.95, 0.95, 0.85, 0.85), history_shifts=(shift,))
    assert re.search(r'class="turn bad" x1="40%"', text)
    assert ">0.95 → 0.85<" in text
    other = replace(shift, metric="agent.avg_steps")
    assert "turn" not in drawn((0.95, 0.95, 0.85, 0.85), history_shifts=(other,))


def test_the_start_of_a_pool_is_marked():
    start = AcceptedStart(before=1, told="2026-01-02 by <octocat>: new model")
    text = drawn((0.9, 0.8, 0.95), history_starts=(start,))
    assert "Accepted 2026-01-02 by &lt;octocat&gt;: new model" in text
    assert "✓</text>" in text


def test_of_many_runs_the_newest_are_drawn():
    shift = LevelShift(metric=SUCCESS, at=3, before=0.5, after=0.9, runs_before=3, runs_after=97)
    start = AcceptedStart(before=99, told="x")
    text = drawn((0.9,) * 100, history_shifts=(shift,), history_starts=(start,))
    assert len(dots(text)) == RUNS + 1
    assert "turn" not in text
    across = re.search(r'<g class="start">.*?x1="([\d.]+)%"', text)[1]
    assert dots(text)[RUNS - 2] < float(across) < dots(text)[RUNS - 1]


@pytest.mark.parametrize("values", [(), (0.9,), (None, None, 0.9)])
def test_too_few_runs_are_no_trend(values):
    assert drawn(values) == ""


def test_runs_that_an_older_version_stored_without_dates_are_not_drawn():
    report = passing()
    (suite,) = report.suites.values()
    suite = replace(suite, history={SUCCESS: (0.9, 0.9, 0.9)})
    assert draw_trends(replace(report, suites={suite.name: suite})) == ""


def test_the_anchor_is_a_line_across_with_its_name():
    level = AnchorLevel(metric=SUCCESS, unit="share", direction="higher", anchor=0.99)
    anchor = AnchorReport(kind="release", name="v1.4.0", levels=(level,))
    text = drawn((0.9, 0.8, 0.95), anchor=anchor)
    assert "<title>Anchor: v1.4.0, 0.99</title>" in text
    assert ">anchor 0.99</text>" in text
    assert 'class="anchor"' not in drawn((0.9, 0.8, 0.95))
