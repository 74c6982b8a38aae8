"""From stored runs to the table: order, what is unknown, top mode, changes and their reasons."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gate.baseline_schema import Accepted, Run
from gate.history.cells import COLUMNS, row, shown
from gate.history.page import as_html
from gate.history.series import ALPHA, COST, SUCCESS, Chain, history_of, past_run, top_mode
from gate.history.spoken import as_markdown, as_text
from gate.records.history import History, SuiteHistory
from tests.main_runs import header

HOSTILE = "<img src=x onerror=alert(1)>|`@team` ::error::x\x1b[31m"


def run(number: int, success: float | None = 0.9, **changes: object) -> Run:
    means = {"agent.success_rate": success, "agent.avg_steps": 2.0, "agent.cost_per_task": 0.004}
    known = {"cases": 100, "rounds": 3, "means": means, "modes": {"wrong_tool": 4}}
    return header(number, **{**known, **changes})


def of(*runs: Run, last: int | None = None, since: datetime | None = None, **more) -> SuiteHistory:
    return history_of(Chain(suite="s", source="x", runs=runs, **more), last=last, since=since)


def whole(*suites: SuiteHistory) -> History:
    return History(suites=suites, alpha=ALPHA)


FELL = [run(n, 0.9 if n < 5 else 0.6) for n in range(10)]


def test_one_row_a_run_oldest_first_whatever_the_order_in_the_file():
    found = of(run(3), run(1), run(2))
    assert [one.session_id for one in found.runs] == ["r01", "r02", "r03"]
    assert row(found.runs[0]) == (
        "2026-11-02 08:00",
        "0101010",
        "90.0 %",
        "2.00",
        "$0.0040",
        "wrong tool (4 cases)",
        "100 x 3",
    )
    assert len(COLUMNS) == len(row(found.runs[0]))


def test_unknown_is_a_dash_and_never_0():
    bare = header(1, commit=None, created_at="2026-11-02T08:00:00+02:00")
    assert row(past_run(bare)) == ("2026-11-02 06:00", "-", "-", "-", "-", "-", "- x -")
    assert shown(0.0, COST) == "$0.00"
    assert shown(0.0, SUCCESS) == "0.0 %"


@pytest.mark.parametrize(
    ("success", "modes", "said"),
    [
        (1.0, {}, "none"),
        (1.0, None, "none"),  # an older version stored no modes, and nothing failed
        (0.9, None, "-"),
        (None, None, "-"),
        (0.9, {"loop": 1}, "loop (1 case)"),
        (0.9, {"loop": 0}, "none"),
        (0.9, {"of_a_later_version": 2}, "of a later version (2 cases)"),
    ],
)
def test_the_top_failure_mode_in_words(success, modes, said):
    assert row(past_run(run(1, success, modes=modes)))[5] == said


def test_of_two_modes_with_as_many_cases_the_first_of_the_run_s_report_is_on_top():
    assert top_mode({"wrong_answer": 3, "safety": 3, "loop": 2}) == "wrong_answer"
    assert top_mode({"loop": 2, "safety": 3, "wrong_answer": 3}) == "safety"
    assert top_mode({}) is None


def test_a_change_names_the_runs_the_levels_and_what_differed():
    runs = [
        replace(one, fingerprint={"agent": "openai a" if n < 5 else "openai b", "dataset": "d"})
        for n, one in enumerate(FELL)
    ]
    (change,) = of(*runs).changes
    assert (change.last.session_id, change.first.session_id) == ("r04", "r05")
    assert (change.before, change.after) == (pytest.approx(0.9), pytest.approx(0.6))
    assert change.differs == ("agent: openai a -> openai b",)
    text = as_text(whole(of(*runs)), width=120).replace("\n", " ")
    assert (
        "Between 2026-11-05 08:00 (0404040) and 2026-11-06 08:00 (0505050): success rate fell from "
        "90.0 % to 60.0 % (5 runs before, 5 after, p < 0.0001). What differed: agent: openai a → "
        "openai b."
    ) in text
    assert "has a change named 1 % of the time at most" in text


def test_metrics_that_changed_together_are_told_together():
    runs = [
        replace(one, means={**one.means, "agent.avg_steps": 2.0 if n < 5 else 5.0})
        for n, one in enumerate(FELL)
    ]
    text = as_text(whole(of(*runs)), width=200)
    assert text.count("Between ") == 1
    assert "steps per task rose from 2.00 to 5.00" in text


def test_where_nothing_recorded_differs_the_commit_does():
    assert "What differed: the commit alone." in as_text(whole(of(*FELL)), width=200)
    same = [replace(one, commit="a" * 40) for one in FELL]
    assert "Nothing that is recorded differed." in as_text(whole(of(*same)), width=200)


def consent(when: str, *metrics: str) -> Accepted:
    return Accepted(who="ana", when=when, why="cheaper", old_digest="x", metrics=metrics)


@pytest.mark.parametrize(
    ("accepted", "told"),
    [
        (consent("2026-11-05T20:00:00Z"), True),
        (consent("2026-11-05T20:00:00Z", SUCCESS.name), True),
        (consent("2026-11-05T20:00:00Z", COST.name), False),
        (consent("2026-11-04T20:00:00Z"), False),
        (consent("2026-11-06T20:00:00Z"), False),
    ],
)
def test_consent_is_told_where_it_was_given_between_the_two_runs(accepted, told):
    (change,) = of(*FELL, accepted=(accepted,)).changes
    assert change.accepted == (("2026-11-05 by ana: cheaper",) if told else ())


def test_last_and_since_hide_rows_but_not_what_a_change_is_measured_by():
    found = of(*FELL, last=6)
    assert (len(found.runs), found.older, len(found.changes)) == (6, 4, 1)
    assert of(*FELL, last=4).changes == ()
    since = of(*FELL, since=datetime(2026, 11, 9, tzinfo=UTC))
    assert [one.session_id for one in since.runs] == ["r08", "r09"]
    nothing = of(*FELL, since=datetime(2027, 1, 1, tzinfo=UTC))
    assert "No run that was asked for; 10 runs before that." in as_text(whole(nothing), width=99)


def test_the_means_of_a_small_sample_are_no_change_of_level():
    runs = [replace(one, cases=100 if n < 5 else 10) for n, one in enumerate(FELL)]
    found = of(*runs)
    assert found.changes == ()
    assert found.notes == ("5 runs of less than half of the cases: not searched for changes",)


def test_runs_that_lack_a_metric_are_passed_over():
    gaps = [run(20 + n, None) for n in range(2)]
    (change,) = of(*FELL[:5], *FELL[5:], *gaps).changes
    assert change.runs_after == 5


# --------------------------------------------------------------------------------------- formats


def test_each_format_has_the_headline_numbers_on_top():
    history = whole(of(run(1, 0.5), run(2, 0.95)))
    assert as_text(history, width=120).splitlines()[3].startswith("Success rate 95.0 % ▁█")
    assert "Trajectory efficiency **-**" in as_markdown(history)
    page = as_html(history)
    assert page.index("<strong>95.0 %</strong>") < page.index("<table")
    assert "50.0 % → 95.0 % in 2 runs" in page


def test_the_page_marks_where_a_level_begins_and_breaks_the_line_at_what_is_unknown():
    page = as_html(whole(of(*FELL)))
    assert page.count('<tr class="turn">') == 1
    assert page.count('<line class="level"') == 1
    gap = as_html(whole(of(run(1), run(2), run(3, None), run(4))))
    first = re.search(r'<svg class="course".*?</svg>', gap, re.DOTALL)
    assert first
    assert first[0].count("<polyline") == 2


def test_hostile_texts_show_as_text_in_every_format():
    runs = [
        replace(
            one,
            commit=HOSTILE,
            created_at=HOSTILE,
            modes={HOSTILE: 3},
            fingerprint={"agent": HOSTILE if n < 5 else "b"},
        )
        for n, one in enumerate(FELL)
    ]
    chain = Chain(suite=HOSTILE, source=HOSTILE, runs=tuple(runs), notes=(HOSTILE,))
    history = whole(history_of(chain, last=None, since=None))
    page = as_html(history)
    assert "<img" not in page
    assert "\x1b" not in page
    markdown = as_markdown(history)
    assert "<img" not in markdown.replace("\\<", "")
    table = [line for line in markdown.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {8}
    text = as_text(history, width=120)
    assert "\x1b" not in text
    assert not [line for line in text.splitlines() if line.lstrip().startswith("::")]
