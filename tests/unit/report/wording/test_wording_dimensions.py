import pytest

from gate.report.console import render_console
from gate.report.formats.html import Html
from gate.report.formats.markdown import Markdown
from gate.report.wording.dimensions import by_dimension, dimensions, in_short
from gate.text.spans import plain
from tests.support.reports import (
    FACTS,
    SUCCESS,
    comparison,
    estimate,
    gate,
    passing,
    rows_of,
    suite,
)


def report_of(*estimates, comparisons=(), gates=(), **changes):
    made = suite(metrics={one.metric: one for one in estimates}, **changes)
    return passing(suites={"analytics": made}, comparisons=comparisons, gates=gates)


def short(report, most=9):
    return {d.name: plain(in_short(d, most=most)) for d in dimensions(report)}


def test_a_dimension_has_its_metrics_with_the_lowest_and_the_highest_case():
    found = short(
        report_of(
            estimate("operational.mean_latency_ms", 812.3, unit="ms", min=90.0, max=2031.0),
            estimate("retrieval.mrr", 0.5, min=0.25, max=1.0),
        )
    )
    assert found == {
        "retrieval": "mrr 0.50 (cases 0.25 to 1.00)",
        "operational": "mean_latency_ms 812 ms (cases 90.0 to 2,031 ms)",
    }


def test_what_was_not_measured_is_absent_and_no_zero():
    report = report_of(
        estimate("retrieval.mrr", None, reason="nobody asks"),
        estimate(FACTS, 0.5, n=540, min=0.0, max=1.0),
        estimate("correctness.contains", 0.25, min=None, max=None),
        trials=600,
    )
    assert short(report) == {
        "correctness": "fact_accuracy 0.50 (cases 0.00 to 1.00), 540 trials · contains 0.25"
    }
    assert by_dimension(report, "analytics") == {"correctness": ["correctness.contains", FACTS]}


def test_trials_that_all_metrics_lack_are_told_once():
    some = [estimate(f"retrieval.{name}", 0.5, n=191) for name in ("mrr", "map")]
    report = report_of(*some, estimate(FACTS, 0.5, n=200), trials=200)
    assert short(report) == {
        "retrieval": (
            "mrr 0.50 (cases 0.00 to 1.00) · map 0.50 (cases 0.00 to 1.00) · over 191 trials"
        ),
        "correctness": "fact_accuracy 0.50 (cases 0.00 to 1.00)",
    }
    assert (
        short(report, most=1)["retrieval"]
        == "mrr 0.50 (cases 0.00 to 1.00) · 1 more · over 191 trials"
    )


def test_metrics_with_a_limit_or_that_block_come_first_and_the_rest_is_counted():
    report = report_of(
        estimate("agent.avg_steps", 3.0, unit="steps", min=None, max=None),
        estimate("agent.consistency", 0.9, min=None, max=None),
        estimate("agent.cost_per_task", 0.5, unit="USD", min=None, max=None),
        estimate(SUCCESS, 0.92, min=None, max=None),
        estimate("mine.tone", 0.4, min=None, max=None),
        comparisons=(
            comparison("agent.consistency", level="block"),
            comparison("agent.avg_steps", level="warn"),
        ),
        gates=(gate("agent.cost_per_task"),),
    )
    assert short(report, most=3) == {
        "agent": "cost_per_task $0.50 · consistency 0.90 · success_rate 0.92 · 1 more",
        "mine": "tone 0.40",
    }


@pytest.mark.parametrize("width", [50, 80, 120])
def test_the_terminal_has_a_row_a_dimension_that_fits(width):
    report = report_of(
        *(estimate(f"retrieval.{name}", 0.5) for name in ("recall@1", "recall@5", "mrr", "map")),
        estimate("response_quality.readability", 0.625, min=0.31, max=0.88),
    )
    lines = render_console(report, color=False, unicode=True, width=width).splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("dimension "))
    shown = lines[start : lines.index("", start)]
    assert [line.split("  ")[0] for line in shown if not line.startswith(" ")] == [
        *("dimension", "retrieval", "response quality")
    ]
    quality = next(n for n, line in enumerate(shown) if line.startswith("response quality"))
    told = " ".join(" ".join(shown[quality:]).split())
    assert told == "response quality readability 0.63 (cases 0.31 to 0.88)"
    assert max(map(len, shown)) <= width


def test_a_run_without_any_measurement_has_no_dimensions():
    report = report_of(estimate(SUCCESS, None, reason="no case ran"))
    rows = rows_of(report)
    assert "dimension" not in render_console(report, color=False, unicode=True, width=100)
    assert "## Dimensions" not in Markdown().render(report, rows)
    assert "Dimensions</h2>" not in Html().render(report, rows)


def test_the_reports_have_every_metric_with_its_extremes_under_its_dimension():
    report = report_of(
        estimate("response_quality.readability", 0.625, min=0.312, max=0.881, n=77),
        estimate("retrieval.mrr", 0.5, min=0.25, max=1.0, n=600),
    )
    written = Markdown().render(report, rows_of(report))
    quality = written.partition("### Metrics: response quality")[2].partition("###")[0]
    (row,) = [line for line in quality.splitlines() if "readability" in line]
    assert [cell.strip() for cell in row.split("|")][5:8] == ["0.31", "0.88", "77"]
    assert "| response quality | `readability` 0.63 (cases 0.31 to 0.88) · over 77" in written
    page = Html().render(report, rows_of(report))
    assert page.index("retrieval</th>") < page.index("response quality</th>")
    assert '<td class="n">0.31</td><td class="n">0.88</td><td class="n">77</td>' in page


def test_a_hostile_name_of_a_metric_does_nothing():
    report = report_of(estimate("<b>x.|`y` @octocat", 0.5))
    page = Html().render(report, rows_of(report))
    assert "<b>x" not in page
    written = Markdown().render(report, rows_of(report))
    assert "<b>" not in written.replace("`<b>", "").replace("&lt;b&gt;", "")
