"""`gate show CASE`: everything that a session knows about one case."""

import json
from argparse import Namespace
from contextlib import chdir
from pathlib import Path

import pytest

from gate.commands.show import run
from gate.errors import UsageError
from gate.records.baseline import StoredAnswer
from gate.records.settings import OutputOptions
from gate.records.shown_case import ShownCase
from gate.report.debugging import render
from gate.store.baseline.answers import keep_beside
from tests.support.stored_session import store

LONG = "word " * 1_000


@pytest.fixture
def session(tmp_path):
    folder = store(tmp_path / "results", {"refund-1": [True, False], "refund-2": [True, True]})
    rows = [json.loads(line) for line in (folder / "details.jsonl").read_text().splitlines()]
    for row in rows:
        row["question"] = f"What about {row['case_id']}?"
        row["output"] = f"{LONG}{row['round']}"
    rows[0]["expected"] = {"expected_facts": [{"value": 30}], "expected_answer": "30 days"}
    (folder / "details.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def keep(session, digest, answer="It was 30 days"):
    stored = StoredAnswer(case_id="refund-1", case_digest=digest, passed=True, answer=answer)
    keep_beside(session, "analytics", iter([stored]), str)


def show(case, session="latest", **more):
    options = {"suite": None, "format": "plain", "no_color": True, **more}
    return run(Namespace(case=case, session=str(session), **options), {})


def test_question_expectation_and_every_round_are_shown_whole(session, capsys):
    assert show("refund-1", session) == 0
    text = capsys.readouterr().out
    assert "analytics: refund-1: 1 of 2 rounds passed" in text
    assert "question: What about refund-1?" in text
    assert "expected_answer: 30 days" in text
    assert "expected_facts: 30" in text
    assert f"answer: {LONG}1" in text
    assert f"answer: {LONG}2" in text
    assert "refund-2" not in text


def test_a_case_that_nothing_judges_has_not_passed(session, capsys):
    rows = [json.loads(line) for line in (session / "details.jsonl").read_text().splitlines()]
    for row in rows:
        row["passed"] = None
    (session / "details.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    show("refund-2", session)
    text = capsys.readouterr().out
    assert "analytics: refund-2: no grader has an opinion on its answers" in text
    assert "passed" not in text.split("question")[0]


def test_the_last_line_counts_a_case_that_nothing_judges_apart():
    row = {"passed": None, "status": "completed", "unscored": {}, "latency_ms": None}
    row |= {"round": 1, "output": "x", "scores": {}, "failures": [], "error": None}
    cases = [ShownCase(suite="s", case_id="a", question="q", rows=(row,), planned=1)]
    options = OutputOptions(format="plain", quiet=True)
    shown = render(cases, (), 0, Path("here"), options, {})
    assert shown[0] == "0 of 0 cases passed every round, 1 without a verdict; nothing was compared."


def test_what_the_base_branch_answered_is_shown_if_the_case_is_the_same(session, capsys):
    keep(session, "d-refund-1")
    show("refund-1", session)
    assert "baseline answered: It was 30 days" in capsys.readouterr().out
    keep(session, "of another case")
    show("refund-1", session)
    assert "baseline answered" not in capsys.readouterr().out


def test_the_latest_session_is_the_default(tmp_path, session, capsys):
    with chdir(tmp_path):
        assert show("refund-2") == 0
    assert "refund-2: 2 of 2 rounds passed" in capsys.readouterr().out


def test_the_latest_session_is_looked_for_where_gate_yml_keeps_them(tmp_path, session, capsys):
    (tmp_path / "results").rename(tmp_path / "runs")
    (tmp_path / "gate.yml").write_text("version: 1\nreport: {dir: runs}\nwrong: [\n")
    with chdir(tmp_path), pytest.raises(UsageError, match="results: no session"):
        show("refund-2")
    (tmp_path / "gate.yml").write_text("version: 1\nreport: {dir: runs}\n")
    with chdir(tmp_path):
        assert show("refund-2") == 0


def test_json_has_the_rows_and_nothing_cut(session, capsys):
    keep(session, "d-refund-1")
    show("refund-1", session, format="json")
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert case["was"] == "It was 30 days"
    assert [one["answer"] for one in case["rounds"]] == [f"{LONG}1", f"{LONG}2"]


def test_an_unknown_case_or_suite_is_named_with_the_nearest_id(session):
    with pytest.raises(UsageError, match=r"refund-l: no such case in .* - did you mean 'refund-"):
        show("refund-l", session)
    with pytest.raises(UsageError, match="no such case in suite other of"):
        show("refund-1", session, suite=["other"])


def test_hostile_text_cannot_move_the_cursor(session, capsys):
    keep(session, "d-refund-1", "\x1b[2Jgone\u202e")
    show("refund-1", session)
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert "\u202e" not in text
