"""A change that makes its own rules easier: what is told, and whose rules judge."""

import json

import pytest

from tests.support.git_repository import git
from tests.support.in_process import run_command, run_session, save_baseline
from tests.support.own_grader import GRADER
from tests.support.session_files import summary_of
from tests.support.yes_project import CASES

CONFIG = """version: 1
agent: {type: python, callable: "./agent.py:answer"}
suites:
  - name: s
    dataset: cases.jsonl
    graders: [exact_match, "./mine.py:Mine"]
    rounds: 3
gates: {agent.success_rate: {min: 0.9}}
protect: PROTECT
"""
AGENT = "def answer(case):\n    return 'no' if case['input'] in WRONG else 'yes'\n"


def write(folder, *, config=CONFIG, wrong=(), cases=CASES, grader=GRADER, protect="true"):
    (folder / "gate.yml").write_text(config.replace("PROTECT", protect))
    (folder / "agent.py").write_text(AGENT.replace("WRONG", repr([f"q{n}" for n in wrong])))
    (folder / "mine.py").write_text(grader)
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))


@pytest.fixture
def project(tmp_path):
    """A main branch with a baseline, and a branch that starts at it."""

    def made(protect="true"):
        write(tmp_path, protect=protect)
        git(tmp_path, "init", "-q", "-b", "main")
        (tmp_path / ".gitignore").write_text("results\n")
        save_baseline(tmp_path, run_session(tmp_path, "--baseline", "none"))
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", "x")
        git(tmp_path, "checkout", "-q", "-b", "work")
        return tmp_path

    return made


def test_a_worse_agent_with_easier_rules_and_cases_still_fails(project):
    folder = project()
    easier = CONFIG.replace("min: 0.9", "min: 0.1").replace(
        "protect: PROTECT", "budget: {calls: 1}"
    )
    write(folder, config=easier, wrong=range(6), cases=CASES[6:])
    stored = folder / "baselines" / "s.json"
    stored.write_bytes(stored.read_bytes().replace(b"[1,", b"[0,", 3))
    session = run_session(folder, "--protect", code=1)
    report = summary_of(session)
    assert report["loosened"] == [
        "agent.success_rate min 0.90 -> 0.10 in gate.yml:8",
        "budget.calls none -> 1",
        "removes 6 cases of s: c0, c1, c2, c3, c4 and 1 more",
        "edits the baseline of s; the base branch's was used",
    ]
    assert report["unprotected"] is False
    comment = (session / "comment.md").read_text("utf-8").splitlines()
    assert comment[1] == "## ❌ Fail: 6 of 12 cases newly fail in s"
    assert "judged by those of the base branch" in comment[4]
    assert report["suites"]["s"]["history"] == {}, "one run is no history"


def test_what_an_edited_grader_says_is_compared_with_nothing(project):
    folder = project()
    write(folder, grader=GRADER + "# easier\n")
    report = summary_of(run_session(folder, "--protect", code=5))
    assert report["outcome"] == "not_comparable"
    assert report["loosened"] == ["changes the grader file mine.py: its metrics are not compared"]
    assert "this change edits its grader file mine.py" in report["reason"]


def test_without_protection_the_easier_rules_are_in_force_and_told(project):
    folder = project("false")
    easier = CONFIG.replace("min: 0.9", "min: 0.1")
    write(folder, config=easier, cases=CASES[1:], protect="false")
    session = run_session(folder, "--protect")
    report = summary_of(session)
    assert report["loosened"] == [
        "agent.success_rate min 0.90 -> 0.10 in gate.yml:8",
        "removes 1 case of s: c0",
    ]
    assert report["unprotected"] is True
    assert "because protect is off" in (session / "comment.md").read_text("utf-8")


def test_the_stored_runs_of_the_base_branch_are_the_trend(project):
    folder = project()
    git(folder, "checkout", "-q", "main")
    for _ in range(2):
        save_baseline(folder, run_session(folder, "--baseline", "none"))
    git(folder, "commit", "-q", "-a", "-m", "two runs more")
    git(folder, "checkout", "-q", "-B", "work")
    session = run_session(folder)
    assert summary_of(session)["suites"]["s"]["history"] == {"agent.success_rate": [1.0, 1.0, 1.0]}
    comment = (session / "comment.md").read_text("utf-8")
    assert "in the baseline's last 3 runs, " in comment
    assert ": 1.00 1.00 1.00 → **1.00**" in comment
    assert run_command(folder, "report", str(session)).returncode == 0
