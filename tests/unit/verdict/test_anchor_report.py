"""Main against its anchor in a report: it fails main's own run and is told to a pull request."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.records import Report
from gate.report.formats.comment import render_limited
from gate.report.issue import render_issue
from gate.report.wording.headline import headline
from gate.report.wording.rule_changes import list_falls_of_main
from gate.store.baseline.anchor import RUNS
from gate.store.baseline.find import Compared
from gate.text.spans import plain
from gate.verdict.conclude import conclude
from gate.verdict.suite_data import Setting
from tests.support.main_nights import Main
from tests.support.measured_suites import CONFIG, SETTING, measured_suite

OWN = replace(SETTING, measures_main=True, mode="schedule", created_at="2027-01-01T00:00:00Z")


def report(main: Main, setting: Setting, fall: float, **changes: object) -> Report:
    compared = Compared(
        table=main.stored.table,
        stored=main.stored.table,
        history=main.stored.runs,
        anchor=main.anchor,
    )
    suite = measured_suite(main.table(fall), name="demo", compared=compared, **changes)
    return conclude([suite], CONFIG, setting, lambda suite, cases: iter(()))


def rotten() -> Main:
    main = Main()
    main.run(times=RUNS)
    main.run(0.08, times=4)
    return main


def told(found: Report) -> str:
    return " ".join(plain(line) for line in list_falls_of_main(found))


def test_a_pull_request_is_told_what_main_lost_and_is_not_blamed_for_it() -> None:
    found = report(rotten(), SETTING, 0.08)
    assert found.outcome == "pass"
    sentence = told(found)
    assert sentence.startswith("Main itself has lost ")
    assert "of agent.success_rate since its first 5 runs up to 2026-01-05" in sentence
    assert "). First seen on 2026-01-0" in sentence
    assert "Main itself has lost" in render_limited(found, lambda suite, cases: iter(()), 60_000)


def test_main_s_own_run_fails_for_it_and_says_so() -> None:
    found = report(rotten(), OWN, 0.08)
    assert (found.outcome, found.exit_code) == ("fail", 1)
    assert "main has lost" in found.reason
    assert headline(found) == "Fail: main has got worse in demo"
    assert told(found) == ""  # the reason says it
    anchor = found.suites["demo"].anchor
    assert anchor is not None
    assert anchor.decides
    (level,) = anchor.fallen
    assert level.low is not None
    assert level.change is not None
    assert level.low < level.change < 0.0


def test_the_issue_names_the_project_that_is_not_the_only_one() -> None:
    named = [
        render_issue(report(rotten(), replace(OWN, comment_id=job), 0.08)) for job in ("gate", "b2")
    ]
    assert [title for title, _ in filter(None, named)] == [
        "Main has got worse: agent.success_rate",
        "Main has got worse (b2): agent.success_rate",
    ]


def test_a_run_that_shows_it_first_is_the_one_that_is_named() -> None:
    main = Main()
    main.run(times=RUNS)
    main.run(0.2)
    assert main.lost == []
    anchor = report(main, OWN, 0.2).suites["demo"].anchor
    assert anchor is not None
    (level,) = anchor.fallen
    assert level.seen is not None
    assert (level.seen.session_id, level.seen.commit) == (OWN.session_id, "c" * 40)
    assert level.runs == 2


@pytest.mark.parametrize("nights", [0, 3])
def test_main_that_is_as_good_as_ever_is_told_nothing(nights: int) -> None:
    main = Main()
    main.run(times=RUNS + nights)
    for setting in (SETTING, OWN):
        found = report(main, setting, 0.0)
        assert (found.outcome, told(found)) == ("pass", "")


def test_main_that_is_back_is_green_in_the_run_that_shows_it() -> None:
    main = rotten()
    main.run(times=1)
    assert main.lost
    found = report(main, OWN, -0.02)
    assert told(found) == ""
    assert "main has lost" not in found.reason


def test_a_release_fails_by_one_run_of_its_own() -> None:
    main = Main()
    main.run(times=RUNS)
    setting = replace(SETTING, mode="release", created_at="2027-01-01T00:00:00Z")
    found = report(main, setting, 0.25)
    assert "main has lost" in found.reason
    assert found.exit_code == 1


def test_an_outage_says_nothing_of_main() -> None:
    found = report(rotten(), OWN, 0.08, unreachable="the agent cannot be reached")
    assert found.outcome == "error"
    assert "main has lost" not in found.reason


def test_an_anchor_of_other_cases_is_told_with_the_way_on() -> None:
    main = rotten()
    assert main.anchor is not None
    table = main.anchor.table
    digests = tuple(f"old {digest}" for digest in table.digests)
    main.anchor = replace(main.anchor, table=replace(table, digests=digests))
    sentence = told(report(main, SETTING, 0.08))
    assert sentence.startswith("No anchor for demo: only 0 of its 100 cases are unchanged")
    assert "gate baseline accept --anchor --reason TEXT" in sentence
