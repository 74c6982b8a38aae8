"""A gates block as it stands in many projects, verbatim, on the bundled suite: an honest agent
meets all six, and each of them fires when what it guards is broken.
"""

import json

import pytest

from tests.support.in_process import gate
from tests.support.paths import ANALYTICS
from tests.support.rule_judge import rule_judge
from tests.support.session_files import sessions_in

GATES = """\
QUALITY_GATES:
  retrieval.recall@5: {min: 0.82, target: 0.90}
  retrieval.mrr: {min: 0.75, target: 0.85}
  correctness.fact_accuracy: {min: 0.80, target: 0.95}
  correctness.faithfulness: {min: 3.5, target: 4.5}
  operational.p95_latency_ms: {max: 5000, target: 3000}
  operational.hallucination_rate: {max: 0.05, target: 0.02}
"""
SIX = {line.split(":")[0].strip() for line in GATES.splitlines()[1:]}


@pytest.fixture(scope="module")
def judge():
    with rule_judge() as server:
        yield server


def run(folder, judge, options="", sample=""):
    (folder / "gate.yml").write_text(
        f"""version: 1
agent: {{type: sample, concurrency: 128, options: {{{options}}}}}
judge: {{type: openai, base_url: "{judge.url}", model: rules, concurrency: 16}}
pricing: {{rules: {{input: 1, output: 2}}, stub-model: {{input: 1, output: 2}}}}
suites:
  - name: analytics
    dataset: {ANALYTICS}
    graders: [retrieval, facts, hallucination, {{judge: {{rubric: answer}}}}]
    rounds: 1
{GATES}"""
    )
    done = gate(folder, "run", "--baseline", "none", *sample.split())
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done, json.loads((sessions_in(folder)[-1] / "summary.json").read_text("utf-8"))


def broken(summary):
    return {row["metric"] for row in summary["gates"] if row["status"] == "fail"}


def test_an_honest_agent_meets_all_six(tmp_path, judge):
    done, summary = run(tmp_path, judge)
    assert {row["metric"] for row in summary["gates"]} == SIX
    assert {row["status"] for row in summary["gates"]} == {"pass"}, done.stdout
    assert done.returncode == 0
    metrics = summary["suites"]["analytics"]["metrics"]
    assert metrics["operational.judge_coverage"]["value"] == 1.0
    assert summary["cost"]["judge_calls"] > 0
    assert summary["cost"]["judge_usd"] > 0


@pytest.mark.parametrize(
    ("metric", "options", "sample"),
    [
        ("retrieval.recall@5", "top_k: 1", "--sample 90"),
        ("retrieval.mrr", "flaky: true", "--sample 90"),
        ("correctness.fact_accuracy", "refuse: 0.5", "--sample 90"),
        ("correctness.faithfulness", "hallucinate: 0.6", "--sample 90"),
        ("operational.hallucination_rate", "hallucinate: true", "--sample 90"),
        ("operational.p95_latency_ms", "latency_ms: 5100", "--sample 128"),
    ],
)
def test_each_gate_fires_when_what_it_guards_is_broken(tmp_path, judge, metric, options, sample):
    done, summary = run(tmp_path, judge, options, sample)
    assert metric in broken(summary), done.stdout
    assert (done.returncode, summary["outcome"]) == (1, "fail")
    assert metric in summary["reason"] or metric in done.stdout
