"""A change that makes its own rules easier: what is told, and whose rules judge."""

import json

import pytest

from tests.e2e.test_bad_input import CASES
from tests.e2e.test_everyday import done, run, save, summary
from tests.e2e.test_fresh_control import git
from tests.support.own_grader import GRADER

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
        save(tmp_path, run(tmp_path, "--baseline", "none"))
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
    session = run(folder, code=1)
    report = summary(session)
    assert report["loosened"] == [
        "`agent.success_rate` min 0.9 -> 0.1 in `gate.yml:8`",
        "`budget.calls` none -> 1",
        "removes 6 cases of `s`: `c0`, `c1`, `c2`, `c3`, `c4` and 1 more",
        "edits the baseline of `s`; the base branch's was used",
    ]
    assert report["unprotected"] is False
    comment = (session / "comment.md").read_text("utf-8").splitlines()
    assert comment[1] == "## ❌ Fail: s got worse"
    assert "judged by those of the base branch" in comment[4]
    assert report["suites"]["s"]["history"] == {}, "one run is no history"


def test_what_an_edited_grader_says_is_compared_with_nothing(project):
    folder = project()
    write(folder, grader=GRADER + "# easier\n")
    report = summary(run(folder, code=5))
    assert report["outcome"] == "not_comparable"
    assert report["loosened"] == ["changes the grader file `mine.py`: its metrics are not compared"]
    assert "this change edits its grader file `mine.py`" in report["reason"]


def test_without_protection_the_easier_rules_are_in_force_and_told(project):
    folder = project("false")
    easier = CONFIG.replace("min: 0.9", "min: 0.1")
    write(folder, config=easier, cases=CASES[1:], protect="false")
    session = run(folder)
    report = summary(session)
    assert report["loosened"] == [
        "`agent.success_rate` min 0.9 -> 0.1 in `gate.yml:8`",
        "removes 1 case of `s`: `c0`",
    ]
    assert report["unprotected"] is True
    assert "and is judged by them: protect is off" in (session / "comment.md").read_text("utf-8")


def test_the_stored_runs_of_the_base_branch_are_the_trend(project):
    folder = project()
    git(folder, "checkout", "-q", "main")
    for _ in range(2):
        save(folder, run(folder, "--baseline", "none"))
    git(folder, "commit", "-q", "-a", "-m", "two runs more")
    git(folder, "checkout", "-q", "-B", "work")
    session = run(folder)
    assert summary(session)["suites"]["s"]["history"] == {"agent.success_rate": [1.0, 1.0, 1.0]}
    assert "<summary>Trend</summary>" in (session / "comment.md").read_text("utf-8")
    assert done(folder, "report", str(session)).returncode == 0
