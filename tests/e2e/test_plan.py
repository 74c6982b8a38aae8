"""`gate plan` as people use it: nothing is called, whatever there is to plan with."""

import json
import re
import shutil

import pytest

from tests.support.chat_server import ChatServer
from tests.support.git_repository import git
from tests.support.in_process import gate
from tests.support.paths import ROOT
from tests.support.session_files import sessions_in
from tests.support.yes_project import CASES, write_project

NOBODY = "http://127.0.0.1:9"


def plan(folder, *arguments, code=0):
    done = gate(folder, "plan", *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr if code else done.stdout


def numbers(folder, *arguments):
    return json.loads(plan(folder, "--format", "json", *arguments))


@pytest.fixture
def measured(tmp_path):
    """A project whose main branch was measured once: half of the cases waver."""

    def reply(question, nth):
        return "no" if int(question[1:]) % 2 and nth % 2 else "yes"

    with ChatServer(reply) as server:
        write_project(tmp_path, server.url, suite_more="rounds: 4")
        done = gate(tmp_path, "run", "--baseline", "none")
        assert done.returncode == 0, done.stdout + done.stderr
    write_project(tmp_path, NOBODY, suite_more="rounds: 4")
    return tmp_path


def test_without_a_baseline_it_guesses_and_says_so(tmp_path):
    write_project(tmp_path, NOBODY)
    said = plan(tmp_path)
    assert "There is no baseline" in said
    assert "guess" in said
    assert "Next: measure the base branch" in said
    assert not sessions_in(tmp_path)


def test_with_a_baseline_it_measures(measured):
    assert gate(measured, "baseline", "save", str(sessions_in(measured)[0])).returncode == 0
    (suite,) = numbers(measured)["suites"]
    (success,) = suite["metrics"]
    assert (suite["cases"], suite["rounds"], suite["rounds_b"]) == (12, 4, 4)
    assert success["guess"] == ""
    assert suite["never_changing"] == 0.5
    assert success["variance"] == pytest.approx(1 / 6)  # half of the cases: 2 * 2 / (4 * 3)
    assert suite["usd_per_call"] is None
    said = plan(measured)
    assert "12 cases x 4 rounds, up to 8 while undecided" in said
    assert "Baseline: 4 stored rounds a case" in said
    assert "50 % of the calls go to cases whose stored answers all passed or all failed." in said
    assert len(sessions_in(measured)) == 1


def test_a_session_is_planned_with_without_its_dataset(measured):
    assert gate(measured, "baseline", "save", str(sessions_in(measured)[0])).returncode == 0
    stored = numbers(measured)["suites"][0]
    (measured / "cases.jsonl").unlink()
    session = str(sessions_in(measured)[0])
    (suite,) = numbers(measured, session)["suites"]
    assert suite["metrics"] == stored["metrics"]
    assert numbers(measured, session, "--rounds", "2")["suites"][0]["at_most"]["calls"] == 48
    assert "leave out --sample" in plan(measured, session, "--sample", "3", code=2)
    assert "--suite t: not in" in plan(measured, session, "--suite", "t", code=2)


def test_options_change_the_plan(tmp_path):
    write_project(tmp_path, NOBODY)
    assert numbers(tmp_path, "--rounds", "7")["suites"][0]["max_rounds"] == 14
    assert numbers(tmp_path, "--sample", "6")["suites"][0]["cases"] == 6
    assert plan(tmp_path, "--format", "markdown").count("\n| :-- | --: |") == 2


def test_cases_that_changed_since_or_are_in_quarantine_do_not_count(measured):
    assert gate(measured, "baseline", "save", str(sessions_in(measured)[0])).returncode == 0
    edited = [{**case, "input": "else"} if case["id"] == "c3" else case for case in CASES]
    entry = "quarantine: [{case: c4, owner: me, until: 2999-01-01}]"
    write_project(measured, NOBODY, cases=edited, suite_more="rounds: 4", more=entry)
    (suite,) = numbers(measured)["suites"]
    assert (suite["cases"], suite["unstored"]) == (11, 1)
    assert suite["metrics"][0]["cases"] == 10
    assert "1 case of the baseline was removed or changed since then" in plan(measured)


def test_the_own_rules_are_planned_for_not_the_base_branchs(tmp_path):
    write_project(tmp_path, NOBODY)
    config = tmp_path / "gate.yml"
    config.write_text(config.read_text("utf-8").replace("protect: false\n", ""))
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "1")
    config.write_text(config.read_text("utf-8").replace("rounds: 2", "rounds: 5"))
    assert numbers(tmp_path)["suites"][0]["rounds"] == 5


def test_everything_wrong_with_the_files_is_told_at_once(tmp_path):
    write_project(
        tmp_path, NOBODY, cases=[{"id": "a"}], more="gates: {agent.sucess_rate: {min: 2}}"
    )
    assert "agent.sucess_rate: unknown metric" in plan(tmp_path, code=2)
    write_project(tmp_path, NOBODY, cases=[{"id": "a"}, {"id": "a", "input": "b"}])
    told = plan(tmp_path, code=2)
    assert "cases.jsonl:1: " in told
    assert "cases.jsonl:2: " in told
    assert "nowhere" in plan(tmp_path, "nowhere", code=2)


def test_the_calls_of_a_judge_are_told_beside_the_cost(tmp_path):
    write_project(tmp_path, NOBODY)
    config = tmp_path / "gate.yml"
    text = config.read_text("utf-8")
    assert "judge's calls" not in plan(tmp_path)
    judged = text.replace("graders: [", "graders: [{judge: {rubric: quality}}, ")
    judge = f"judge: {{type: openai, base_url: '{NOBODY}', model: other, votes: 3}}\n"
    config.write_text(judged + judge, encoding="utf-8")
    assert "the judge's calls come on top, up to" in " ".join(plan(tmp_path).split())


def test_a_limit_near_mains_level_is_warned_of_with_the_next_step(measured):
    gates = "gates: {agent.success_rate: {min: 0.74}}\n"
    (measured / "gate.yml").write_text((measured / "gate.yml").read_text("utf-8") + gates, "utf-8")
    before = plan(measured)
    assert "Unknown: there is no baseline." in before
    assert gate(measured, "baseline", "save", str(sessions_in(measured)[0])).returncode == 0
    (limit,) = numbers(measured)["suites"][0]["limits"]
    assert 0.1 < limit["odds"]["chance"] < 0.6
    said = " ".join(plan(measured).split())
    assert "Warning: agent.success_rate min 0.74 would be broken by chance in" in said
    assert f"of runs: set min {limit['safer']:g} (broken in 5 % of runs)" in said
    assert "add cases or rounds, or rule: convicted." in said


def test_validate_says_the_same_by_the_baseline_else_by_the_newest_session(measured):
    project = measured / "gate.yml"
    gates = "gates: {agent.success_rate: {min: 0.74}}\n"
    project.write_text(project.read_text("utf-8") + gates, "utf-8")
    by_session = validated(measured)
    assert gate(measured, "baseline", "save", str(sessions_in(measured)[0])).returncode == 0
    by_baseline = validated(measured)
    for said in (by_session, by_baseline):
        assert (
            "warning: suite 's': agent.success_rate min 0.74 would be broken by chance in" in said
        )
        assert "agent.success_rate min 0.74: an unchanged agent would break it in" in said
        assert "of runs by chance" in said


def test_validate_without_either_says_that_it_is_unknown(tmp_path):
    write_project(tmp_path, NOBODY)
    assert "noise" not in validated(tmp_path)  # there is no limit
    with (tmp_path / "gate.yml").open("a", encoding="utf-8") as file:
        file.write("gates: {agent.success_rate: {min: 0.74}}\n")
    why = "there is no baseline in baselines/ and no session in results/"
    assert f"cannot estimate how often chance alone would break a limit: {why}" in validated(
        tmp_path
    )


def validated(folder):
    done = gate(folder, "validate")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_page_shows_what_its_commands_print(tmp_path):
    page = (ROOT / "docs" / "plan.md").read_text("utf-8")
    (config,) = re.findall(r"```yaml\n(version: 1\n.*?)```", page, re.DOTALL)
    (shown,) = re.findall(r"```text\n(A harmless change.*?)```", page, re.DOTALL)
    (tmp_path / "gate.yml").write_text(config, encoding="utf-8")
    shutil.copytree(ROOT / "datasets" / "analytics", tmp_path / "datasets" / "analytics")
    assert gate(tmp_path, "run", "--stop", "off", "--quiet").returncode in (0, 1)
    assert gate(tmp_path, "baseline", "save", "latest").returncode == 0
    assert plan(tmp_path).split() == shown.split()  # lines end where the terminal does
