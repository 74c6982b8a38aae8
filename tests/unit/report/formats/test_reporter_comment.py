import re
from dataclasses import replace

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.github.comments import parse_marker
from gate.records import Policy
from gate.report.formats.comment import LIMIT, Comment, marker, render_limited, step_summary
from tests.support.hostile_text import ACTIVE, RenderedPage
from tests.support.reports import (
    HEAD,
    HOSTILE,
    SCENARIOS,
    agent_down,
    change,
    comparison,
    gate,
    hostile,
    inconclusive,
    many_failing,
    no_baseline,
    not_comparable,
    passing,
    regression,
    several_suites,
)


def no_rows():
    return iter(())


def render(report):
    return Comment().render(report, no_rows)


def page(text):
    return RenderedPage(cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE))


def test_the_first_line_is_the_marker():
    text = render(passing())
    found = parse_marker(text)
    assert (found.id, found.sha, found.run, found.attempt) == ("gate", HEAD, 8123, 1)


def test_a_hostile_marker_still_reads_as_ours():
    found = parse_marker(marker(hostile()) + "\n")
    assert found.sha == "unknown"
    assert found.run == 0
    assert parse_marker(marker(replace(passing(), comment_id="../..")) + "\n").id == "gate"


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (passing(), "✅ Pass: no regression in analytics"),
        (regression(), "❌ Fail: analytics got worse"),
        (inconclusive(), "🟡 Inconclusive: analytics may have got worse"),
        (no_baseline(), "🆕 No baseline: nothing to compare analytics with yet"),
        (not_comparable(), "🚫 Not comparable: analytics cannot be compared with the baseline"),
        (agent_down(), "💥 Error: analytics could not be judged"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_heading_has_icon_word_and_suite(report, words):
    assert render(report).splitlines()[1] == f"## {words}"


def test_a_pass_says_what_it_could_have_seen():
    text = render(passing())
    assert "3.1 points or more in `agent.success_rate` would have been caught 8 times in 10" in text
    assert "would appear 44 % of the time). 3 blocking limits kept" in text
    assert "a drop of 2.6 pt or more would have been caught 8 times in 10" in text
    assert "caught 75 % of the time." in render(passing(power=0.75))


def test_an_open_outcome_says_what_the_policy_does():
    assert "The policy allows this (`inconclusive: warn`)." in render(inconclusive())
    assert "The policy blocks (`error: fail`)." in render(agent_down())
    strict = replace(no_baseline(), policy=Policy(no_baseline="fail"), exit_code=4)
    assert "The policy blocks (`no_baseline: fail`)." in render(strict)


def test_the_blocking_table_holds_blocking_metrics_only():
    text = render(regression())
    table = text.split("| Blocking")[1].split("\n\n")[0]
    assert "`retrieval.recall@5`" in table
    assert "operational.p95_latency_ms" not in table
    assert "⚠️ Also worse, not blocking: `operational.p95_latency_ms` +18 %.\n" in text


def test_regressions_stand_before_broken_limits_and_what_is_well():
    rows = re.findall(
        r"^\| `([^`]+)` \|.*?\| (\S+)\N{NO-BREAK SPACE}?[^|]*\|$", render(regression()), re.M
    )
    assert [name for name, _ in rows[:2]] == ["retrieval.recall@5", "correctness.fact_accuracy"]
    assert [sign for _, sign in rows[:3]] == ["❌", "❌", "⏸️"]


def test_a_number_at_its_limit_is_written_with_enough_decimals():
    report = replace(passing(), gates=(gate(value=0.8996, min=0.90, status="fail", target=None),))
    assert "| **0.8996** |" in render(report)


def test_where_nothing_can_be_compared_it_is_said():
    text = render(no_baseline())
    assert "Not compared: there is no baseline of analytics" in text
    assert "newly" not in text


def test_differences_of_the_setting_are_listed():
    text = render(not_comparable())
    assert "differs in agent model: `gpt-4o` → `gpt-5`; temperature: 0.2 → 0.7" in text
    assert "older than 30 days" in text


def test_several_suites_have_a_line_each_and_one_table():
    text = render(several_suites())
    assert "| dialogue | ✅\N{NO-BREAK SPACE}Pass |" in text
    assert "**tool**: Not compared: there is no baseline of tool." in text
    assert text.count("| Suite | Blocking |") == 1


def test_loosened_rules_stand_first_below_the_heading():
    text = render(SCENARIOS["loosened"]())
    lines = text.splitlines()
    assert lines[1].startswith("## ")
    assert lines[3:5] == [
        "> [!WARNING]",
        "> **This change loosens the rules; it was judged by those of the base branch.**",
    ]
    assert text.index("[!WARNING]") < text.index("fell by") < text.index("[!NOTE]")
    assert text.index("[!NOTE]") < text.index("| Blocking")
    assert "> - removes 2 cases of `analytics`: `arr-01`, `arr-02`" in text
    assert "7 trials without an answer" in text
    assert "(no price for the model, or no usable cost or tokens): `my-model`, `other`" in text


@pytest.mark.parametrize(
    ("unprotected", "said"),
    [
        (False, "it was judged by those of the base branch"),
        (True, "because protect"),
    ],
)
def test_whose_rules_judged_is_said_as_it_is(unprotected, said):
    report = regression(loosened=("one", "two"), unprotected=unprotected)
    assert "> **This change loosens the rules" in render(report)
    assert said in render(report)


def test_more_loosened_rules_than_ten_are_folded_and_never_lost():
    report = many_failing(400)
    report = replace(report, loosened=tuple(f"rule {n}" for n in range(60)))
    for limit in (LIMIT, 12_000):
        text = render_limited(report, no_rows, limit)
        assert "<summary>50 more loosened rules</summary>" in text
        assert "- rule 59" in text
    many = replace(report, loosened=tuple(f"rule {n}" for n in range(600)))
    assert "> - and 590 more" in render_limited(many, no_rows, 4_000)


def test_an_accepted_change_has_its_own_sign_with_who_and_why():
    text = render(SCENARIOS["accepted"]())
    assert text.splitlines()[1] == "## ✅ Pass: analytics got worse, and that was accepted"
    note = text.split("> [!NOTE]")[1].split("\n\n")[0]
    assert "Accepted by `@octocat` (`retrieval.recall@5`): the new index" in note
    assert "[comment](https://github.com/acme/assistant/pull/42#issuecomment-1)" in note
    assert text.index("> [!NOTE]") < text.index("Accepted: `retrieval.recall@5` fell by 9.1 points")
    assert "| ☑️\N{NO-BREAK SPACE}accepted by octocat |" in text
    assert "@octocat" not in text.replace("`@octocat`", ""), "nobody is mentioned"


def test_the_trend_of_what_blocks_is_folded_with_its_first_and_last_number():
    text = render(SCENARIOS["trend"]())
    fold = text.split("<summary>Trend</summary>")[1].split("</details>")[0]
    assert "| Metric | last 7 runs and this one |" in fold
    assert re.search(r"`agent\.success_rate` \| [▁-█·]{8} 0\.87.→.0\.92 \|", fold)
    assert "fact_accuracy" not in fold, "one value is no trend"
    assert "Trend" not in render(passing())


def test_money_tokens_and_time_are_told_against_the_baseline_and_the_budget():
    line = next(line for line in render(SCENARIOS["trend"]()).splitlines() if "💰" in line)
    assert line == (
        "💰 &#36;0.84 of the &#36;5.00 budget (2.2 % less than the baseline) · "
        "1,834 tokens an answer (2.5 % more) · 812 ms an answer (10 % less) · 600 calls · 58 s"
    )


def test_a_failing_pull_request_is_told_how_to_accept_it():
    assert "if intended, comment `/gate accept REASON`" in render(regression())
    assert "/gate accept" in render(SCENARIOS["fail_gate_min"]())
    assert "/gate accept" not in render(passing())


def test_nothing_is_said_to_be_compared_that_was_not():
    assert "Not compared with the baseline at" in render(agent_down())
    assert " against the baseline at" in render(regression())


def test_the_worst_cases_are_shown_first():
    text = render(many_failing(40))
    table = text.split("| Case |")[1].split("\n\n")[0]
    shown = re.findall(r"`churn-by-quarter-(\d+)` \| 12/12.→.(\d)/3", table)
    assert len(shown) == 5
    assert {passed for _, passed in shown} == {"0"}
    assert "35 more below." in text


def test_a_pass_keeps_its_cases_folded():
    text = render(passing())
    assert text.index("churn-by-quarter-02") > text.index("<details>")


def test_no_hostile_text_is_alive_in_any_scenario():
    text = render(hostile())
    tags = {"h2", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "strong", "blockquote",
            "ul", "li", "details", "summary", "br", "pre"}  # fmt: skip
    shown = page(text)
    assert set(shown.tags) <= tags
    # Our own ids and times are in the loose text too; nothing in it may be a link.
    assert not ACTIVE.search(shown.loose)
    assert text.count("<!--") == 1


def test_tables_keep_their_columns_whatever_stands_in_them():
    html = cmarkgfm.github_flavored_markdown_to_html(render(hostile()))
    for table in html.split("<table>")[1:]:
        rows = table.split("</table>")[0].split("<tr>")[1:]
        assert len({r.count("<td") + r.count("<th") - r.count("<thead") for r in rows}) == 1


def test_links_go_to_the_run_and_the_commit_only():
    links = set(re.findall(r"\]\((.*?)\)", render(passing())))
    run = "https://github.com/acme/assistant/actions/runs/8123"
    commits = (passing().provenance.commit, passing().baseline.commit)
    assert links == {run, *(f"https://github.com/acme/assistant/commit/{one}" for one in commits)}
    odd = replace(
        passing(), provenance=replace(passing().provenance, run_url="javascript:alert(1)")
    )
    assert "](" not in render(odd)


@pytest.mark.parametrize("number", [1, 11, 200, 5_000])
@pytest.mark.parametrize("limit", [LIMIT, 32_768, 8_192])
@pytest.mark.parametrize(
    "text", ["ordinary", HOSTILE, "日本語" * 200], ids=["plain", "bad", "wide"]
)
def test_the_comment_never_exceeds_its_limit(number, limit, text):
    failing = tuple(change(n, case_id=f"{n}-{text}", reason=text) for n in range(number))
    report = regression(cases=replace(regression().cases, newly_failing=failing, added=failing))
    made = render_limited(report, no_rows, limit)
    assert len(made.encode()) <= limit
    assert "❌ Fail: analytics got worse" in made
    assert "against the baseline" in made
    assert "| `retrieval.recall@5` |" in made
    assert made.endswith("\n")


@settings(max_examples=12)
@given(st.integers(1, 200), st.integers(4_000, 20_000))
def test_any_number_of_rows_fits(number, limit):
    rows = tuple(comparison(f"m{n}.{HOSTILE}", status="regression") for n in range(number))
    made = render_limited(regression(comparisons=rows), no_rows, limit)
    assert len(made.encode()) <= limit
    assert "| Blocking |" in made


@pytest.mark.parametrize("text", [HOSTILE, "`@<" * 20_000, "a`b`" * 9_000, "日" * 50_000])
@pytest.mark.parametrize("limit", [LIMIT, 32_768, 20_000])
def test_long_hostile_text_never_pushes_out_the_verdict(text, limit):
    made = render_limited(hostile(text), no_rows, limit)
    assert len(made.encode()) <= limit
    assert "## ❌ Fail" in made
    assert "against the baseline" in made
    assert "| Suite | Blocking |" in made


@pytest.mark.parametrize("limit", [100, 600, 2_000])
def test_far_too_little_room_still_gives_whole_lines(limit):
    made = render_limited(hostile(), no_rows, limit)
    assert len(made.encode()) <= limit + len(marker(hostile()))
    whole = render_limited(hostile(), no_rows, 8_192).splitlines()
    shown = page(made)
    assert not ACTIVE.search(shown.loose)
    assert made.splitlines()[0] == whole[0]


def test_what_was_cut_is_said_with_where_it_is():
    text = render_limited(many_failing(3_000), no_rows, 6_000)
    assert re.search(r"_Shortened to fit: without .*; the full report is in `report.md`", text)
    assert "_Shortened" not in render(many_failing(40))


def test_shedding_keeps_whole_lines_and_closed_folds():
    for limit in range(5_000, 30_000, 2_500):
        text = render_limited(many_failing(500), no_rows, limit)
        assert text.count("<details>") == text.count("</details>")


def test_the_job_summary_is_the_comment_without_its_marker():
    report = regression()
    assert step_summary(report, no_rows) == render(report).split("\n", 1)[1]
    assert len(step_summary(many_failing(5_000), no_rows).encode()) <= 1_048_576


# ------------------------------------------------------------------------------- exceeding lengths


LONG = "tests/" + "deep/" * 58


def equal_columns(text):
    html = cmarkgfm.github_flavored_markdown_to_html(text)
    return all(
        len({row.count("<td") + row.count("<th") - row.count("<thead") for row in rows}) == 1
        for table in html.split("<table>")[1:]
        for rows in [table.split("</table>")[0].split("<tr>")[1:]]
    )


def valid(text):
    assert len(text.encode()) <= LIMIT
    assert equal_columns(text)
    assert text.count("<details>") == text.count("</details>")
    return text


def test_two_thousand_cases_with_long_names():
    failing = tuple(change(n, case_id=f"{LONG}{n:04}", reason=LONG) for n in range(2_000))
    text = valid(render(regression(cases=replace(regression().cases, newly_failing=failing))))
    assert "**2,000 cases newly fail**" in text
    assert "deep/0001` | 12/12" in text, "the end of a long name tells it from others"
    assert "1,995 more below" in text


@pytest.mark.parametrize("failing", [3, 500])
def test_five_hundred_metrics(failing):
    rows = tuple(
        comparison(f"m.x{n:03}", status="regression" if n < failing else "no_regression")
        for n in range(500)
    )
    text = valid(render(regression(comparisons=rows, gates=())))
    assert all(f"`m.x{n:03}`" in text for n in range(failing)), "what failed never goes"
    more = (
        "<summary>475 more rows that did not improve"
        if failing == 500
        else "rows without problems."
    )
    assert more in text


def test_fifty_suites():
    names = [f"suite-{n:02}" for n in range(50)]
    base = regression().suites["analytics"]
    suites = {
        name: replace(
            base,
            name=name,
            outcome="fail" if n < 20 else "pass",
            baseline=replace(base.baseline, detail=f"baselines/{name}.json", pooling=(name,)),
        )
        for n, name in enumerate(names)
    }
    rows = tuple(
        comparison(suite=name, status="regression" if n < 20 else "no_regression")
        for n, name in enumerate(names)
    )
    text = valid(render(regression(suites=suites, comparisons=rows, gates=())))
    assert "suite-00, suite-01, suite-02 and 17 more got worse" in text.splitlines()[1]
    assert text.count("against the baseline") == 1, "all from one run of the base branch"
    table = text.split("| Suite | outcome |")[1].split("\n\n")
    assert table[0].count("❌") == 20
    assert table[1] == "30 suites passed."


def test_rows_that_failed_are_counted_where_no_comment_could_hold_them():
    rows = tuple(comparison(f"m.{'x' * 70}{n:05}", status="regression") for n in range(1_500))
    text = valid(render(regression(comparisons=rows, gates=())))
    assert re.search(r"\*\*1,4\d\d more rows\*\* did not improve\.", text)
