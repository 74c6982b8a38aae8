"""Answers whose cost nobody knows: they are counted, and a limit on money does not pass by them."""

from dataclasses import replace

import numpy as np
import pytest

from gate.agents.wire import answer
from gate.analysis.catalogue import trial_metrics
from gate.analysis.metrics.ratio import Ratio
from gate.analysis.missing_answers import (
    Missing,
    could_be_anything,
    pessimistic,
    pessimistic_values,
    share_unscored,
)
from gate.analysis.table import UNSCORED, Table
from gate.records import (
    Attempt,
    Case,
    GateRule,
    MetricRule,
    Policy,
    RegressionRules,
    Response,
    Trial,
    Usage,
    Verdict,
)
from gate.store.trial_rows import row_of
from gate.verdict.decide import decide
from tests.support.verdict_tables import build, suite_data

BY_NAME = {spec.name: spec for spec in trial_metrics(3)}
SUCCESS, PER_TASK, PER_SUCCESS = (
    BY_NAME[f"agent.{name}"] for name in ("success_rate", "cost_per_task", "cost_per_success")
)
NAN = float("nan")


def table(unknown: int, *, cost: float = 0.01, failed: int = 0) -> Table:
    """60 cases x 3 rounds; of the first `unknown` cases nobody knows the cost."""
    costs, success = np.full((60, 3), cost), np.ones((60, 3))
    costs[:unknown] = NAN
    success[60 - failed :] = 0.0
    columns = {"success": success, "cost_usd": costs, "agent_error": np.zeros((60, 3))}
    if 0 < unknown < 60:
        columns[UNSCORED + "cost_usd"] = np.isnan(costs).astype(float)
    return build(columns, specs=(SUCCESS, PER_TASK, PER_SUCCESS))


def judged(current: Table, baseline: Table | None = None, policy: Policy | None = None) -> Verdict:
    gates = tuple(
        GateRule(metric=name, max=0.5) for name in ("agent.cost_per_task", "agent.cost_per_success")
    )
    rules = RegressionRules(metrics={g.metric: MetricRule(metric=g.metric) for g in gates})
    data = suite_data(name="s", current=current, baseline=baseline, gates=gates)
    return decide([data], gates=(), regression=rules, policy=policy or Policy())


@pytest.mark.parametrize(
    ("unknown", "status"), [(0, "pass"), (1, "pass"), (6, "inconclusive"), (18, "missing")]
)
def test_a_limit_on_money_does_not_pass_by_what_nobody_knows(unknown, status):
    found = judged(table(unknown)).gates
    assert [gate.status for gate in found] == [status, status]
    if status not in ("pass",):
        share = f"{100 * unknown / 60:.0f} %"
        for gate in found:
            assert (
                gate.reason
                == f"the cost of {share} of the answers is not known, and their scores are unknown"
            )


@pytest.mark.parametrize(("missing_metric", "code"), [("fail", 1), ("warn", 0)])
def test_beyond_a_fifth_the_policy_for_missing_metrics_decides(missing_metric, code):
    policy = Policy(missing_metric=missing_metric, no_baseline="pass")
    assert (judged(table(18), policy=policy).exit_code != 0) == bool(code)


def test_where_no_cost_is_known_the_metric_is_missing():
    found = judged(table(60), policy=Policy(no_baseline="pass"))
    assert [gate.status for gate in found.gates] == ["missing", "missing"]
    assert found.exit_code != 0
    assert all(gate.value is None for gate in found.gates)


def test_a_limit_that_what_is_known_breaks_is_broken():
    found = judged(table(18, cost=0.9)).gates
    assert [gate.status for gate in found] == ["fail", "fail"]


def test_without_a_success_a_limit_on_what_one_costs_is_missing():
    found = {gate.metric: gate for gate in judged(table(0, failed=60)).gates}
    assert found["agent.cost_per_task"].status == "pass"
    assert found["agent.cost_per_success"].status == "missing"


def test_a_comparison_does_not_call_it_unchanged_either():
    rng = np.random.default_rng(1)
    was, now = table(0), table(18)
    noisy = {"cost_usd": was.column("cost_usd") * np.exp(0.1 * rng.standard_normal((60, 3)))}
    was = replace(was, columns={**was.columns, **noisy})
    found = {row.metric: row for row in judged(now, was).comparisons}
    for name in ("agent.cost_per_task", "agent.cost_per_success"):
        assert found[name].status == "missing"
        assert "the cost of 30 % of the answers is not known" in found[name].reason
    assert found["agent.success_rate"].status == "no_regression"


def test_the_share_counts_answers_and_not_what_failed_without_one():
    now = table(18)
    for spec in (PER_TASK, PER_SUCCESS):
        assert share_unscored(now, spec) == pytest.approx(0.3)
        assert could_be_anything(now, spec)
    assert not could_be_anything(now, SUCCESS)
    crashed = table(0)
    crashed.columns["cost_usd"][:18] = NAN
    assert share_unscored(crashed, PER_TASK) == 0.0


def test_a_lost_call_counts_as_a_dear_failure_now_and_a_cheap_success_before():
    now, was = table(0), table(0, failed=3)
    for arm in (now, was):
        arm.columns["infra_error"][0] = 1.0
        for column in ("success", "cost_usd"):
            arm.columns[column][0, 1:] = NAN
    now.columns["cost_usd"][5] = 0.08
    was.columns["cost_usd"][5] = 0.002
    family, values = Ratio(), pessimistic_values(now, PER_SUCCESS, Missing())
    assert values[0, 1] == 0.08
    assert family.reduce(values) > family.reduce(now.values(PER_SUCCESS))
    arms = pessimistic(was, now, PER_SUCCESS, Missing())
    assert arms.current[0, 1] == 0.08
    assert arms.baseline[0, 1] == 0.002 + 1j


@pytest.mark.parametrize("cost", [NAN, float("inf"), -0.5, 1e300])
@pytest.mark.parametrize("place", ["cost_usd", "usage"])
def test_a_cost_that_can_be_none_is_unknown_and_told(cost, place):
    data = {"answer": "so", place: {"cost_usd": cost} if place == "usage" else cost}
    response = answer.response(data)
    case = Case(id="a", input="?", keys={})
    attempt = Attempt(n=1, status="completed", latency_ms=1.0, response=response, passed=True)
    trial = Trial(suite="s", case=case, round=1, attempts=(attempt,), started_at="t", judged=0)
    row = row_of(trial, cost_usd=None, on_agent_error={}, specs={})
    assert row["usage"]["cost_usd"] is None
    assert row["trace_faults"] == [
        "the cost that the agent reports is not an amount of money, so the cost is unknown"
    ]


def test_an_ordinary_cost_is_no_fault():
    response = Response(answer="so", usage=Usage(cost_usd=0.0))
    case = Case(id="a", input="?", keys={})
    attempt = Attempt(n=1, status="completed", latency_ms=1.0, response=response, passed=True)
    trial = Trial(suite="s", case=case, round=1, attempts=(attempt,), started_at="t", judged=0)
    assert row_of(trial, cost_usd=0.0, on_agent_error={}, specs={})["trace_faults"] == []
