from dataclasses import replace

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options

from gate.records import CaseChanges, Estimate
from gate.report.formats.markdown import Markdown
from tests.support.hostile_text import ACTIVE, RenderedPage
from tests.support.reports import (
    SCENARIOS,
    agent_fell,
    gate,
    hostile,
    hostile_rows,
    many_failing,
    passing,
    regression,
    row,
    rows_of,
    several_suites,
    suite,
)


def render(report, *rows):
    return Markdown().render(report, lambda: iter(rows))


def test_a_suite_shows_success_latency_and_tokens():
    rows = (
        row("a", 1, latency_ms=100.0),
        row("a", 2, latency_ms=300.0, usage={"input_tokens": 10, "output_tokens": 20}),
        row("b", 1, latency_ms=9_999.0, status="agent_error", passed=False, usage=None),
    )
    text = render(passing(), *rows)
    assert "| success rate | 0.92 |" in text
    assert "| cases like these | 0.89 … 0.94 (95 %) |" in text
    assert "| latency | mean 200 ms, std 141 ms, worst 300 ms (2 answers) |" in text
    assert "| latency of 1 failed call | mean 9,999 ms, worst 9,999 ms (1 failed call) |" in text
    assert "| tokens | mean 915, std 1,252 (2 answers) |" in text


def test_the_success_rate_says_what_retries_did_and_how_its_interval_came_about():
    metrics = {
        name: Estimate(metric=name, value=value)
        for name, value in (
            ("agent.success_rate", 0.9),
            ("agent.first_attempt_success_rate", 0.85),
            ("operational.retry_rate", 0.07),
        )
    }
    method = "BCa bootstrap over 40 cases, 2,000 resamples"
    drawn = suite(metrics=metrics, success_rate_method=method, success_rate_seed=0)
    text = render(passing(suites={"analytics": drawn}))
    assert f"| cases like these | 0.89 … 0.94 (95 %; {method}, seed 0) |" in text
    assert "| first try, after retries | 0.85, 0.90; retry rate 0.07 |" in text


def test_a_broken_limit_has_its_message():
    text = render(SCENARIOS["fail_gate_min"]())
    assert "- `FAIL: correctness.fact_accuracy = 0.88 (minimum: 0.90)`" in text


def test_of_several_suites_each_message_names_its_own():
    broken = gate(suite="dialogue", value=0.88, status="fail", reason="FAIL: as stored")
    text = render(several_suites(gates=(broken,)))
    assert "- `FAIL: dialogue: correctness.fact_accuracy = 0.88 (minimum: 0.90)`" in text


def test_nothing_measured_is_said():
    assert "| latency | not measured |" in render(passing())


def test_how_it_was_decided_has_no_heading_where_there_is_nothing_to_say():
    assert "## How this was decided\n\n- " in render(passing())
    text = render(passing(comparisons=(), gates=()))
    assert "How this was decided" not in text
    assert "## What ran" in text


def test_a_single_answer_has_no_deviation():
    text = render(passing(), row("a", 1, latency_ms=100.0))
    assert "mean 100 ms, worst 100 ms (1 answer)" in text


def test_failures_are_the_ten_most_frequent():
    codes = tuple((f"code_{n}", 20 - n) for n in range(12))
    text = render(passing(suites={"analytics": suite(failures_top=codes)}))
    assert "### Failures, top 10" in text
    assert "| `code_9` | 11 |" in text
    assert "code_10" not in text


def test_categories_side_by_side():
    text = render(agent_fell())
    assert "| churn | 20 | 0.62 | 3.40 | $0.0014 | $0.0021 | wrong tool (2) |" in text
    assert "| orders | 20 | 0.95 | 3.40 | – (12 unknown) | – | none |" in text


def test_why_trials_failed_is_told_by_mode_and_by_what_looks_alike():
    text = render(agent_fell())
    assert "| top failure mode | wrong tool (2 cases) |" in text
    assert "| safety violation | 1 | 3 |" in text
    assert "| wrong tool | `missing_tool_call:run_sql, unexpected_tool_call:list_tables` |" in text
    assert "Of 200 cases asked twice or more **180** passed every round" in text


def test_the_violation_log_names_case_step_and_rule():
    text = render(agent_fell())
    assert "**2 safety violations**: `destructive` (1), `personal_data` (1)" in text
    assert "| `churn-by-quarter-02` | 3, round 2 | `destructive` | `DELETE: DELETE FROM" in text


def test_worst_cases():
    text = render(
        passing(),
        row("a", 1), row("a", 2, passed=False), row("b", 1, passed=False),
        row("c", 1, category="orders"), row("d", 1, category=None),
    )  # fmt: skip
    worst = text.split("### Worst cases")[1]
    assert worst.index("`b`") < worst.index("`a`")
    assert "`c`" not in worst


def test_every_list_of_cases_is_there():
    text = render(many_failing(40))
    assert "### Newly failing (40)" in text
    assert text.count("`churn-by-quarter-3") >= 10
    long = regression(cases=CaseChanges(newly_failing=many_failing(1_200).cases.newly_failing))
    assert "200 more are in summary.json." in render(long)


def test_the_report_of_one_suite_speaks_for_that_suite():
    whole = several_suites()
    part = replace(whole, suites={"dialogue": whole.suites["dialogue"]}, comparisons=(), gates=())
    text = render(part)
    assert text.startswith("# ✅ Pass: no regression in dialogue\n")
    assert "recall@5` fell" not in text
    assert render(whole).startswith("# ❌ Fail: analytics got worse\n")


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_hostile_text_is_alive(name):
    report = SCENARIOS[name]()
    text = Markdown().render(report, hostile_rows if name == "hostile" else rows_of(report))
    shown = RenderedPage(cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE))
    assert {"img", "script"}.isdisjoint(shown.tags)
    assert "<!--" not in text
    if name == "hostile":
        assert "a" not in shown.tags
        assert not ACTIVE.search(shown.loose)


def test_rows_of_unknown_suites_do_no_harm():
    assert render(hostile(), row("x", suite="never heard of"))
