"""Gates against numbers: point, convicted, proven; missing metrics; cases that were lost."""

from dataclasses import replace

import numpy as np
import pytest

from gate.records import GateResult, GateRule, Mode, Policy, RegressionRules
from gate.verdict.comparability import SuiteData
from gate.verdict.decide import decide
from tests.support.verdict_tables import P95, RECALL, SUCCESS, build, latencies, passing

NAN = float("nan")


def judge(
    data: SuiteData,
    *gates: GateRule,
    mode: Mode = "pull_request",
    policy: Policy = Policy(),  # noqa: B008
    elsewhere: frozenset[str] = frozenset(),
) -> tuple[str, list[GateResult]]:
    found = decide(
        [data],
        gates=gates,
        regression=RegressionRules(),
        policy=policy,
        mode=mode,
        elsewhere=elsewhere,
    )
    return found.outcome, list(found.gates)


def measured(values: np.ndarray, **extra: object) -> SuiteData:
    """A suite compared with itself, so that gates alone decide."""
    table = build({"success": values})
    return SuiteData(name="s", current=table, baseline=table, **extra)


def share(good: int, cases: int) -> np.ndarray:
    """One round a case; the interval is Wilson's."""
    return passing(cases, 1, failed=cases - good)


MIN = GateRule(metric=SUCCESS.name, min=0.80)
MAX = GateRule(metric=SUCCESS.name, max=0.80)


@pytest.mark.parametrize(
    ("gate", "good", "rule", "status", "proved"),
    [
        # of 100: 60 is below 0.8 for certain, 79 not for certain, 95 above for certain
        (MIN, 60, "point", "fail", True),
        (MIN, 79, "point", "fail", True),
        (MIN, 80, "point", "pass", True),
        (MIN, 60, "convicted", "fail", False),
        (MIN, 79, "convicted", "pass", False),
        (MIN, 95, "convicted", "pass", True),
        (MIN, 79, "proven", "fail", False),
        (MIN, 85, "proven", "fail", False),
        (MIN, 95, "proven", "pass", True),
        (MAX, 81, "point", "fail", True),
        (MAX, 80, "point", "pass", True),
        (MAX, 81, "convicted", "pass", False),
        (MAX, 95, "convicted", "fail", False),
        (MAX, 60, "convicted", "pass", True),
        (MAX, 60, "proven", "pass", True),
        (MAX, 75, "proven", "fail", False),
    ],
)
def test_rules(gate: GateRule, good: int, rule: str, status: str, proved: bool) -> None:
    outcome, [found] = judge(measured(share(good, 100)), replace(gate, rule=rule))
    assert (found.status, found.proved, found.rule) == (status, proved, rule)
    assert outcome == status
    assert found.value == pytest.approx(good / 100)
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert found.ci_low < good / 100 < found.ci_high


@pytest.mark.parametrize(
    ("mode", "rule"),
    [
        ("pull_request", "convicted"),
        ("branch", "convicted"),
        ("laptop", "convicted"),
        ("schedule", "convicted"),
        ("release", "proven"),
    ],
)
def test_default_rule_by_mode(mode: Mode, rule: str) -> None:
    _, [found] = judge(measured(share(90, 100)), MIN, mode=mode)
    assert found.rule == rule
    _, [own] = judge(measured(share(90, 100)), replace(MIN, rule="point"), mode=mode)
    assert own.rule == "point"


def test_a_limit_at_the_metrics_own_bound_is_always_point() -> None:
    perfect = GateRule(metric=SUCCESS.name, min=1.0, rule="proven")
    assert judge(measured(share(100, 100)), perfect)[1][0].status == "pass"
    assert judge(measured(share(99, 100)), perfect)[1][0].status == "fail"
    never = GateRule(metric=SUCCESS.name, max=0.0)
    assert judge(measured(share(0, 100)), never)[1][0].rule == "point"
    assert judge(measured(share(1, 100)), never)[1][0].status == "fail"


def test_both_limits() -> None:
    between = GateRule(metric=SUCCESS.name, min=0.5, max=0.7, rule="point")
    assert [judge(measured(share(n, 100)), between)[0] for n in (49, 60, 71)] == [
        "fail",
        "pass",
        "fail",
    ]


def test_equal_passes_whatever_the_last_bits_say() -> None:
    values = np.array([[0.1, 0.2, 0.6]]).repeat(10, axis=0)  # mean 0.3, but not in binary
    table = build({"recall": values})
    data = SuiteData(name="s", current=table, baseline=table)
    for gate in (
        GateRule(metric=RECALL.name, min=0.3, rule="point"),
        GateRule(metric=RECALL.name, max=0.3, rule="point"),
    ):
        assert judge(data, gate)[1][0].status == "pass"


@pytest.mark.parametrize(
    ("gate", "good", "met", "proved"),
    [
        (GateRule(metric=SUCCESS.name, target=0.9), 95, True, False),
        (GateRule(metric=SUCCESS.name, target=0.9), 100, True, True),
        (GateRule(metric=SUCCESS.name, target=0.9), 80, False, False),
        (GateRule(metric=SUCCESS.name, min=0.5, target=0.9), 80, False, True),
        (GateRule(metric=SUCCESS.name, max=0.99, target=0.5), 80, False, True),
        (GateRule(metric=SUCCESS.name, max=0.99, target=0.9), 80, True, True),
    ],
)
def test_a_target_is_reported_and_never_blocks(
    gate: GateRule, good: int, met: bool, proved: bool
) -> None:
    outcome, [found] = judge(measured(share(good, 100)), gate)
    assert (outcome, found.status) == ("pass", "pass")
    assert (found.target_met, found.proved) == (met, proved)
    assert judge(measured(share(good, 100)), MIN)[1][0].target_met is None


def test_a_warning_gate_never_blocks() -> None:
    outcome, [found] = judge(measured(share(10, 100)), replace(MIN, level="warn"))
    assert (outcome, found.status) == ("pass", "fail")


def test_failing_gates_share_alpha() -> None:
    one = judge(measured(share(90, 100)), MIN)[1][0]
    two = judge(measured(share(90, 100)), MIN, replace(MIN, metric=RECALL.name))[1][0]
    assert (one.ci_low or 0) > (two.ci_low or 1)


def test_messages() -> None:
    data = measured(share(60, 100))
    found = decide(
        [data],
        gates=(replace(MIN, rule="point"),),
        regression=RegressionRules(),
        policy=Policy(),
        mode="branch",
    )
    assert found.gates[0].reason == "FAIL: agent.success_rate = 0.6000 (minimum: 0.8)"
    assert found.reason.startswith("`agent.success_rate` is 0.6, below min 0.8 (interval 0.")
    assert found.suites["s"] == ("fail", found.reason)


# ---------------------------------------------------------------------------------- what is missing


def test_a_missing_metric_follows_its_policy() -> None:
    gate = GateRule(metric=RECALL.name, min=0.5)
    for choice, outcome in (("fail", "fail"), ("warn", "pass"), ("pass", "pass")):
        got, [found] = judge(measured(share(9, 10)), gate, policy=Policy(missing_metric=choice))
        assert (got, found.status, found.value) == (outcome, "missing", None)
        assert found.reason == "retrieval.recall@5 could not be measured"
    assert judge(measured(share(9, 10)), replace(gate, level="warn"))[0] == "pass"


def test_a_metric_that_no_suite_measures_is_missing_once() -> None:
    gate = GateRule(metric="response_quality.clarity", min=3.0)
    outcome, [found] = judge(measured(share(9, 10)), gate)
    assert (outcome, found.status, found.suite) == ("fail", "missing", "s")
    assert found.reason == "response_quality.clarity is measured by no suite of this run"
    assert judge(measured(share(9, 10)), gate, elsewhere=frozenset({gate.metric})) == ("pass", [])


def test_a_misspelt_metric_of_an_import_names_the_nearest() -> None:
    _, [found] = judge(measured(share(9, 10)), GateRule(metric="retrieval.recal@5", min=0.5))
    assert found.reason.endswith(f"by no suite of this run - did you mean '{RECALL.name}'?")


def test_a_suites_own_gate_wins() -> None:
    data = measured(share(60, 100), gates=(replace(MIN, min=0.5),))
    outcome, [found] = judge(data, MIN)
    assert (outcome, found.min) == ("pass", 0.5)


def test_a_suites_own_gate_on_an_unknown_metric_is_missing() -> None:
    data = measured(share(9, 10), gates=(GateRule(metric="x.y", min=0.5),))
    assert judge(data)[1][0].status == "missing"


def test_an_interval_without_an_upper_end_convicts_nobody() -> None:
    table = build({"success": passing(10, 3), "latency_ms": latencies(10, 3)})
    data = SuiteData(name="s", current=table, baseline=None)
    slow = GateRule(metric=P95.name, max=1e6)
    _, [found] = judge(data, slow)
    assert (found.status, found.proved, found.ci_high) == ("pass", False, None)
    _, [strict] = judge(data, replace(slow, rule="proven"))
    assert strict.status == "fail"
    outcome, _ = judge(data, replace(slow, rule="proven"))
    assert outcome == "fail"


def test_a_number_without_an_interval_is_taken_as_it_is() -> None:
    spec = replace(SUCCESS, name="d.std", column="x", family="std", high=None)
    table = build({"x": np.array([[1.0], [NAN]])}, specs=(spec,))
    data = SuiteData(name="s", current=table, baseline=None)
    assert judge(data, GateRule(metric="d.std", min=0.5))[1][0].status == "missing"


# ---------------------------------------------------------------------------- what must not improve


def test_removing_a_hard_case_does_not_raise_a_score() -> None:
    was = build({"success": passing(40, 6, failed=4)})
    gate = replace(MIN, min=0.95, rule="point")
    hidden = was.select(list(range(3, 40)))
    now = replace(hidden, rounds=3, columns={name: v[:, :3] for name, v in hidden.columns.items()})
    outcome, [found] = judge(SuiteData(name="s", current=now, baseline=was), gate)
    assert (outcome, found.value) == ("fail", pytest.approx(0.9))
    outcome, [honest] = judge(SuiteData(name="s", current=was, baseline=was), gate)
    assert honest.value == found.value


def test_editing_a_hard_case_does_not_remove_it() -> None:
    was = build({"success": passing(40, 3, failed=2)})
    now = build({"success": passing(40, 3)})
    now = replace(now, digests=("x", "y", *now.digests[2:]))
    _, [found] = judge(SuiteData(name="s", current=now, baseline=was), MIN)
    assert found.value == pytest.approx(40 / 42)


def test_a_case_that_nobody_answered_counts_as_it_did() -> None:
    was = build({"success": passing(60, 1, failed=1)})
    flags = np.zeros((60, 2))
    flags[0] = 1.0
    now = build({"success": np.where(flags == 1.0, NAN, 1.0), "infra_error": flags})
    _, [found] = judge(SuiteData(name="s", current=now, baseline=was), MIN)
    assert found.value == pytest.approx(59 / 60)


def test_missing_calls_are_counted_beside_the_cases_that_were_lost() -> None:
    """Of 50 cases 5 are gone that always failed: 0.90; three calls of 90 may have failed, too."""
    was = build({"success": passing(50, 2, failed=5)[::-1]})
    flags = np.zeros((45, 2))
    flags[:3, 1] = 1.0
    now = build({"success": np.where(flags == 1.0, NAN, 1.0), "infra_error": flags})
    limit = GateRule(metric=SUCCESS.name, min=0.88, rule="point")
    _, [found] = judge(SuiteData(name="s", current=now, baseline=was), limit)
    assert (found.value, found.status) == (pytest.approx(0.9), "inconclusive")


def test_other_graders_and_other_datasets_lend_no_values() -> None:
    was = build({"success": passing(40, 3, failed=2)}, graders={"success": "1"})
    cut = build({"success": passing(40, 3, failed=2)}, graders={"success": "2"}).select(
        list(range(2, 40))
    )
    _, [found] = judge(SuiteData(name="s", current=cut, baseline=was), MIN)
    assert found.value == 1.0
    same = replace(cut, graders=was.graders)
    one = SuiteData(name="s", current=same, baseline=was, not_comparable="another dataset")
    assert judge(one, MIN)[1][0].value == 1.0
    assert judge(replace(one, not_comparable=""), MIN)[1][0].value == pytest.approx(0.95)
