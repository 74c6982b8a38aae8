import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.analysis.severity import by_severity
from gate.records import CaseChange, CaseTexts, CausePart, FailureCause
from gate.report.console import render_console
from gate.text.hidden import drop_hidden
from tests.support.hostile_text import PIECES, RUNNER
from tests.support.reports import (
    SCENARIOS,
    comparison,
    hostile,
    many_failing,
    no_baseline,
    passing,
    regression,
)


def render(report, **options):
    return render_console(report, **{"color": False, "unicode": True, "width": 100, **options})


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_verdict_stands_first_and_last(name):
    report = SCENARIOS[name]()
    lines = render(report).splitlines()
    word = {"not_comparable": "NOT COMPARABLE", "no_baseline": "NO BASELINE"}.get(
        report.outcome, report.outcome.upper()
    )
    assert lines[0].startswith(f"{word}  ")
    assert lines[-1].startswith(f"{word}: ")
    assert len(lines[-1]) > len(word) + 10


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_lines_fit_the_terminal(name, width):
    """But for a command, which is pasted, and the reason."""
    lines = render(SCENARIOS[name](), width=width).splitlines()[:-1]
    begin = next((n for n, line in enumerate(lines) if line.startswith("Next: ")), len(lines))
    assert max(map(len, lines[:begin])) <= width
    assert all(line.startswith(" " * 6) for line in lines[begin + 1 :])


@pytest.mark.parametrize("name", SCENARIOS)
def test_an_ascii_terminal_gets_ascii_only(name):
    shown = render(SCENARIOS[name](), unicode=False)
    assert shown.isascii()


def test_ascii_says_the_same():
    shown = render(regression(), unicode=False, width=140)
    assert "-9.1 pt (-13.2 ... -5.0)" in shown
    assert "12/12 -> 0/3" in shown
    assert "drop <= 2 pt" in shown
    assert "?" not in shown.split("14 cases")[0]


def test_colour_is_asked_for():
    assert "\x1b[" not in render(regression())
    coloured = render(regression(), color=True)
    assert "\x1b[1;31m" in coloured
    assert drop_hidden(coloured).split() == render(regression()).split()


def test_the_tables_hold_what_blocks_and_what_fails():
    shown = render(regression(), width=140)
    assert re.search(r"FAIL +retrieval\.recall@5 +0\.93 +0\.84 +−9\.1 pt .*regression", shown)
    assert "Also worse, not blocking: operational.p95_latency_ms +18 %." in shown
    assert "churn-by-quarter-01" in shown
    assert "30 more in report.md" in render(many_failing(40))
    assert "churn-by-quarter-01" in shown.split("Next: gate run ")[1].splitlines()[0]


ANSWER = "I could not find the figure of EMEA in any of the documents that I have looked at today."
TEXTS = CaseTexts(
    asked="What was EMEA's MRR in June?",
    expected="1,120.91",
    was="EMEA had 1,120.91 USD",
    now=ANSWER,
)


def with_texts(report, *case_ids, texts=TEXTS):
    """The report with what was said in these cases."""
    suite = replace(report.suites["analytics"], texts=dict.fromkeys(case_ids, texts))
    return replace(report, suites={"analytics": suite})


def failing_with_texts():
    change = CaseChange(
        suite="analytics",
        case_id="orders-7",
        baseline_passed=6,
        baseline_rounds=6,
        current_passed=0,
        current_rounds=1,
        p_value=0.0,
        reason="1,120.91 is missing",
    )
    first = many_failing(40)
    failing = (change, *first.cases.newly_failing)
    report = replace(first, cases=replace(first.cases, newly_failing=failing))
    worst = [one.case_id for one in by_severity(failing)[:3]]
    assert "orders-7" in worst
    return with_texts(report, *worst)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_failing_cases_stand_with_what_was_asked_expected_and_answered(width):
    shown = render(failing_with_texts(), width=width, show="gate open")
    lines = shown.splitlines()
    start = lines.index("  orders-7: passed 6 of 6 in the baseline, 0 of 1 now")
    assert lines[start + 1 : start + 4] == [
        "    asked     What was EMEA's MRR in June?",
        "    expected  1,120.91",
        "    before    EMEA had 1,120.91 USD",
    ]
    assert lines[start + 4].startswith("    now       I could not find the figure of EMEA ")
    assert ANSWER in " ".join(shown.split())  # folded at words
    assert "    why       1,120.91 is missing" in lines
    assert shown.count("    asked  ") == 3
    assert "  38 more: gate open" in lines
    assert "case                  baseline" not in shown  # the table would say it again
    assert max(map(len, lines[start : start + 8])) <= width


def test_without_a_command_the_rest_is_in_the_page():
    assert "  38 more: report.html\n" in render(failing_with_texts())


def test_a_first_run_shows_the_worst_cases_that_fail():
    texts = replace(TEXTS, was=None, now=None)
    shown = render(with_texts(no_baseline(), "a", "b", "c", "d", texts=texts))
    assert "\n  a\n    asked     What was EMEA's MRR in June?\n    expected  1,120.91\n" in shown
    assert shown.count("\n    now       no answer\n") == 3
    assert "\n  1 more: report.html\n" in shown


def test_a_pass_shows_three_of_the_cases_that_fail_as_before():
    shown = render(with_texts(passing(), "a", "b", "c", "d"), show="gate open")
    assert "\nFailing as before:\n\n  a\n    asked     What was EMEA's MRR in June?\n" in shown
    assert shown.count("    asked  ") == 3
    assert "  1 more: gate open" in shown
    passed = replace(TEXTS, failed=False)  # a case that only made a metric worse
    assert "asked" not in render(with_texts(passing(), "a", texts=passed))


def test_cases_that_fail_as_before_fill_up_the_three_beside_one_that_newly_fails():
    newly = passing().cases.newly_failing or (many_failing(1).cases.newly_failing[0],)
    first = passing()
    first = replace(first, cases=replace(first.cases, newly_failing=newly[:1]))
    shown = render(with_texts(first, newly[0].case_id, "a", "b", "c"), show="gate open")
    assert shown.count("    asked  ") == 3
    before, _, after = shown.partition("Failing as before:")
    assert newly[0].case_id in before
    assert "  2 more" not in after
    assert "  1 more: gate open" in after


def test_an_added_case_that_fails_did_not_fail_before():
    added = replace(many_failing(1).cases.newly_failing[0], case_id="a")
    first = passing()
    first = replace(first, cases=replace(first.cases, added=(added,)))
    shown = render(with_texts(first, "a"))
    assert "Also failing:" in shown
    assert "as before" not in shown


def test_what_the_base_branch_answered_is_left_out_where_nobody_may_see_it():
    hidden = replace(TEXTS, expected="", was=None)
    secret = with_texts(many_failing(1), "churn-by-quarter-01", texts=hidden)
    assert "    before  no stored answer" in render(secret)
    shown = render(replace(secret, shows_answers=False))
    assert "    asked  What was EMEA's" in shown
    assert "expected  " not in shown
    assert "before  " not in shown


def cause(what="search_documents.top_k", was="5", now="1", cases=("a", "b")):
    part = CausePart(kind="argument", what=what, was=was, now=now, cases=len(cases), of=2)
    part = replace(part, elsewhere=30, of_elsewhere=31)
    return FailureCause(suite="analytics", parts=(part,), cases=cases)


def test_causes_stand_below_the_verdict_the_first_three():
    report = many_failing(2)
    shown = render(replace(report, causes=tuple(cause(f"tool.{n}") for n in range(5))), width=70)
    lines = shown.splitlines()
    start = lines.index("  Cause 1 (all 2 cases)  tool.0 5 → 1, in a, b; also in 30 of 31 cases")
    assert start < 5
    assert lines[start + 1] == " " * 25 + "that still pass", "folded at words, below its first"
    assert "  2 more in report.md" in lines
    assert "Failure modes" not in shown, "the causes say it"


def test_the_reason_is_folded_at_words_on_a_terminal():
    whole = render(regression(), width=60).splitlines()[-1]
    folded = render(regression(), width=60, folded=True).splitlines()
    first = next(n for n, line in enumerate(folded) if line.startswith("FAIL: "))
    assert " ".join(folded[first:]) == whole
    assert max(map(len, folded[first:])) <= 60


def test_a_pass_says_so_in_one_screen():
    assert len(render(passing()).splitlines()) <= 24


@settings(max_examples=30)
@given(
    st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=8).map("".join)),
    st.integers(40, 140),
    st.booleans(),
)
def test_no_line_is_ever_a_command_for_the_runner(text, width, unicode):
    shown = render(hostile(text), width=width, unicode=unicode)
    assert not RUNNER.search(shown)
    assert "\r" not in shown
    assert "\x1b" not in shown


def test_a_narrow_terminal_gets_sentences_for_a_table():
    shown = render(regression(), width=60)
    assert "FAIL retrieval.recall@5: 0.93 → 0.84, −9.1 pt" in shown
    assert "baseline  now" not in shown
    words = " ".join(shown.split())
    assert "(−13.2 … −5.0), regression" in words


def test_a_first_run_says_what_it_came_to():
    shown = render(no_baseline())
    assert "200 cases x 3 rounds: agent.success_rate 0.92.\n" in shown
    assert "cases x 3 rounds" not in render(passing())


def test_what_only_warns_is_told_by_how_far_it_went():
    worse = [
        comparison(f"m.{n}", status="regression", level="warn", delta=-n / 100, tolerance=0.02)
        for n in range(3, 11)
    ]
    shown = " ".join(render(passing(comparisons=tuple(worse))).split())
    assert "Also worse, not blocking: m.10 −10.0 pt, m.9 −9.0 pt, m.8 −8.0 pt" in shown
    assert "m.6 −6.0 pt, and 3 more." in shown


def test_a_command_is_whole_and_on_one_line():
    """However long it is: a part of one, or one with a line end in it, is of no use."""
    command = f"gate run --suite analytics --case {'x' * 1_500} --baseline auto"
    lines = render(SCENARIOS["fail_regression"](reproduce=command), width=80).splitlines()
    assert any(line.startswith("Next: ") and command in line for line in lines)


def test_the_command_that_opens_the_page_follows_where_there_is_something_to_look_at():
    lines = render(regression(), show="gate open").splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith("Next: gate run "))
    assert lines[begin + 1] == "      gate open"
    assert "gate open" not in render(passing(), show="gate open")


def test_what_has_no_room_is_marked_as_cut():
    first = SCENARIOS["fail_regression"]()
    one = replace(first.cases.newly_failing[0], case_id="a-very-long-name-" + 60 * "x")
    told = replace(first, cases=replace(first.cases, newly_failing=(one,)))
    for unicode, mark in ((True, "…"), (False, "...")):
        lines = render_console(told, color=False, unicode=unicode, width=60).splitlines()
        (line,) = [line for line in lines if line.startswith("a-very-long") and "/" in line]
        assert mark in line.split("/")[0]
        assert unicode or line.isascii()
