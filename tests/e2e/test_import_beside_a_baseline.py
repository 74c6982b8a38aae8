"""Results of another tool in a repository with a main branch: compared, judged, handed on."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.events import payload
from tests.support.git_repository import git
from tests.support.import_page import EXAMPLES
from tests.support.in_process import gate
from tests.support.paths import DATA
from tests.support.session_files import summary_of

SESSION = DATA / "openagent_session"
TASKS = SESSION.parent / "openagent_tasks"
OWN_TASKS = """version: 1
suites:
  - {name: dialogue, dataset: tasks}
"""
CONFIG = """version: 1
suites:
  - name: dialogue
    gates: {agent.success_rate: {min: MIN, rule: point}}
"""


def session_of(folder, session_id, *, fails=0):
    """The stored session, with so many more of its tasks failing in every round."""
    shutil.copytree(SESSION, folder)
    meta = folder / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"session_id": session_id}))
    rows = [json.loads(line) for line in (folder / "details.jsonl").read_text().splitlines()]
    tasks = sorted({row["task_id"] for row in rows if row["suite"] == "dialogue" and row["ok"]})
    for row in rows:
        if row["task_id"] in tasks[:fails]:
            row.update(ok=False, validation_errors=["min_chars_not_met"], attempt=1)
    (folder / "details.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "summary.json").unlink()


def imported(folder, source, *more, code):
    options = ("--suite", "dialogue", "--out", "results", *more)
    job = {"CI": "true"}  # on a laptop the files judge as they are
    found = gate(folder, "import", "openagent", source, *options, env=job)
    assert found.returncode == code, found.stdout + found.stderr
    return Path(folder / found.stdout.splitlines()[-1].removeprefix("Session written to: "))


@pytest.fixture
def project(tmp_path):
    """Main with a baseline made of an import, and a branch that starts there."""
    (tmp_path / "gate.yml").write_text(CONFIG.replace("MIN", "0.5"))
    (tmp_path / ".gitignore").write_text("results\nold\nnew\n")
    session_of(tmp_path / "old", "20260512-143052-1a2b3c4d")
    git(tmp_path, "init", "-q", "-b", "main")
    session = imported(tmp_path, "old", code=0)
    saved = gate(tmp_path, "baseline", "save", str(session))
    assert saved.returncode == 0, saved.stderr
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "x")
    git(tmp_path, "checkout", "-q", "-b", "work")
    return tmp_path


def test_a_worse_result_with_an_easier_gate_fails_by_the_rules_of_main(project):
    session_of(project / "new", "20260519-080000-5e6f7a8b", fails=6)
    (project / "gate.yml").write_text(CONFIG.replace("MIN", "0.01"))
    git(project, "commit", "-q", "-a", "-m", "easier")
    report = summary_of(imported(project, "new", "--baseline", "auto", code=1))
    assert report["outcome"] == "fail"
    assert report["loosened"] == ["agent.success_rate min 0.50 -> 0.01 in gate.yml:4"]
    (success,) = (c for c in report["comparisons"] if c["metric"] == "agent.success_rate")
    assert (success["status"], success["n_paired"]) == ("regression", 8)
    assert len(report["provenance"]["commit"]) == 40
    assert report["reproduce"] == "", "nobody can be asked again"


def test_the_same_result_passes(project):
    session_of(project / "new", "20260519-080000-5e6f7a8b")
    report = summary_of(imported(project, "new", "--baseline", "auto", code=0))
    assert (report["outcome"], report["baseline"]["source"]) == ("pass", "repo")


def test_a_baseline_may_be_named(project):
    session_of(project / "new", "20260519-080000-5e6f7a8b", fails=6)
    report = summary_of(imported(project, "new", "--baseline", "baselines", code=1))
    assert report["baseline"]["source"] == "file"
    refused = gate(project, "import", "openagent", "new", "--baseline", "gone", "--out", "x")
    assert refused.returncode == 2
    assert "gone" in refused.stderr
    assert not (project / "x").exists(), "a broken baseline leaves no half session"


def test_recorded_answers_are_graded_by_a_suite_of_ones_own(project):
    out = project / "answers.jsonl"
    imported(project, "old", "--out", "again", "--recording", str(out), code=0)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == 24
    assert sum("response" in line for line in lines) == 22, "two are errors"
    taken = gate(project, "import", "openagent", "old", "--recording", str(out), "--out", "more")
    assert (taken.returncode, "already exists" in taken.stderr) == (2, True)
    cases = [
        {"id": case, "input": f"q {case}"} for case in sorted({line["case_id"] for line in lines})
    ]
    (project / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    (project / "gate.yml").write_text(
        "version: 1\nprotect: false\nsuites:\n  - {name: again, dataset: cases.jsonl, "
        "graders: [completion]}\n"
    )
    replayed = ("--replay", str(out), "--suite", "again", "--baseline", "none", "--out", "ran")
    ran = gate(project, "run", *replayed)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (session,) = (project / "ran").glob("session-*")
    suite = summary_of(session)["suites"]["again"]
    assert (suite["trials"], suite["infra_errors"], suite["agent_errors"]) == (24, 1, 1)


def test_a_source_without_questions_is_no_dataset(project):
    found = gate(project, "import", "openagent", "old", "--dataset", "d.jsonl", "--out", "x")
    assert found.returncode == 2
    assert "a file holds one suite" in found.stderr
    one = ("--suite", "dialogue", "--dataset", "d.jsonl", "--out", "x")
    found = gate(project, "import", "openagent", "old", *one)
    assert (found.returncode, "do not contain the question of case" in found.stderr) == (2, True)
    assert not (project / "d.jsonl").exists()


def test_the_action_judges_an_import_as_it_judges_a_run(project):
    session_of(project / "new", "20260519-080000-5e6f7a8b", fails=6)
    event = payload("push", ref="refs/heads/work")
    (project / "event.json").write_text(json.dumps(event))
    env = {
        "GITHUB_EVENT_NAME": "push",
        "GITHUB_EVENT_PATH": str(project / "event.json"),
        "GITHUB_OUTPUT": str(project / "output"),
        "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
        "GITHUB_SHA": "a" * 40,
        "INPUT_IMPORT": "auto",
        "INPUT_IMPORT-PATH": "new",
        "INPUT_BASELINE": "baselines",
        "INPUT_SUITE": "dialogue",
        "INPUT_RESULTS-DIR": "out",
    }
    found = gate(project, "action", env=env)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "fail" in (project / "output").read_text().splitlines()
    assert "dialogue" in (project / "summary.md").read_text()
    wrong = gate(project, "action", env={**env, "INPUT_IMPORT-PATH": ""})
    assert (wrong.returncode, "give both" in wrong.stdout + wrong.stderr) == (2, True)


def test_a_change_cannot_ease_the_tasks_that_its_answers_are_graded_by(project):
    shutil.copytree(TASKS, project / "tasks")
    (project / "gate.yml").write_text(OWN_TASKS)
    git(project, "checkout", "-q", "main")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "tasks")
    git(project, "checkout", "-q", "work")
    git(project, "rebase", "-q", "main")

    def graded(out):  # the stored baseline was judged by the other tool: not comparable
        found = imported(project, "old", "--regrade", "--baseline", "auto", "--out", out, code=5)
        return summary_of(found)

    before = graded("before")
    file = project / "tasks" / "tasks.yaml"
    file.write_text(re.sub(r"max_words: \d+", "max_words: 999", file.read_text()))
    git(project, "commit", "-q", "-a", "-m", "easier")
    after = graded("after")
    rates = [
        one["suites"]["dialogue"]["metrics"]["agent.success_rate"]["value"]
        for one in (before, after)
    ]
    assert rates[0] == rates[1] < 1.0
    assert any("tasks.yaml" in one for one in after["loosened"])


@pytest.mark.parametrize(
    "suites", ["", "suites: [{name: other, dataset: x.jsonl, graders: [completion]}]"]
)
def test_a_gate_that_an_import_cannot_measure_is_not_skipped(tmp_path, suites):
    (tmp_path / "x.jsonl").write_text('{"id": "a", "input": "q"}')
    gates = "{agent.success_rate: {min: 0.9}}"
    (tmp_path / "gate.yml").write_text(f"version: 1\ngates: {gates}\n{suites}\n")
    run = EXAMPLES / "mini-swe-agent" / "run"  # which says of nothing whether it passed
    found = gate(tmp_path, "import", "mini-swe-agent", str(run), "--out", "results")
    if suites:  # the gate is that of a suite which the import does not have
        assert found.returncode == 0, found.stderr
    else:  # none of gate.yml's suites stands for it: the bundled ones do not
        assert found.returncode == 1, found.stdout
        assert "agent.success_rate is not measured by any suite of this run" in found.stdout
        session = found.stdout.splitlines()[-1].removeprefix("Session written to: ")
        again = gate(tmp_path, "compare", session, session)
        assert (again.returncode, "not measured by any suite" in again.stdout) == (1, True)


def test_the_plan_of_an_import_has_no_looks_where_gate_yml_asks_nobody(tmp_path):
    reports = EXAMPLES / "promptfoo"
    for day in ("monday", "tuesday"):
        made = gate(tmp_path, "import", "promptfoo", str(reports / f"{day}.json"), "--out", day)
        assert made.returncode == 0, made.stderr
    first, second = (str(next((tmp_path / day).glob("session-*"))) for day in ("monday", "tuesday"))
    planned = gate(tmp_path, "plan", first, "--format", "json").stdout
    suites = json.loads(planned)["suites"]
    assert [one["max_rounds"] - one["rounds"] for one in suites] == [0] * len(suites)
    assert "gate run" not in gate(tmp_path, "compare", first, second).stdout


def test_a_disk_that_is_full_leaves_no_half_session(tmp_path):
    (tmp_path / "trec").mkdir()
    queries = range(60)  # their rows are more than what a session begins with
    run, judged = (tmp_path / "trec" / name for name in ("run.txt", "qrels.txt"))
    run.write_text("".join(f"q{n} Q0 d 1 1.0 t\n" for n in queries))
    judged.write_text("".join(f"q{n} 0 d 1\n" for n in queries))
    words = [sys.executable, "-m", "gate", "import", "trec", "trec", "--out", "results"]
    small = ["sh", "-c", 'ulimit -f 70; exec "$@"', "sh", *words]  # blocks a file
    full = subprocess.run(small, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert full.returncode == 6, full.stderr
    assert list((tmp_path / "results").glob("session-*")) == []
    assert gate(tmp_path, *words[3:]).returncode == 0, "it is not told to be imported already"
