import subprocess
import sys
from pathlib import Path

import pytest

from gate.analysis.catalogue import TRIAL_METRICS, collect_k, trial_metrics
from gate.plugins import METRICS, build
from gate.records import Config, GateRule, MetricRule, PluginSpec, RegressionRules, Suite
from gate.records.trials import TRIAL_COLUMNS

NAMES = {
    "agent.success_rate",
    "agent.first_attempt_success_rate",
    "agent.score_spread",
    "agent.avg_steps",
    "agent.cost_per_task",
    "agent.cost_per_success",
    "agent.safety_violations_per_100",
    "agent.unsafe_rate",
    *(f"operational.{which}_latency_ms" for which in ("mean", "p50", "p95", "p99", "worst", "std")),
    "operational.avg_tokens",
    *(f"operational.{kind}_tokens" for kind in ("input", "cached", "output", "reasoning")),
    "operational.std_tokens",
    "operational.estimated_cost_per_query",
    "operational.error_rate",
    "operational.retry_rate",
}
ROUNDS = {
    "agent.consistency",
    "agent.flip_rate",
    "agent.reliable_rate",
    "agent.consistently_failing_rate",
}
TEN = trial_metrics(10)


def of_k(*ks):
    return {f"agent.pass{sign}{k}" for sign in "@^" for k in ks}


def test_every_metric_without_a_grader_is_there_once():
    assert sorted(spec.name for spec in TRIAL_METRICS) == sorted(NAMES)


@pytest.mark.parametrize(
    ("rounds", "asked", "ks"),
    [
        (1, {2}, ()),
        (3, (), (2, 3)),
        (4, {4, 7}, (2, 3, 4)),
        (10, (), (2, 3, 5, 10)),
        (40, {1, 20}, (1, 2, 3, 5, 10, 20)),
    ],
)
def test_k_goes_as_far_as_the_rounds_reach(rounds, asked, ks):
    found = [spec.name for spec in trial_metrics(rounds, frozenset(asked))]
    assert sorted(found) == sorted({*NAMES, *ROUNDS, *of_k(*ks)})


def test_reliable_is_who_passes_in_every_round_of_the_suite():
    found = {spec.name: dict(spec.options) for spec in TEN}
    assert found["agent.reliable_rate"] == {"k": 10, "wanted": "all"}
    assert found["agent.consistently_failing_rate"] == {"k": 10, "wanted": "none"}


def test_k_is_asked_for_by_gates_and_rules():
    suite = Suite(name="s", dataset="d", graders=(), gates=(GateRule(metric="agent.pass^4"),))
    config = Config(
        agent=PluginSpec(name="sample"),
        suites=(suite,),
        gates=(GateRule(metric="agent.pass@7"), GateRule(metric="agent.pass^k")),
        regression=RegressionRules(metrics={"agent.pass@20": MetricRule(metric="agent.pass@20")}),
    )
    assert collect_k(config) == {4, 7, 20}


@pytest.mark.parametrize("spec", TEN, ids=lambda spec: spec.name)
def test_it_can_be_computed_from_what_a_trial_has(spec):
    assert set(spec.columns) <= set(TRIAL_COLUMNS)
    assert build(METRICS, PluginSpec(name=spec.family, options=spec.options), Path())
    assert spec.description
    assert spec.unit in ("share", "ms", "USD", "tokens", "steps", "per 100")
    assert spec.low == 0.0
    assert spec.high == (1.0 if spec.unit == "share" else None)


def test_more_is_better_of_success_and_its_reliability_only():
    higher = [spec for spec in TEN if spec.direction == "higher"]
    assert {spec.column for spec in higher} == {"success", "first_success"}
    lower = {s.name for s in TEN if s.column == "success" and s not in higher}
    assert lower == {"agent.flip_rate", "agent.consistently_failing_rate"}


def test_quantiles():
    found = {spec.name: dict(spec.options) for spec in TRIAL_METRICS if spec.family == "quantile"}
    assert found == {
        "operational.p50_latency_ms": {"q": 0.5},
        "operational.p95_latency_ms": {"q": 0.95},
        "operational.p99_latency_ms": {"q": 0.99},
    }


def test_naming_the_metrics_needs_no_numpy():
    code = "import sys, gate.analysis.catalogue; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
