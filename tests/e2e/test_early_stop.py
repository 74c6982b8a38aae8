"""A run that is compared with a baseline ends once its verdict stands, and may be gone on with."""

import json
import os
import shutil
import signal
from collections import Counter

import pytest

from tests.support.as_process import start_gate
from tests.support.git_repository import commit_files, git
from tests.support.in_process import gate, run_command, run_session, save_baseline
from tests.support.paths import copy_a_third
from tests.support.session_files import details_of, summary_of, trials_in, wait_for_trials

CASES, ROUNDS = 40, 3
PLANNED, CAP = CASES * ROUNDS, 2 * CASES * ROUNDS
GOOD, BAD = "good", "bad"
AGENT = """
import time

def agent(case, wrong):
    time.sleep(SECONDS)
    return "no" if int(case["id"]) % 40 < wrong else "yes"

def good(case):
    return agent(case, 3)

def bad(case):
    return agent(case, 20)
"""


def write(folder, agent=GOOD, more="", seconds=0.0, suites=("s",)):
    rows = [{"id": str(n), "input": f"q{n}", "expected_answer": "yes"} for n in range(CASES)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "agent.py").write_text(AGENT.replace("SECONDS", str(seconds)))
    named = "\n".join(
        f"  - {{name: {name}, dataset: cases.jsonl, graders: [exact_match], rounds: {ROUNDS}}}"
        for name in suites
    )
    (folder / "gate.yml").write_text(
        f"""version: 1
agent: {{type: python, callable: "./agent.py:{agent}"}}
suites:
{named}
{more}
"""
    )


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A project with a baseline of two suites."""
    folder = tmp_path_factory.mktemp("measured")
    write(folder, suites=("s", "t"))
    save_baseline(folder, run_session(folder, "--baseline", "none"))
    return folder


@pytest.fixture
def project(tmp_path, measured):
    write(tmp_path)
    shutil.copytree(measured / "baselines", tmp_path / "baselines")
    return tmp_path


def against(folder, *arguments, **more):
    return run_session(folder, "--baseline", "baselines", *arguments, **more)


def keys(session):
    return [(row["case_id"], row["round"]) for row in details_of(session)]


def suite(session):
    return summary_of(session)["suites"]["s"]


def test_the_sample_agent_is_let_through_or_caught_early(tmp_path):
    config = """version: 1
agent: {type: sample, options: {top_k: TOP}}
suites:
  - {name: s, dataset: d.jsonl, graders: [facts]}
"""
    copy_a_third(tmp_path / "d.jsonl")
    (tmp_path / "gate.yml").write_text(config.replace("TOP", "5"))
    save_baseline(tmp_path, run_session(tmp_path, "--baseline", "none"))
    unchanged = summary_of(against(tmp_path))
    assert (unchanged["outcome"], unchanged["calls"]["planned"]) == ("pass", 201)
    assert unchanged["calls"]["saved"] > 30
    (tmp_path / "gate.yml").write_text(config.replace("TOP", "1"))
    worse = summary_of(against(tmp_path, code=1))
    assert worse["outcome"] == "fail"
    assert worse["calls"]["saved"] > 0


def test_an_unchanged_agent_is_let_through_early(project):
    session = against(project)
    found = summary_of(session)
    calls = found["calls"]
    assert (found["outcome"], found["exit_code"]) == ("pass", 0)
    assert (calls["planned"], calls["cap"]) == (PLANNED, CAP)
    assert calls["made"] < PLANNED / 2
    assert calls["saved"] == PLANNED - calls["made"]
    ended = suite(session)
    assert 1 <= ended["look"] < ended["looks"] <= 20
    assert ended["ended"] == "every blocking metric is settled"
    assert (ended["not_run"], found["cases"]["removed"]) == (0, [])
    assert not any("planned trials were not run" in note for note in found["notes"])


def test_a_worse_agent_is_caught_early(project):
    write(project, BAD)
    session = against(project, code=1)
    found = summary_of(session)
    assert found["outcome"] == "fail"
    assert 0 < found["calls"]["made"] < PLANNED
    assert found["calls"]["saved"] == PLANNED - found["calls"]["made"]
    assert "got worse" in suite(session)["ended"]


@pytest.mark.parametrize(
    ("arguments", "more"),
    [
        (("--stop", "off"), ""),
        ((), "regression: {stop: off}"),
        (("--shard", "1/1"), ""),
    ],
)
def test_every_round_is_made_where_nobody_looks(project, arguments, more):
    write(project, more=more)
    session = against(project, *arguments)
    calls = summary_of(session)["calls"]
    assert (calls["made"], calls["cap"], calls["saved"]) == (PLANNED, PLANNED, 0)
    assert (suite(session)["looks"], suite(session)["ended"]) == (0, "")


def test_a_case_by_name_is_asked_for_its_rounds(project):
    assert len(details_of(run_session(project, "--case", "7"))) == ROUNDS


def test_a_run_of_the_base_branch_makes_every_round_and_becomes_the_baseline(project):
    (project / "event.json").write_text(
        json.dumps({"ref": "refs/heads/main", "repository": {"default_branch": "main"}})
    )
    push = {
        "GITHUB_EVENT_NAME": "push",
        "GITHUB_EVENT_PATH": str(project / "event.json"),
        "GITHUB_SHA": "c" * 40,
        "GITHUB_REF": "refs/heads/main",
    }
    session = against(project, env=push)
    assert len(details_of(session)) == PLANNED
    assert "6 rounds" in run_command(project, "baseline", "save", str(session)).stdout


def test_what_ended_early_is_no_baseline(project):
    session = against(project)
    said = run_command(project, "baseline", "save", str(session), code=2).stderr
    assert "ended early" in said
    assert "gate run --stop off" in said


def test_the_order_of_the_cases_is_no_secret_of_the_machine(project):
    first, second = against(project), against(project, "--out", "again")
    assert keys(first) == keys(second)
    assert {number for _, number in keys(first)} == {1, 2} or len(keys(first)) <= CASES


def test_a_budget_between_two_looks_saves_nothing(project):
    write(project, more="budget: {calls: 7}")
    session = against(project)
    found = summary_of(session)
    assert (found["calls"]["made"], found["calls"]["saved"]) == (7, 0)
    ended = f"the budget of 7 calls was used up after 7 of {PLANNED} calls"
    assert f"{ended}: some planned trials were not run" in found["notes"]
    assert suite(session)["ended"] == ended
    assert (suite(session)["look"], suite(session)["not_run"]) == (0, PLANNED - 7)
    assert found["outcome"] == "inconclusive"


def test_a_run_goes_on_when_the_budget_is_raised(project):
    write(project, more="budget: {calls: 7}")
    session = against(project)
    write(project)
    assert against(project, "--resume", str(session)) == session
    whole = against(project)
    assert sorted(keys(session)) == sorted(keys(whole))
    assert suite(session)["look"] == suite(whole)["look"]


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_an_interrupted_run_goes_on_to_the_same_rows_and_the_same_end(project):
    write(project, seconds=0.1)
    process = start_gate(project, "run", "--baseline", "baselines")
    session = wait_for_trials(project, 20)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 130, output
    before = {(row["case_id"], row["round"]): row for row in trials_in(session)}
    against(project, "--resume", str(session.relative_to(project)))
    whole = against(project, "--out", "whole")
    assert sorted(keys(session)) == sorted(keys(whole))
    after = {(row["case_id"], row["round"]): row for row in details_of(session)}
    assert {key: after[key] for key in before} == before
    for what in ("outcome", "calls"):
        assert summary_of(session)[what] == summary_of(whole)[what]
    assert suite(session)["ended"] == suite(whole)["ended"]


def test_going_on_with_an_ended_session_adds_rounds_until_the_cap(project):
    session = against(project)
    looks, made = suite(session)["looks"], [len(details_of(session))]
    before = {(row["case_id"], row["round"]): row for row in details_of(session)}
    for look in range(suite(session)["look"] + 1, looks + 1):
        against(project, "--resume", str(session))
        assert suite(session)["look"] == look
        made.append(len(details_of(session)))
        row = next(r for r in summary_of(session)["comparisons"] if r["level"] == "block")
        assert row["ci_high"] - row["delta"] == pytest.approx(row["delta"] - row["ci_low"])
    assert made == sorted(set(made))
    assert made[-1] == CAP
    assert "was already complete: one batch of trials was added" in str(
        summary_of(session)["notes"]
    )
    after = {(row["case_id"], row["round"]): row for row in details_of(session)}
    assert {key: after[key] for key in before} == before
    assert Counter(number for _, number in after) == dict.fromkeys(range(1, 7), CASES)
    before = (session / "summary.json").read_bytes()
    said = run_command(project, "run", "--baseline", "baselines", "--resume", str(session))
    assert f"{session} is finished and stays as it is" in said.stderr
    assert len(details_of(session)) == CAP
    assert (session / "summary.json").read_bytes() == before


@pytest.mark.parametrize("outcome", [None, "error"])
def test_no_rounds_are_added_to_a_session_that_never_came_to_a_verdict(project, outcome):
    """Killed between its last look and its reports, or kept from a verdict by an outage."""
    session = against(project)
    before, look, log = keys(session), suite(session)["look"], session / "events.jsonl"
    lines = log.read_text("utf-8").splitlines()
    assert json.loads(lines.pop()) == {"event": "verdict", "outcome": "pass", "commit": None}
    told = [json.dumps({"event": "verdict", "outcome": outcome})] if outcome else []
    log.write_text("".join(f"{line}\n" for line in [*lines, *told]), "utf-8")
    against(project, "--resume", str(session))
    assert (keys(session), suite(session)["look"]) == (before, look)
    assert "had ended" not in str(summary_of(session)["notes"])


def test_no_rounds_of_another_agent_are_added(project):
    session = against(project)
    write(project, BAD)
    said = run_command(
        project, "run", "--baseline", "baselines", "--resume", str(session), code=2
    ).stderr
    assert "the agent changed since" in said
    assert "start a new run" in said


def test_a_session_keeps_its_plan_of_looks(project):
    write(project, more="budget: {calls: 7}")
    session = against(project)
    write(project)
    against(project, "--resume", str(session), "--stop", "off")
    assert suite(session)["looks"] > 0
    assert len(details_of(session)) < PLANNED
    assert "keeps its original settings" in str(summary_of(session)["notes"])


@pytest.mark.parametrize(("agent", "code"), [(GOOD, 0), (BAD, 1)])
def test_compare_says_what_the_run_said(project, agent, code):
    write(project, agent)
    session = against(project, code=code)
    run_command(project, "compare", "baselines", str(session), "--out", "compared", code=code)
    found, again = summary_of(session), summary_of(project / "compared")
    for what in ("outcome", "reason", "comparisons", "gates", "calls"):
        assert again[what] == found[what], what
    # Where a case stands is known only where its dataset is.
    for changes in found["cases"].values():
        for change in changes:
            change["place"] = None
    assert again["cases"] == found["cases"]
    for what in ("look", "looks", "ended", "not_run"):
        assert again["suites"]["s"][what] == suite(session)[what]


def test_a_plan_from_an_early_end_counts_the_cases_that_were_spared(project):
    write(project, agent=BAD)
    session = against(project, code=1)
    assert len({case for case, _ in keys(session)}) < CASES
    planned = run_command(project, "plan", str(session), "--format", "json")
    assert json.loads(planned.stdout)["suites"][0]["at_most"]["calls"] == CAP


def test_reports_of_an_early_end_are_rendered_again_byte_for_byte(project):
    session = against(project)
    before = {p: p.read_bytes() for p in session.rglob("*.md")} | {
        session / "summary.json": (session / "summary.json").read_bytes()
    }
    run_command(project, "report", str(session))
    assert {path: path.read_bytes() for path in before} == before


def test_each_look_is_told_when_somebody_wants_to_know(project):
    said = gate(project, "run", "--baseline", "baselines", "--verbose").stderr
    lines = [line for line in said.splitlines() if line.startswith("[s] look ")]
    assert lines[-1].endswith(": every blocking metric is settled")
    assert all(line.endswith(": goes on") for line in lines[:-1])


def test_shards_are_merged_as_a_run_that_nobody_looked_at(project):
    shards = [against(project, "--shard", f"{n}/2", "--out", "shards") for n in (1, 2)]
    merged = run_command(
        project, "merge", *map(str, shards), "--baseline", "baselines", "--out", "m"
    )
    session = project / merged.stdout.splitlines()[-1].removeprefix("Session written to: ")
    assert (suite(session)["looks"], len(details_of(session))) == (0, PLANNED)


def test_recorded_answers_are_replayed_whole(project):
    run_session(project, "--baseline", "none", "--record", "answers.jsonl")
    session = against(project, "--replay", "answers.jsonl")
    assert (suite(session)["looks"], len(details_of(session))) == (0, PLANNED)


def test_a_recording_of_an_early_end_is_replayed_with_the_same_rule(project):
    first = against(project, "--record", "answers.jsonl")
    again = against(project, "--replay", "answers.jsonl", "--stop", "early")
    assert sorted(keys(again)) == sorted(keys(first))
    assert summary_of(again)["reason"] == summary_of(first)["reason"]


def test_a_regression_of_one_suite_ends_the_others(project):
    write(project, BAD, suites=("s", "t"))
    found = summary_of(against(project, code=1))["suites"]
    assert {suite["look"] for suite in found.values()} == {1}
    assert found["s"]["ended"] == found["t"]["ended"]
    assert "got worse" in found["s"]["ended"]


def test_without_a_baseline_only_a_limit_that_is_broken_for_certain_ends_a_run(project):
    shutil.rmtree(project / "baselines")
    write(project, agent=BAD, more="gates: {agent.success_rate: {min: 0.9}}")
    found = summary_of(run_session(project, code=1))
    assert found["calls"]["cap"] == CAP
    assert found["calls"]["made"] < PLANNED
    assert "the gate on agent.success_rate of s is broken" in found["suites"]["s"]["ended"]
    write(project, more="gates: {agent.success_rate: {min: 0.5}}")
    assert summary_of(run_session(project))["calls"]["made"] == PLANNED


def test_extend_is_a_second_look_where_all_planned_trials_leave_a_doubt(project):
    extend = "regression: {stop: off}\npolicy: {inconclusive: extend}"
    write(project, more=extend)
    unchanged = summary_of(against(project))
    assert (unchanged["calls"]["made"], unchanged["calls"]["cap"]) == (PLANNED, CAP)
    # One case of forty breaks: p of 2.5 % after the planned trials, of 0.6 % after twice as many.
    agent = project / "agent.py"
    agent.write_text(agent.read_text().replace("case, 3", "case, 4"))
    found = summary_of(against(project, code=1))
    assert (found["calls"]["made"], found["suites"]["s"]["look"]) == (CAP, 2)
    write(project, more="regression: {stop: off}")
    agent.write_text(agent.read_text().replace("case, 3", "case, 4"))
    assert summary_of(against(project))["outcome"] == "inconclusive"


ALIKE = ("outcome", "exit_code", "reason", "calls")


def replayed(folder, *arguments, code=0):
    replay = ("--replay", "kept.jsonl", "--baseline", "baselines", "--out", "again")
    return run_session(folder, *replay, *arguments, code=code)


@pytest.mark.parametrize(("agent", "code"), [(GOOD, 0), (BAD, 1)])
def test_a_recording_of_a_run_that_ended_early_replays_to_the_same_end(project, agent, code):
    write(project, agent)
    first = against(project, "--record", "kept.jsonl", code=code)
    assert summary_of(first)["calls"]["saved"] > 0
    # At a commit: the order of the cases is that of the recorded run, which had none.
    git(project, "init", "-q")
    commit_files(project, "kept", note="kept")
    again = replayed(project, code=code)
    assert summary_of(again)["provenance"]["commit"]
    assert sorted(keys(again)) == sorted(keys(first))
    for what in ALIKE:
        assert summary_of(again)[what] == summary_of(first)[what], what
    for what in ("look", "looks", "ended", "trials", "infra_errors", "not_run"):
        assert suite(again)[what] == suite(first)[what], what


def test_a_recording_that_a_budget_ended_replays_to_its_end_and_says_so(project):
    write(project, more="budget: {calls: 7}")
    first = against(project, "--record", "kept.jsonl")
    write(project)
    again = replayed(project)
    assert sorted(keys(again)) == sorted(keys(first))
    assert summary_of(again)["outcome"] == summary_of(first)["outcome"] == "inconclusive"
    assert "the recording has only 7 trials" in str(summary_of(again)["notes"])
    assert suite(again)["infra_errors"] == 0


def test_rules_that_ask_for_more_than_was_recorded_end_where_it_ends(project):
    first = against(project, "--record", "kept.jsonl")
    again = replayed(project, "--stop", "off")
    # Which of its rounds a case has no answer for depends on the threads.
    assert sorted(case for case, _ in keys(again)) == sorted(case for case, _ in keys(first))
    assert (suite(again)["looks"], suite(again)["infra_errors"]) == (0, 0)
    made = len(keys(first))
    said = f"the recording has only {made} trials, {PLANNED - made} were not recorded"
    assert said in str(summary_of(again)["notes"])


def test_a_case_that_a_recording_of_all_rounds_lacks_is_not_spared(project):
    against(project, "--record", "kept.jsonl", "--stop", "off")
    file = project / "kept.jsonl"
    lines = file.read_text("utf-8").splitlines(keepends=True)
    file.write_text("".join(x for x in lines if json.loads(x).get("case_id") != "7"), "utf-8")
    assert suite(replayed(project))["infra_errors"] == ROUNDS


def test_a_recording_of_two_runs_is_asked_for_every_round(project):
    against(project, "--record", "kept.jsonl", "--out", "one")
    against(project, "--record", "kept.jsonl", "--out", "two", "--stop", "off")
    again = replayed(project)
    assert suite(again)["looks"] == 0
    assert "kept.jsonl holds several runs" in str(summary_of(again)["notes"])


def test_a_plan_of_looks_that_is_none_is_told_with_its_line(project):
    against(project, "--record", "kept.jsonl")
    file = project / "kept.jsonl"
    lines = file.read_text("utf-8").splitlines()
    end = json.loads(lines[-1])
    end["ended"]["suites"]["s"]["looks"]["calls"] = [20, 10]
    file.write_text("\n".join([*lines[:-1], json.dumps(end)]) + "\n", "utf-8")
    said = run_command(project, "run", "--replay", "kept.jsonl", code=2).stderr
    assert f"kept.jsonl:{len(lines)}: " in said
    assert "ascending" in said


def resumed(folder, session, *arguments, code=0):
    return against(folder, "--resume", str(session), *arguments, code=code)


def rounds_of(session):
    return Counter(Counter(case for case, _ in keys(session)).values())


def test_resume_with_rounds_goes_on_with_an_early_stop_to_these_rounds(project):
    session = against(project)
    before = {(row["case_id"], row["round"]): row for row in details_of(session)}
    resumed(project, session, "--rounds", "3")
    assert len(keys(session)) == PLANNED
    assert suite(session)["look"] == suite(session)["looks"] / 2
    resumed(project, session, "--rounds", "6")
    assert rounds_of(session) == {6: CASES}
    found = summary_of(session)
    assert (found["outcome"], found["calls"]["made"]) == ("pass", CAP)
    assert "had a verdict before rounds were added to it, up to 6 per case" in str(found["notes"])
    after = {(row["case_id"], row["round"]): row for row in details_of(session)}
    assert {key: after[key] for key in before} == before
    said = run_command(project, "run", "--resume", str(session), "--rounds", "6", code=2).stderr
    assert "has 6 rounds per case; give a larger" in said


def test_resume_with_rounds_gives_a_whole_run_a_second_look(project):
    session = against(project, "--stop", "off")
    assert suite(session)["looks"] == 0
    resumed(project, session, "--stop", "off", "--rounds", "5")
    assert rounds_of(session) == {5: CASES}
    assert (suite(session)["look"], suite(session)["looks"]) == (2, 2)
    assert json.loads((session / "meta.json").read_text("utf-8"))["suites"]["s"]["looks"] == {
        "calls": [PLANNED, 5 * CASES]
    }
    resumed(project, session, "--stop", "off", "--rounds", "6")
    assert (suite(session)["look"], suite(session)["looks"]) == (3, 3)
    refused = ("run", "--resume", str(session), "--rounds", "7", "--stop", "off")
    said = run_command(project, *refused, code=2).stderr
    assert "--rounds 7: suite 's' has regression.max_rounds: 6; give at most 6" in said


def test_resume_with_rounds_asks_no_other_agent_and_no_run_that_was_cut_off(project):
    session = against(project)
    write(project, BAD)
    arguments = ("run", "--baseline", "baselines", "--resume", str(session), "--rounds", "5")
    assert "the agent changed since" in run_command(project, *arguments, code=2).stderr
    write(project)
    log = session / "events.jsonl"
    kept = log.read_text("utf-8").splitlines(keepends=True)[:-1]
    log.write_text("".join(kept), "utf-8")
    assert "the choice of cases" in run_command(project, *arguments, code=2).stderr


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_adding_rounds_goes_on_where_it_was_cut_off(project):
    write(project, seconds=0.05)
    session = against(project, "--stop", "off", "--concurrency", "40")
    add = ("--baseline", "baselines", "--stop", "off", "--rounds", "6")
    process = start_gate(project, "run", *add, "--resume", str(session))
    wait_for_trials(project, PLANNED + 10)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 130, output
    assert len(trials_in(session)) < CAP
    run_session(project, *add, "--resume", str(session))
    assert rounds_of(session) == {6: CASES}
    assert (suite(session)["look"], suite(session)["looks"]) == (2, 2)
