"""From stored runs to the table: order, what is unknown, top mode, changes and their reasons."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gate.records import Estimate, MetricSpec, Provenance
from gate.records.baseline import BaselineRun
from gate.records.history import History, SuiteHistory
from gate.report.history.cells import COLUMNS, format_value, list_turns, row
from gate.report.history.page import as_html
from gate.report.history.text import blocks
from gate.report.wording.blocks import markdown_of, text_of
from gate.store.baseline.schema import AcceptanceNote
from gate.store.history import (
    ALPHA,
    COST,
    STRIP_CASES,
    SUCCESS,
    Chain,
    RunDetail,
    history_of,
    past_run,
    top_mode,
)
from tests.support.main_runs import header

HOSTILE = "<img src=x onerror=alert(1)>|`@team` ::error::x\x1b[31m"


def run(number: int, success: float | None = 0.9, **changes: object) -> BaselineRun:
    means = {"agent.success_rate": success, "agent.avg_steps": 2.0, "agent.cost_per_task": 0.004}
    known = {"cases": 100, "rounds": 3, "means": means, "modes": {"wrong_tool": 4}}
    return header(number, **{**known, **changes})


def of(
    *runs: BaselineRun, last: int | None = None, since: datetime | None = None, **more
) -> SuiteHistory:
    return history_of(Chain(suite="s", source="x", runs=runs, **more), last=last, since=since)


def whole(*suites: SuiteHistory) -> History:
    return History(suites=suites, alpha=ALPHA)


BEFORE = {SUCCESS.name: 0.9, COST.name: 0.004}
FELL = [run(n, 0.9 if n < 5 else 0.6) for n in range(10)]


def test_one_row_a_run_oldest_first_whatever_the_order_in_the_file():
    found = of(run(3), run(1), replace(run(2), session_id="r99"))
    assert [one.session_id for one in found.runs] == ["r01", "r99", "r03"]
    assert row(found.runs[0]) == (
        "2026-11-02 08:00",
        "0101010",
        "0.90",
        "2.00",
        "$0.0040",
        "wrong tool (4 cases)",
        "100 x 3",
    )
    assert len(COLUMNS) == len(row(found.runs[0]))


def test_runs_of_the_same_moment_stand_as_they_were_stored():
    """The end of a session's name is chance and says nothing of which was first."""
    one = run(1)
    names = ("r9f", "r02", "r77", "r01")
    found = of(run(3), *(replace(one, session_id=name) for name in names))
    assert [past.session_id for past in found.runs] == [*names, "r03"]


def test_runs_of_one_second_are_told_apart_by_their_milliseconds():
    late = run(1, created_at="2026-11-02T08:00:00.900Z", session_id="a")
    early = run(1, created_at="2026-11-02T08:00:00.100Z", session_id="b")
    assert [past.session_id for past in of(late, early).runs] == ["b", "a"]


def test_a_run_that_made_fewer_trials_than_cases_x_rounds_says_how_many():
    assert row(past_run(run(1, cases=55, trials=16)))[-1] == "55 x 3, 16 made"
    assert row(past_run(run(1, cases=100, trials=300)))[-1] == "100 x 3"


def test_unknown_is_a_dash_and_never_0():
    bare = header(1, commit=None, created_at="2026-11-02T08:00:00+02:00")
    assert row(past_run(bare)) == ("2026-11-02 06:00", "-", "-", "-", "-", "-", "- x -")
    assert format_value(0.0, COST) == "$0.00"
    assert format_value(0.0, SUCCESS) == "0.00"


@pytest.mark.parametrize("end", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_moment_at_an_end_of_time_is_shown_as_it_is_written(end):
    (only,) = of(header(1, created_at=end)).runs
    assert row(only)[0].startswith(end[:16])


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
    text = text_of(blocks(whole(of(*runs))), width=120).replace("\n", " ")
    assert (
        "Between 2026-11-05 08:00 (0404040) and 2026-11-06 08:00 (0505050): success rate fell from "
        "0.90 to 0.60 (5 runs before, 5 after, p < 0.0001). What differed: agent: openai a → "
        "openai b."
    ) in text
    assert "is reported as changed about 1 % of the time" in text


def test_metrics_that_changed_together_are_told_together():
    runs = [
        replace(one, means={**one.means, "agent.avg_steps": 2.0 if n < 5 else 5.0})
        for n, one in enumerate(FELL)
    ]
    text = text_of(blocks(whole(of(*runs))), width=200)
    assert text.count("Between ") == 1
    assert "steps per task rose from 2.00 to 5.00" in text


def test_changes_are_told_in_the_order_in_which_they_came():
    runs = [
        replace(one, means={**one.means, COST.name: 0.004 if n < 7 else 0.04})
        for n, one in enumerate(FELL)
    ]
    found = [(change.metric, change.first.session_id) for change in of(*runs).changes]
    assert found == [(SUCCESS.name, "r05"), (COST.name, "r07")]


def test_where_nothing_recorded_differs_the_commit_does():
    assert "What differed: only the commit." in text_of(blocks(whole(of(*FELL))), width=200)
    same = [replace(one, commit="a" * 40) for one in FELL]
    assert "No recorded setting differed." in text_of(blocks(whole(of(*same))), width=200)


def consent(when: str, *metrics: str) -> AcceptanceNote:
    return AcceptanceNote(who="ana", when=when, why="cheaper", old_digest="x", metrics=metrics)


@pytest.mark.parametrize(
    ("accepted", "told"),
    [
        (consent("2026-11-05T20:00:00Z"), True),
        (consent("2026-11-05T20:00:00Z", SUCCESS.name), True),
        (consent("2026-11-05T20:00:00Z", COST.name), False),
        (consent("2026-11-05T08:00:00Z"), False),  # as the old run began
        (consent("2026-11-04T20:00:00Z"), False),
        (consent("2026-11-06T20:00:00Z"), False),
    ],
)
def test_consent_is_told_where_it_was_given_between_the_two_runs(accepted, told):
    (change,) = of(*FELL, accepted=(accepted,)).changes
    assert change.accepted == (("2026-11-05 by ana: cheaper",) if told else ())


def test_last_and_since_hide_rows_but_not_what_a_change_is_measured_by():
    found = of(*FELL, last=6)
    assert [one.session_id for one in found.runs] == ["r04", "r05", "r06", "r07", "r08", "r09"]
    assert (found.older, len(found.changes)) == (4, 1)
    assert of(*FELL, last=4).changes == ()
    since = of(*FELL, since=datetime(2026, 11, 9, 8, tzinfo=UTC))  # when r08 began
    assert [one.session_id for one in since.runs] == ["r08", "r09"]
    nothing = of(*FELL, since=datetime(2027, 1, 1, tzinfo=UTC))
    assert "No run in this period; 10 runs before it." in text_of(blocks(whole(nothing)), width=99)


def test_the_means_of_a_small_sample_are_no_change_of_level():
    runs = [replace(one, cases=100 if n < 5 else 10) for n, one in enumerate(FELL)]
    found = of(*runs)
    assert found.changes == ()
    assert found.notes == (
        "5 runs covered less than half of the cases and were not searched for changes",
    )


def test_runs_of_an_unknown_size_are_searched_and_few_calls_prove_little():
    older = [replace(one, cases=0, trials=300) for one in FELL[:5]]
    assert len(of(*older, *FELL[5:]).changes) == 1
    assert of(*(replace(one, trials=4) for one in FELL)).changes == ()


def test_the_chance_of_a_false_alarm_is_shared_by_the_metrics_that_are_known():
    rates = [0.92 if n % 2 else 0.88 for n in range(5)] + [
        0.84 if n % 2 else 0.80 for n in range(5)
    ]
    four = [run(n, rate) for n, rate in enumerate(rates)]
    alone = [replace(one, means={SUCCESS.name: one.means[SUCCESS.name]}) for one in four]
    (change,) = of(*alone).changes
    assert ALPHA / 4 < change.p < ALPHA
    assert of(*four).changes == ()
    lately = [one if n > 6 else alone[n] for n, one in enumerate(four)]  # of three runs: no share
    assert len(of(*lately).changes) == 1


def test_worse_is_by_the_direction_of_the_metric():
    def turned(**means: float) -> bool:
        runs = [replace(one, means=means if n > 4 else BEFORE) for n, one in enumerate(FELL)]
        (turn,) = list_turns(of(*runs))
        return turn.worse

    assert turned(**{**BEFORE, SUCCESS.name: 0.6})
    assert not turned(**{**BEFORE, COST.name: 0.001})
    assert turned(**{**BEFORE, COST.name: 0.04})
    assert turned(**{**BEFORE, SUCCESS.name: 0.95, COST.name: 0.04})


def test_a_chance_is_rounded_but_never_to_nothing():
    (change,) = of(*FELL).changes
    for p, said in ((0.00099, "p = 0.00099)"), (0.00009, "p < 0.0001)")):
        (turn,) = list_turns(replace(of(*FELL), changes=(replace(change, p=p),)))
        assert turn.moved[0].endswith(said)


def test_runs_that_lack_a_metric_are_passed_over():
    gaps = [run(20 + n, None) for n in range(2)]
    (change,) = of(*FELL[:5], *FELL[5:], *gaps).changes
    assert change.runs_after == 5


# ----------------------------------------------------------------------------- metrics and cases


def test_every_metric_has_a_course_and_those_that_block_lead():
    means = {"agent.success_rate": 0.9, "b.x": 1.0, "a.y": None}
    chain = Chain(
        suite="s",
        source="x",
        runs=(run(1, means={**means, "c.ms": 5.0}), run(2, means=means)),
        blocking=frozenset({"b.x"}),
        specs={"c.ms": MetricSpec(name="c.ms", column="x", unit="ms", direction="lower")},
    )
    courses = history_of(chain, last=None, since=None).courses
    told = [(one.metric, one.leads, one.values) for one in courses]
    assert told == [
        ("agent.success_rate", True, (0.9, 0.9)),
        ("b.x", True, (1.0, 1.0)),
        ("c.ms", False, (5.0, None)),
    ]
    assert (courses[2].unit, courses[2].direction) == ("ms", "lower")


def test_intervals_and_commits_are_those_that_a_session_stored():
    estimate = Estimate(metric=SUCCESS.name, value=0.9, ci_low=0.8, ci_high=0.95)
    made = Provenance(run_url="https://github.com/o/r/actions/runs/7", run_id="7")
    details = {"r02": RunDetail(provenance=made, estimates={SUCCESS.name: estimate})}
    found = of(run(1), run(2), details=details)
    success, *others = found.courses
    assert (success.lows, success.highs) == ((None, 0.8), (None, 0.95))
    assert {one.lows for one in others} == {()}
    assert [one.commit_url for one in found.runs] == [
        "",
        f"https://github.com/o/r/commit/{run(2).commit}",
    ]
    assert [one.run_id for one in found.runs] == [None, "7"]


@pytest.mark.parametrize(
    ("commit", "address"),
    [
        (None, "https://github.com/o/r"),
        ('"><script>', "https://github.com/o/r"),
        ("01" * 20, "javascript:alert(1)//"),
        ("01" * 20, ""),
    ],
)
def test_a_commit_that_is_none_and_an_address_that_is_none_are_no_link(commit, address):
    assert past_run(run(1, commit=commit), repository_url=address).commit_url == ""


def test_an_accepted_change_stands_before_the_run_that_begins_the_new_pool():
    runs = [run(1), run(2), run(3)]
    notes = [
        AcceptanceNote(who="ana", when=when, why="meant", old_digest="x")
        for when in ("2026-11-03T20:00:00Z", "2026-01-01T00:00:00Z", "2026-12-01T00:00:00Z")
    ]
    (start,) = of(*runs, accepted=tuple(notes)).starts
    assert (start.before, start.told) == (2, "2026-11-03 by ana: meant")


def test_cases_are_the_worst_first_and_those_that_never_failed_are_counted():
    rounds = [
        {"fine": (3, 3), "mended": (0, 3), "worst": (3, 3), "bad": (1, 3)},
        {"fine": (3, 3), "mended": (3, 3), "worst": (0, 3)},
    ]
    details = {
        f"r0{n}": RunDetail(read_cases=lambda one=one: one) for n, one in enumerate(rounds, 1)
    }
    chain = Chain(suite="s", source="x", runs=(run(1), run(2)), details=details)
    assert history_of(chain, last=None, since=None).cases is None, "not asked for"
    found = history_of(chain, last=None, since=None, cases=True).cases
    assert found
    assert [(one.case_id, one.rounds) for one in found.cases] == [
        ("worst", ((3, 3), (0, 3))),
        ("bad", ((1, 3), None)),
        ("mended", ((0, 3), (3, 3))),
    ]
    assert (found.runs, found.steady, found.left_out) == (2, 1, 0)


def test_of_many_failing_cases_the_worst_are_listed_and_the_others_counted():
    every = {f"c{n}": (0, 1) for n in range(STRIP_CASES + 5)}
    details = {"r01": RunDetail(read_cases=lambda: every)}
    chain = Chain(suite="s", source="x", runs=(run(1),), details=details)
    found = history_of(chain, last=None, since=None, cases=True).cases
    assert found
    assert (len(found.cases), found.left_out) == (STRIP_CASES, 5)


# --------------------------------------------------------------------------------------- formats


def test_each_format_has_the_headline_numbers_on_top():
    history = whole(of(run(1, 0.5), run(2, 0.95)))
    assert text_of(blocks(history), width=120).splitlines()[3].startswith("Success rate 0.95 ▁█")
    assert "Trajectory efficiency **-**" in markdown_of(blocks(history))
    page = as_html(history)
    assert page.index("<strong>0.95</strong>") < page.index("<table")
    assert "Success rate, 0.50 → 0.95 in 2 runs" in page


def test_the_page_marks_where_a_level_begins():
    page = as_html(whole(of(*FELL)))
    assert page.count('<tr class="turn">') == 1
    assert page.count('<line class="turn bad"') == 1


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
    for shown in (page, markdown_of(blocks(history)), text_of(blocks(history), width=120)):
        assert "␛" in shown
        assert "⟨U+27E8⟩" not in shown, "shown twice"
        assert "\x1b" not in shown
    markdown = markdown_of(blocks(history))
    assert "<img" not in markdown.replace("\\<", "")
    table = [line for line in markdown.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {8}
    text = text_of(blocks(history), width=120)
    assert "\x1b" not in text
    assert not [line for line in text.splitlines() if line.lstrip().startswith("::")]
