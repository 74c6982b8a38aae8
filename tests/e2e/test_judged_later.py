"""A run that ends while an answer is judged has the answer, and goes on with judging it."""

import json
from pathlib import Path

from tests.support.as_process import gate_as_process

CONFIG = """version: 1
agent: {type: python, callable: "./agent.py:answer", concurrency: 1}
suites: [{name: s, dataset: cases.jsonl, graders: ["./checks.py:Mine"], rounds: 1}]
"""
AGENT = """
def answer(case):
    with open("calls.log", "a") as log:
        print(case["id"], file=log)
    return "answer to " + case["input"]
"""
GRADER = """
import os, signal
from dataclasses import dataclass
from pathlib import Path
from gate.records import MetricSpec, Score

@dataclass(frozen=True, slots=True, kw_only=True)
class Mine:
    keys = {}
    needs = ()
    def metrics(self):
        return (MetricSpec(name="correctness.mine", column="mine"),)
    def grade(self, case, response):
        if case.id == "b" and not Path("killed").exists():
            Path("killed").touch()
            os.kill(os.getppid(), signal.SIGKILL)
        return Score(values={"mine": 1.0}, passed=response.answer == "answer to q")
"""


def test_a_run_that_is_killed_while_it_judges_does_not_ask_again(tmp_path: Path) -> None:
    (tmp_path / "gate.yml").write_text(CONFIG)
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "checks.py").write_text(GRADER)
    cases = "".join(json.dumps({"id": name, "input": "q"}) + "\n" for name in "abc")
    (tmp_path / "cases.jsonl").write_text(cases)
    assert gate_as_process(tmp_path, "run").returncode == -9
    (session,) = (tmp_path / "results").glob("session-*")
    assert gate_as_process(tmp_path, "run", "--resume", str(session)).returncode == 0
    assert (tmp_path / "calls.log").read_text().split() == ["a", "b", "c"]
    rows = [json.loads(line) for line in (session / "details.jsonl").read_text().splitlines()]
    assert [(row["case_id"], row["passed"]) for row in rows] == [(name, True) for name in "abc"]
    assert rows[1]["output"] == "answer to q"
