"""Results of another tool in a repository with a main branch: compared, judged, handed on."""

import json
import shutil
from pathlib import Path

import pytest

from tests.e2e.test_everyday import summary
from tests.e2e.test_fresh_control import git
from tests.events import payload
from tests.in_process import gate

SESSION = Path(__file__).parents[1] / "data" / "openagent_session"
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
    found = gate(folder, "import", "openagent", source, *options)
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
    report = summary(imported(project, "new", "--baseline", "auto", code=1))
    assert report["outcome"] == "fail"
    assert report["loosened"] == ["`agent.success_rate` min 0.5 -> 0.01 in `gate.yml:4`"]
    (success,) = (c for c in report["comparisons"] if c["metric"] == "agent.success_rate")
    assert (success["status"], success["n_paired"]) == ("regression", 8)
    assert len(report["provenance"]["commit"]) == 40
    assert report["reproduce"] == "", "nobody can be asked again"


def test_the_same_result_passes(project):
    session_of(project / "new", "20260519-080000-5e6f7a8b")
    report = summary(imported(project, "new", "--baseline", "auto", code=0))
    assert (report["outcome"], report["baseline"]["source"]) == ("pass", "repo")


def test_a_baseline_may_be_named(project):
    session_of(project / "new", "20260519-080000-5e6f7a8b", fails=6)
    report = summary(imported(project, "new", "--baseline", "baselines", code=1))
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
    assert (taken.returncode, "is there already" in taken.stderr) == (2, True)
    cases = [{"id": case, "input": f"q {case}"} for case in sorted({line["case_id"] for line in lines})]
    (project / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    (project / "gate.yml").write_text(
        "version: 1\nprotect: false\nsuites:\n  - {name: again, dataset: cases.jsonl, "
        "graders: [completion]}\n"
    )
    replayed = ("--replay", str(out), "--suite", "again", "--baseline", "none", "--out", "ran")
    ran = gate(project, "run", *replayed)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (session,) = (project / "ran").iterdir()
    suite = summary(session)["suites"]["again"]
    assert (suite["trials"], suite["infra_errors"], suite["agent_errors"]) == (24, 1, 1)


def test_a_source_without_questions_is_no_dataset(project):
    found = gate(project, "import", "openagent", "old", "--dataset", "d.jsonl", "--out", "x")
    assert found.returncode == 2
    assert "one suite a file" in found.stderr
    one = ("--suite", "dialogue", "--dataset", "d.jsonl", "--out", "x")
    found = gate(project, "import", "openagent", "old", *one)
    assert (found.returncode, "does not say what the case" in found.stderr) == (2, True)
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
