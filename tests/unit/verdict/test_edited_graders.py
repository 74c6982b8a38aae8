"""What a pull request's own grader file says is compared with nothing (docs/semantics.md 6)."""

import pytest

from gate.records import GateRule, Policy, RegressionRules
from gate.verdict.decide import decide
from tests.support.verdict_tables import RECALL, SUCCESS, build, passing, suite_data

WHY = "this change edits its grader file `mine.py`"
EDITED = dict.fromkeys(("recall", "success"), WHY)


def table():
    return build({"success": passing(40, 3), "recall": passing(40, 3)}, specs=(SUCCESS, RECALL))


def decided(*, baseline=None, **changes):
    suite = suite_data(name="s", current=table(), baseline=baseline, **changes)
    return decide(
        [suite],
        gates=(GateRule(metric=RECALL.name, min=0.5),),
        regression=RegressionRules(),
        policy=Policy(),
    )


def test_its_metrics_and_success_are_not_comparable_though_nothing_got_worse():
    verdict = decided(baseline=table(), edited=EDITED)
    assert (verdict.outcome, verdict.exit_code) == ("not_comparable", 5)
    assert {(row.status, row.reason) for row in verdict.comparisons} == {("not_comparable", WHY)}
    assert decided(baseline=table()).outcome == "pass"


def test_a_metric_of_another_grader_is_compared_all_the_same():
    verdict = decided(baseline=table(), edited={"success": WHY})
    statuses = {row.metric: row.status for row in verdict.comparisons}
    assert statuses[RECALL.name] == "no_regression"


def test_without_a_baseline_it_is_no_pass_either():
    verdict = decided(edited=EDITED)
    assert (verdict.outcome, verdict.exit_code) == ("not_comparable", 5)
    assert WHY in verdict.reason
    assert decided().outcome == "no_baseline"


@pytest.mark.parametrize(
    "said", [{"accepts_all": True}, {"accepted": frozenset({SUCCESS.name, RECALL.name})}]
)
def test_somebody_may_accept_it_where_there_is_no_baseline(said):
    assert decided(edited=EDITED, **said).outcome == "no_baseline"
