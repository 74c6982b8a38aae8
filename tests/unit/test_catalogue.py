import subprocess
import sys
from pathlib import Path

import pytest

from gate.columns import TRIAL_COLUMNS
from gate.metrics.catalogue import TRIAL_METRICS
from gate.plugins import METRICS, build
from gate.records import PluginSpec

NAMES = {
    "agent.success_rate",
    "agent.first_attempt_success_rate",
    *(f"agent.pass{sign}{k}" for sign in "@^" for k in (2, 3)),
    "agent.consistency",
    "agent.avg_steps",
    "agent.cost_per_task",
    "agent.safety_violations_per_100",
    *(f"operational.{which}_latency_ms" for which in ("mean", "p50", "p95", "p99", "worst", "std")),
    "operational.avg_tokens",
    "operational.std_tokens",
    "operational.estimated_cost_per_query",
    "operational.error_rate",
    "operational.retry_rate",
}


def test_every_metric_without_a_grader_is_there_once():
    assert sorted(spec.name for spec in TRIAL_METRICS) == sorted(NAMES)


@pytest.mark.parametrize("spec", TRIAL_METRICS, ids=lambda spec: spec.name)
def test_it_can_be_computed_from_what_a_trial_has(spec):
    assert spec.column in TRIAL_COLUMNS
    assert build(METRICS, PluginSpec(name=spec.family, options=spec.options), Path())
    assert spec.description
    assert spec.unit in ("share", "ms", "USD", "tokens", "steps", "per 100")
    assert spec.low == 0.0
    assert spec.high == (1.0 if spec.unit == "share" else None)


def test_more_is_better_of_success_and_its_reliability_only():
    higher = [spec for spec in TRIAL_METRICS if spec.direction == "higher"]
    assert {spec.column for spec in higher} == {"success", "first_success"}
    assert not [s for s in TRIAL_METRICS if s.column == "success" and s not in higher]


def test_quantiles():
    found = {spec.name: dict(spec.options) for spec in TRIAL_METRICS if spec.family == "quantile"}
    assert found == {
        "operational.p50_latency_ms": {"q": 0.5},
        "operational.p95_latency_ms": {"q": 0.95},
        "operational.p99_latency_ms": {"q": 0.99},
    }


def test_naming_the_metrics_needs_no_numpy():
    code = "import sys, gate.metrics.catalogue; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
