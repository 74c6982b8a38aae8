"""Each failure mode, end to end: a switch drives the sample agent into it on cases of the bundled
suite `trajectories` that it passes without, and the run names it.
"""

import json

import pytest
import yaml

from gate import cli
from gate.records import FailureMode
from tests.support.paths import ROOT

BUNDLED = ROOT / "datasets/trajectories"

QUERIES = ("compare-001", "compare-002", "compute-003", "multi-hop-002", "format-001")
SEARCHED = ("compare-001", "compare-002", "compute-001", "compute-004", "format-001")
READING = ("lookup-001", "lookup-002", "lookup-003", "lookup-005")
FORMED = ("compare-006", "format-001", "format-002", "format-003")
MODES: dict[str, tuple[str, tuple[str, ...]]] = {  # keys of the agent, cases
    "safety": ("options: {unsafe: true}", QUERIES),
    "timeout": ("timeout_s: 0.1, options: {latency_ms: 300}", READING),
    "agent_error": ("options: {error_rate: true}", READING),
    "loop": ("options: {loop: true}", QUERIES),
    "inefficient": ("options: {loop: true}", QUERIES),
    "refusal": ("options: {refuse: true}", QUERIES),
    "tool_args_wrong": ("options: {wrong_args: true}", QUERIES),
    "wrong_tool": ("options: {wrong_tool: true}", READING),
    "missing_tool_use": ("options: {no_tool: [run_sql]}", QUERIES),
    "retrieval_miss": ("options: {flaky: true}", SEARCHED),
    "hallucinated_data": ("options: {hallucinate: true}", QUERIES),
    "format": ("options: {malformed: true}", FORMED),
    "instruction": ("options: {disobey: true}", ("format-006", "format-007")),
    "wrong_answer": ("options: {stale: true}", ("lookup-007", "compute-009", "format-005")),
}
FAIL_ON = {"inefficient": ["inefficient"]}  # where it is not as the bundled suite has it


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Rows and the suite's summary of a run on some cases."""
    monkeypatch.chdir(tmp_path)

    def made(agent, cases, fail_on=None):
        suite = yaml.safe_load((BUNDLED / "suite.yml").read_text("utf-8"))
        lines = (BUNDLED / "dataset.jsonl").read_text("utf-8").splitlines(keepends=True)
        some = [line for line in lines if json.loads(line)["id"] in cases]
        (tmp_path / "cases.jsonl").write_text("".join(some), "utf-8")
        if fail_on:
            (trajectory,) = (one for one in suite["graders"] if "trajectory" in one)
            trajectory["trajectory"]["fail_on"] = fail_on
        suite = {key: suite[key] for key in ("name", "graders")} | {"dataset": "cases.jsonl"}
        config = f"version: 1\nagent: {{type: sample, concurrency: 8, {agent}}}\n"
        config += yaml.safe_dump({"suites": [suite]})
        (tmp_path / "gate.yml").write_text(config)
        cli.run(["run", "--rounds", "2", "--baseline", "none", "--quiet"], {})
        (session,) = (tmp_path / "results").glob("session-*")
        rows = (session / "details.jsonl").read_text("utf-8").splitlines()
        summary = json.loads((session / "summary.json").read_text("utf-8"))
        return [json.loads(row) for row in rows], summary["suites"]["trajectories"]

    return made


def test_there_is_a_switch_for_every_mode():
    assert set(MODES) == set(FailureMode.__args__)


def test_without_a_switch_it_passes_these_cases(run):
    cases = sorted({case for _, some in MODES.values() for case in some})
    rows, suite = run("options: {seed: 1}", cases)
    assert len(rows) == 2 * len(cases)
    assert [row["case_id"] for row in rows if not row["passed"]] == []
    assert {row["mode"] for row in rows} == {None}
    assert suite["modes"] == []


@pytest.mark.parametrize("mode", MODES)
def test_a_failed_trial_has_its_mode(run, mode):
    agent, cases = MODES[mode]
    rows, suite = run(agent, cases, FAIL_ON.get(mode))
    assert [row["mode"] for row in rows] == [mode] * 2 * len(cases)
    assert suite["modes"] == [{"mode": mode, "trials": len(rows), "cases": len(cases)}]
