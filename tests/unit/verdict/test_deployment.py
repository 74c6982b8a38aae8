"""Improved: deploy; otherwise not. On the main branch and at releases alone."""

from dataclasses import replace

import numpy as np
import pytest

from gate.records import GateRule, MetricRule, Policy
from gate.verdict.conclude import conclude
from gate.verdict.suite_data import Setting
from tests.support.measured_suites import (
    CONFIG,
    SETTING,
    failed_trials,
    measured_suite,
    success_table,
)
from tests.support.verdict_tables import SUCCESS

FALLING = np.full((20, 3), 0.2)
MAIN = replace(SETTING, mode="branch", measures_main=True)


def decided(now: int, before: int | None, *, setting: Setting = MAIN, config=CONFIG, **gates):
    """`now`, `before`: failed cases of 20; None: no baseline."""
    baseline = None if before is None else success_table(before)
    one = replace(measured_suite(current=success_table(now), baseline=baseline), **gates)
    return conclude([one], config, setting, failed_trials).decision


def with_policy(**changes: str):
    return replace(CONFIG, policy=Policy(**changes))


def test_what_passes_and_is_proved_better_is_deployed():
    found = decided(0, 10)
    assert found.deploy
    assert found.improved == (f"s/{SUCCESS.name}",)
    assert found.reason.startswith("`agent.success_rate` rose by 50.0 points (0.50 -> 1.00, ")
    assert found.reason.endswith("), and no blocking metric got worse")


def test_what_only_got_no_worse_is_not_unless_the_policy_says_so():
    found = decided(2, 2)
    assert not found.deploy
    assert "no blocking metric is proven better" in found.reason
    lenient = decided(2, 2, config=with_policy(deploy="not_worse"))
    assert lenient.deploy
    assert lenient.improved == ()


@pytest.mark.parametrize("deploy", ["improved", "not_worse"])
@pytest.mark.parametrize(("now", "before", "why"), [(10, 0, "fail"), (0, None, "no baseline")])
def test_only_a_pass_is_deployed(deploy, now, before, why):
    found = decided(now, before, config=with_policy(deploy=deploy))
    assert not found.deploy
    assert found.reason == f"the outcome is {why}, and only a pass may be deployed"


def test_an_improvement_with_a_broken_limit_is_not_deployed():
    limit = GateRule(metric=SUCCESS.name, min=0.99, rule="point")
    found = decided(1, 15, gates=(limit,))
    assert not found.deploy
    assert found.improved == (f"s/{SUCCESS.name}",)


def test_what_only_warns_is_no_reason_to_deploy():
    rising = {
        "current": success_table(5, recall=np.ones((20, 3))),
        "baseline": success_table(5, recall=FALLING),
    }
    rule = MetricRule(metric="retrieval.recall@5", level="warn")
    config = replace(CONFIG, regression=replace(CONFIG.regression, metrics={rule.metric: rule}))
    report = conclude([measured_suite(**rising)], config, MAIN, failed_trials)
    (better,) = [row for row in report.comparisons if row.status == "improvement"]
    assert (better.metric, better.level) == (rule.metric, "warn")
    assert (report.decision.deploy, report.decision.improved) == (False, ())
    assert "no blocking metric is proven better" in report.decision.reason


def test_a_regression_beside_an_improvement_is_not_deployed():
    now = success_table(0, recall=FALLING)
    before = success_table(10, recall=np.ones((20, 3)))
    config = replace(CONFIG, gates=(GateRule(metric="retrieval.recall@5", min=0.1),))
    found = conclude(
        [measured_suite(current=now, baseline=before)], config, MAIN, failed_trials
    ).decision
    assert not found.deploy
    assert found.reason.startswith("the outcome is fail")


@pytest.mark.parametrize(
    ("mode", "measures_main", "decides"),
    [
        ("branch", True, True),
        ("branch", False, False),  # a push to a topic branch
        ("schedule", False, True),
        ("release", False, True),
        ("pull_request", False, False),
        ("laptop", False, False),
    ],
)
def test_who_decides(mode, measures_main, decides):
    setting = replace(SETTING, mode=mode, measures_main=measures_main)
    assert (decided(0, 10, setting=setting) is not None) is decides
