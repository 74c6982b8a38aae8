"""A trial that failed keeps the steps that its error brought along, and stays failed."""

import json

import pytest

from tests.support.in_process import run_session, save_baseline
from tests.support.session_files import details_of, summary_of

CONFIG = """version: 1
agent: {type: python, callable: "./agent.py:answer"}
suites:
  - {name: s, dataset: cases.jsonl, graders: [contains: {text: done}, trajectory], rounds: 2}
"""
AGENT = """
STEPS = [{"name": "search", "arguments": {"key": "sk-live-0123456789abcdef"}}, {"name": "read"}]
class Gone(Exception):
    def __init__(self):
        super().__init__("the last tool failed, done")
        self.steps = [*STEPS, {"name": "read"}]
def answer(case):
    if BROKEN and case["id"] == "c1":
        raise Gone
    return {"answer": "done", "steps": STEPS}
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "gate.yml").write_text(CONFIG)
    cases = [{"id": f"c{n}", "input": f"q{n}"} for n in range(12)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    (tmp_path / "agent.py").write_text(f"BROKEN = False{AGENT}")
    save_baseline(tmp_path, run_session(tmp_path, "--baseline", "none"))
    (tmp_path / "agent.py").write_text(f"BROKEN = True{AGENT}")
    return tmp_path


def test_the_row_and_the_comparison_of_steps_have_them_and_nothing_passes_by_them(project):
    record = project / "answers.jsonl"
    session = run_session(project, "--record", str(record), "--stop", "off")
    rows = [row for row in details_of(session) if row["case_id"] == "c1"]
    assert len(rows) == 2
    for row in rows:
        assert (row["status"], row["passed"], row["output"]) == ("agent_error", False, None)
        assert [step["name"] for step in row["steps"]] == ["search", "read", "read"]
        assert row["scores"]["correctness.contains"] == 0.0
        assert row["mode"] == "agent_error"
    report = summary_of(session)
    assert report["suites"]["s"]["agent_errors"] == 2
    (changed,) = report["cases"]["newly_failing"]
    assert [step["kind"] for step in changed["steps"]["steps"]].count("added") == 1

    again = run_session(project, "--replay", str(record), "--stop", "off")
    replayed = [row for row in details_of(again) if row["case_id"] == "c1"]
    assert [row["steps"] for row in replayed] == [row["steps"] for row in rows]
    assert [row["status"] for row in replayed] == ["agent_error"] * 2
