"""Answers that a grader could not score: an agent that makes its grader fail wins nothing by it."""

from collections.abc import Mapping

import numpy as np
import pytest

from gate.analysis.columns import TrialColumns
from gate.analysis.missing_answers import share_unscored
from gate.analysis.table import UNSCORED, table_of
from gate.records import GateRule, MetricRule, MetricSpec, Policy, RegressionRules, Verdict
from gate.verdict.decide import decide
from tests.support.verdict_tables import SUCCESS, build, passing, suite_data

OWN = MetricSpec(name="correctness.own", column="own", unit="share")
OTHER = MetricSpec(name="correctness.other", column="other", unit="share")
SPECS = (SUCCESS, OWN, OTHER)
NAN = float("nan")


def row(number: int, *, scores: Mapping[str, float | None], unscored: bool = False, **more):
    passed = None if unscored else True
    return {
        "case_id": f"c{number:03d}",
        "case_digest": "d",
        "category": None,
        "round": 1,
        "status": "completed",
        "passed": passed,
        "attempts": [{"n": 1, "status": "completed", "passed": passed}],
        "scores": scores,
        "unscored": {"Own": "it crashed"} if unscored else {},
        "latency_ms": 1.0,
        **more,
    }


def table(*rows):
    columns = TrialColumns("s")
    for one in rows:
        columns.add(one)
    return table_of(columns, {spec.name: spec for spec in SPECS}, {})


def test_what_a_grader_left_out_is_told_from_what_does_not_apply():
    found = table(
        row(0, scores={"other": None}, unscored=True),
        row(1, scores={"own": 1.0, "other": 1.0}),
        row(2, scores={"own": None, "other": 0.0}),
        row(3, scores={"other": 1.0}, unscored=True),
    )
    assert found.column(UNSCORED + "own").ravel().tolist() == [1, 0, 0, 1]
    assert found.column(UNSCORED + "success").ravel().tolist() == [1, 0, 0, 1]
    assert UNSCORED + "other" not in found.columns
    assert UNSCORED + "latency_ms" not in found.columns
    assert [share_unscored(found, spec) for spec in SPECS] == [0.5, pytest.approx(2 / 3), 0.0]


def test_a_trial_that_was_made_again_counts_as_it_came_out():
    again = row(0, scores={"own": 1.0})
    lost = row(0, scores={}, unscored=True)
    assert share_unscored(table(lost, again), OWN) == 0.0
    assert share_unscored(table(again, lost), OWN) == 1.0


def test_a_trial_that_nobody_answered_is_no_matter_of_its_graders():
    silent = row(1, scores={}, status="infra_error", unscored=True)
    assert share_unscored(table(row(0, scores={"own": 1.0}), silent), OWN) == 0.0


def judged(share: float, *, policy: Policy | None = None) -> Verdict:
    """All answers that have a score are right; a `share` of them has none."""
    lost = np.zeros((60, 3))
    lost[: round(60 * share)] = 1.0
    right = np.where(lost == 1.0, NAN, 1.0)
    marks = {UNSCORED + "success": lost, UNSCORED + "own": lost}
    now = build({"success": right, "own": right, "other": passing(60, 3), **marks}, specs=SPECS)
    past = {name: passing(60, 12) for name in ("success", "own", "other")}
    rules = RegressionRules(metrics={OWN.name: MetricRule(metric=OWN.name, level="block")})
    return decide(
        [suite_data(name="s", current=now, baseline=build(past, specs=SPECS))],
        gates=(GateRule(metric=OWN.name, min=0.9), GateRule(metric=OTHER.name, min=0.9)),
        regression=rules,
        policy=policy or Policy(),
    )


def statuses(found: Verdict) -> dict[str, str]:
    return {row.metric: row.status for row in found.comparisons}


def test_a_few_are_a_doubt():
    found = judged(0.15)
    assert found.outcome == "inconclusive"
    assert statuses(found)[OWN.name] == statuses(found)[SUCCESS.name] == "inconclusive"
    assert "graders gave 15 % of the answers no score" in found.reason


def test_many_are_no_measurement():
    found = judged(0.3)
    assert (found.outcome, found.exit_code) == ("fail", 1)
    assert statuses(found)[OWN.name] == statuses(found)[SUCCESS.name] == "missing"
    assert statuses(found)[OTHER.name] == "no_regression"
    assert [gate.status for gate in found.gates] == ["missing", "pass"]
    assert "graders gave 30 % of the answers no score" in found.reason
    assert judged(0.3, policy=Policy(missing_metric="warn")).exit_code == 0


def test_hardly_any_are_left_out():
    assert judged(0.017).outcome == "pass"
