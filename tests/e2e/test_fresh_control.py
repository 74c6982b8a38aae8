"""`regression.control: fresh`, from the outside: the base branch's agent asked in the same run."""

import json
import os
import signal

import pytest

from tests.support.as_process import start_gate
from tests.support.chat_server import ChatServer
from tests.support.git_repository import git
from tests.support.in_process import run_command, run_session
from tests.support.paths import copy_a_third
from tests.support.session_files import (
    details_of,
    sessions_in,
    summary_of,
    told_session,
    trials_in,
    wait_for_trials,
)
from tests.support.yes_project import CASES, right, write_project, wrong_on

SAMPLE = """version: 1
agent: {type: sample, options: {OPTIONS}}
control_agent: {type: sample}
suites:
  - name: s
    dataset: cases.jsonl
    graders: [facts, {retrieval: {k: [1, 5]}}]
regression: {control: fresh}
protect: false
"""
FRESH = "regression: {control: fresh, stop: off}"


def fresh(folder, candidate, control, *, suite_more="rounds: 3"):
    """A project whose control is another server."""
    beside = f'control_agent: {{type: openai, base_url: "{control}", model: m, concurrency: 4}}'
    write_project(folder, candidate, suite_more=suite_more, more=f"{FRESH}\n{beside}")


def control_of(session):
    return details_of(session / "_control")


@pytest.mark.parametrize(("options", "code", "outcome"), [("", 0, "pass"), ("top_k: 1", 1, "fail")])
def test_the_sample_agent_against_itself_and_against_a_worse_retriever(
    tmp_path, options, code, outcome
):
    copy_a_third(tmp_path / "cases.jsonl")
    (tmp_path / "gate.yml").write_text(SAMPLE.replace("OPTIONS", options))
    session = run_session(tmp_path, code=code)
    report = summary_of(session)
    assert report["outcome"] == outcome
    assert (report["baseline"]["source"], report["baseline"]["commit"]) == ("control", None)
    assert len(control_of(session)) == len(details_of(session))
    assert report["calls"]["made"] == 2 * len(details_of(session)) < report["calls"]["planned"]
    assert report["calls"]["planned"] * 2 == report["calls"]["cap"] == 2 * 2 * 3 * 67


def test_the_controls_answers_hostile_as_they_are_stay_data(tmp_path):
    """In its own session, and as what the base branch answered to the case that fails."""
    hostile = "<script>alert(1)</script> @octocat ::error::x ![x](http://evil)"
    with ChatServer(wrong_on(1)) as new, ChatServer(lambda q, n: hostile) as old:
        fresh(tmp_path, new.url, old.url)
        finished = run_command(tmp_path, "run", "--verbose")
    (session,) = sessions_in(tmp_path)
    assert {row["output"] for row in details_of(session)} == {"yes", "no"}
    assert {row["output"] for row in control_of(session)} == {hostile}
    inside = {p for p in session.rglob("*") if p.is_file() and b"octocat" in p.read_bytes()}
    others = {path.name for path in inside if "_control" not in path.parts}
    assert others <= {"summary.json", "report.html"}
    assert "<script>alert" not in (session / "report.html").read_text("utf-8"), "text, no markup"
    assert summary_of(session)["suites"]["s"]["texts"]["c1"]["was"] == hostile
    printed = (finished.stdout + finished.stderr).splitlines()
    assert not any(line.lstrip().startswith("::") for line in printed), "no command of a workflow"
    assert sum("octocat" in line for line in printed) <= 1, "where the failing case is shown"
    assert len(trials_in(session)) == len(trials_in(session / "_control")) == 36


def test_a_control_out_of_reach_is_an_error_that_names_it_and_costs_nothing(tmp_path):
    with ChatServer(right) as new:
        fresh(tmp_path, new.url, "http://127.0.0.1:9")
        finished = run_command(tmp_path, "run", code=6)
        assert new.calls == 0
    assert "control agent cannot be reached" in finished.stdout
    assert "127.0.0.1:9" in finished.stdout


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_an_interrupted_run_asks_neither_twice_and_keeps_its_control(tmp_path):
    with ChatServer(right, delay_s=0.1) as new, ChatServer(right, delay_s=0.1) as old:
        fresh(tmp_path, new.url, old.url, suite_more="rounds: 2")
        process = start_gate(tmp_path, "run")
        session = wait_for_trials(tmp_path, 3)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=20)
        assert process.returncode == 130, output
        finished = len(trials_in(session)), len(trials_in(session / "_control"))
        before = new.calls, old.calls
        assert run_session(tmp_path, "--resume", str(session)) == session
        assert new.calls - before[0] == 24 - finished[0]
        assert old.calls - before[1] == 24 - finished[1]
    assert len(details_of(session)) == len(control_of(session)) == 24


def test_merged_shards_bring_their_controls(tmp_path):
    with ChatServer(wrong_on(2, 6, 7, 8, 9, 10, 11)) as new, ChatServer(right) as old:
        fresh(tmp_path, new.url, old.url)
        shards = [run_session(tmp_path, "--shard", f"{n}/2", "--out", "shards") for n in (1, 2)]
    merged = run_command(tmp_path, "merge", *map(str, shards), "--out", "merged", code=1)
    joined = tmp_path / merged.stdout.splitlines()[-1].split(": ")[1]
    assert len(details_of(joined)) == len(control_of(joined)) == 36
    assert summary_of(joined)["baseline"]["source"] == "control"


def test_two_stages_of_shards_ask_both_in_each(tmp_path):
    """Two wrong cases of twelve, not in every round: certain after stage 2 only."""

    def worse(question, nth):
        return "no" if question in ("q1", "q2") and nth != 1 else "yes"

    def run_stage(number, *more):
        for n in (1, 2):
            given = ("--stage", str(number), "--shard", f"{n}/2", "--out", f"stage-{number}")
            run_session(tmp_path, *given, *more)

    with ChatServer(worse) as new, ChatServer(right) as old:
        fresh(tmp_path, new.url, old.url)
        run_stage(1)
        look = told_session(run_command(tmp_path, "merge", "stage-1", "--out", "look"))
        assert summary_of(tmp_path / look)["open_suites"] == ["s"]
        run_stage(2, "--resume", look)
        merged = run_command(tmp_path, "merge", look, "stage-2", "--out", "merged", code=1)
        assert new.calls == old.calls == 72
    joined = tmp_path / told_session(merged)
    assert len(details_of(joined)) == len(control_of(joined)) == 72
    assert summary_of(joined)["calls"]["made"] == 144


def test_a_stored_control_can_be_compared_with_and_is_no_baseline(tmp_path):
    with ChatServer(wrong_on(2, 6, 7, 8, 9, 10, 11)) as new, ChatServer(right) as old:
        fresh(tmp_path, new.url, old.url)
        session = run_session(tmp_path, code=1)
    comment = (session / "comment.md").read_text("utf-8")
    assert "Compared with the control" in comment
    assert "gate baseline accept" not in comment
    again = run_command(tmp_path, "compare", str(session / "_control"), str(session), code=1)
    assert "agent.success_rate fell" in again.stdout
    run_command(tmp_path, "baseline", "save", str(session))
    kept = json.loads((tmp_path / "baselines" / "s.json").read_text("utf-8"))
    rounds = {case["id"]: case["values"]["success"] for case in kept["cases"]}
    assert rounds["c2"] == [0.0] * 3, "the candidate's answers, not the control's"
    refused = run_command(tmp_path, "baseline", "save", str(session / "_control"), code=2)
    assert "gate run --resume" in refused.stderr


def test_the_base_branchs_agent_is_the_control_where_gate_yml_names_none(tmp_path):
    def write(url, more=""):
        write_project(tmp_path, url, suite_more="rounds: 3", more=more)
        config = tmp_path / "gate.yml"
        config.write_text(config.read_text().replace("protect: false", "protect: true"))

    with ChatServer(wrong_on(2, 6, 7, 8, 9, 10, 11)) as new, ChatServer(right) as old:
        write(old.url, FRESH)
        git(tmp_path, "init", "-q", "-b", "main")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", "x")
        git(tmp_path, "checkout", "-q", "-b", "work")
        same = run_session(tmp_path)
        write(new.url)
        added = [*CASES, {**CASES[0], "id": "added"}]
        (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in added))
        changed = run_session(tmp_path, "--protect", code=1)
    report = summary_of(same)
    assert report["baseline"]["source"] == "none"
    assert any("cannot be its own control" in note for note in report["notes"])
    assert not (same / "_control").exists()
    report = summary_of(changed)
    assert report["baseline"]["source"] == "control"
    assert report["baseline"]["commit"] == report["provenance"]["base_commit"]
    assert old.url in report["baseline"]["detail"]
    assert report["loosened"] == ["regression.control fresh -> stored"]
    assert [case["case_id"] for case in report["cases"]["added"]] == ["added"]
    assert (len(details_of(changed)), len(control_of(changed))) == (39, 36)
    assert report["calls"]["planned"] == 75
