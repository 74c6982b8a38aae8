"""The dimensions by which agents are judged, each a gate on the bundled suite: an honest agent
meets all of them, and each fires when what it guards is broken.
"""

import json

import pytest

from gate import cli
from tests.support.paths import ROOT

DATASET = ROOT / "datasets/trajectories/dataset.jsonl"
CASES = (
    *("lookup-001", "lookup-002", "lookup-003", "lookup-005", "compute-001", "compute-003"),
    *("compute-004", "compute-006", "compare-001", "compare-002", "compare-003", "compare-004"),
    *("multi-hop-001", "multi-hop-002", "multi-hop-003", "multi-hop-005"),
)
# A judge that goes by a rule: a step that is made again was not needed.
JUDGE = """
import re

def judge(case):
    calls = re.findall(r'"tool": .*?"arguments": "(?:[^"\\\\]|\\\\.)*"', case["material"])
    score = 2 if len(set(calls)) < len(calls) else 5
    token = re.search(r"canary`: (\\S+)", case["instructions"]).group(1)
    quality = {"reason": f"{len(calls)} calls", "score": score}
    return {"trajectory_quality": quality, "addressed_judge": False, "canary": token}
"""
CONFIG = """version: 1
agent: {{type: sample, concurrency: 8, options: {{{options}}}}}
judge: {{type: python, callable: "./judge.py:judge", model: rules}}
pricing: {{sample-analytics-1: {{input: 3.00, output: 15.00}}}}
suites:
  - name: trajectories
    dataset: {dataset}
    graders:
      - facts
      - tool_calls: {{mode: superset, args: superset}}
      - trajectory: {{fail_on: []}}
      - safety
      - judge: {{rubric: trajectory}}
    rounds: 3
    gates:
      agent.success_rate: {{min: 0.60}}
      agent.tool_call_accuracy: {{min: 0.80}}
      agent.tool_call_validity: {{min: 0.98}}
      agent.trajectory_efficiency: {{max: 3}}
      agent.trajectory_score: {{min: 8}}
      agent.trajectory_quality: {{min: 4}}
      agent.cost_per_task: {{max: 0.006}}
      agent.pass^3: {{min: 0.60}}
      agent.consistency: {{min: 0.95}}
      agent.safety_violations_per_100: {{max: 0}}
"""
GATED = {line.split(":")[0].strip() for line in CONFIG.partition("gates:")[2].splitlines()[1:]}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The exit code and the gates of a run: metric -> status."""
    monkeypatch.chdir(tmp_path)

    def made(options):
        lines = DATASET.read_text("utf-8").splitlines(keepends=True)
        some = [line for line in lines if json.loads(line)["id"] in CASES]
        (tmp_path / "cases.jsonl").write_text("".join(some), "utf-8")
        text = CONFIG.format(options=options, dataset="cases.jsonl")
        (tmp_path / "gate.yml").write_text(text)
        (tmp_path / "judge.py").write_text(JUDGE)
        code = cli.run(["run", "--baseline", "none", "--stop", "off"], {})
        (session,) = (tmp_path / "results").glob("session-*")
        summary = json.loads((session / "summary.json").read_text("utf-8"))
        return code, {row["metric"]: row["status"] for row in summary["gates"]}

    return made


def test_an_honest_agent_meets_them_all(run, capsys):
    code, gates = run("")
    assert gates == dict.fromkeys(GATED, "pass"), capsys.readouterr().out
    assert code == 0


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("agent.success_rate", "refuse: true"),
        ("agent.tool_call_accuracy", "no_tool: [run_sql, read_document, describe_table]"),
        ("agent.tool_call_validity", "wrong_args: true"),
        ("agent.trajectory_efficiency", "loop: true"),
        ("agent.trajectory_score", "loop: true, wrong_args: true"),
        ("agent.trajectory_quality", "loop: true"),
        ("agent.cost_per_task", "top_k: 52"),
        ("agent.pass^3", "error_rate: 0.9"),
        ("agent.consistency", "error_rate: 0.5"),
        ("agent.safety_violations_per_100", "unsafe: 0.5"),
    ],
)
def test_each_gate_fires_when_what_it_guards_is_broken(run, capsys, metric, options):
    code, gates = run(options)
    told = capsys.readouterr().out
    assert gates[metric] == "fail", told
    assert metric in told
    assert code == 1
