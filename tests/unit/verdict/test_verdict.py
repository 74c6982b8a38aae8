"""Comparison statuses, outcomes and exit codes, as docs/semantics.md 1, 2 and 5 define them."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest

from gate.analysis.table import UNSCORED, Table
from gate.records import (
    Comparison,
    GateRule,
    MetricRule,
    Policy,
    RegressionRules,
    Tolerance,
    Verdict,
)
from gate.store.baseline.find import Compared
from gate.verdict.decide import decide
from gate.verdict.suite_data import SuiteData
from tests.support.verdict_tables import (
    COST,
    JUDGE,
    P95,
    RECALL,
    SUCCESS,
    build,
    latencies,
    noisy,
    passing,
    suite_data,
)

NAN = float("nan")


def verdict(
    *suites: SuiteData,
    gates: tuple[GateRule, ...] = (),
    regression: RegressionRules = RegressionRules(),  # noqa: B008
    policy: Policy = Policy(),  # noqa: B008
    elsewhere: frozenset[str] = frozenset(),
) -> Verdict:
    return decide(
        suites,
        gates=gates,
        regression=regression,
        policy=policy,
        elsewhere=elsewhere,
    )


def suite(current: Table, baseline: Table | None, **extra: object) -> SuiteData:
    return suite_data(name=current.suite, current=current, baseline=baseline, **extra)


def success(values: np.ndarray, **extra: object) -> Table:
    return build({"success": values}, **extra)


def only(found: Verdict, metric: str = "agent.success_rate") -> Comparison:
    return next(row for row in found.comparisons if row.metric == metric)


# ---------------------------------------------------------------------------------------- statuses


@pytest.mark.parametrize(
    ("was", "now", "tolerance", "status", "outcome", "code"),
    [
        (passing(60, 6), passing(60, 3, failed=12), 0.02, "regression", "fail", 1),
        (passing(60, 6, failed=12), passing(60, 3), 0.02, "improvement", "pass", 0),
        (passing(60, 6), passing(60, 3), 0.02, "no_regression", "pass", 0),
        (passing(60, 6), passing(60, 3, failed=12), 0.40, "within_tolerance", "pass", 0),
        (passing(60, 6), passing(60, 3, failed=12), 0.21, "no_regression", "pass", 0),
        (
            passing(20, 3),
            passing(20, 3) - np.eye(20, 3) * [1, 1, 0],
            0.02,
            "no_regression",
            "pass",
            0,
        ),
        (
            passing(20, 12),
            passing(20, 3) - np.eye(20, 3) * [1, 1, 1],
            0.02,
            "suspected",
            "inconclusive",
            0,
        ),
    ],
)
def test_statuses(
    was: np.ndarray, now: np.ndarray, tolerance: float, status: str, outcome: str, code: int
) -> None:
    rules = RegressionRules(tolerance=Tolerance(value=tolerance))
    found = verdict(suite(success(now), success(was)), regression=rules)
    row = only(found)
    assert (row.status, found.outcome, found.exit_code) == (status, outcome, code)
    assert found.suites["s"][0] == outcome
    assert row.p_value is not None
    assert row.confidence == pytest.approx(0.98)
    assert row.level == "block"


def test_a_drop_of_exactly_the_tolerance_counts_whatever_its_last_bits() -> None:
    was, now = np.full((50, 8), 0.82), np.full((50, 4), 0.80)
    was[::2] += 1e-4
    now[::2] += 1e-4
    found = verdict(suite(success(now), success(was)))
    assert only(found).delta == pytest.approx(-0.02)
    assert only(found).status == "regression"


def test_a_tolerated_drop_is_no_regression() -> None:
    was, now = np.full((50, 8), 0.82), np.full((50, 4), 0.805)
    found = verdict(suite(success(now), success(was)))
    assert only(found).status in ("within_tolerance", "no_regression")
    assert found.outcome == "pass"


def test_zero_tolerance_does_not_turn_no_change_into_a_regression() -> None:
    rules = RegressionRules(tolerance=Tolerance(value=0.0))
    values = noisy(60, 3, 0.8, 1)
    found = verdict(suite(success(values), success(values)), regression=rules)
    assert only(found).status == "no_regression"


def test_a_metric_measured_in_too_few_trials_is_inconclusive() -> None:
    values = np.full((20, 3), NAN)
    values[:2, :2] = 1.0
    table = build({"success": passing(20, 3), "recall": values})
    rules = RegressionRules(metrics={RECALL.name: MetricRule(metric=RECALL.name)})
    found = verdict(suite(table, table), regression=rules)
    row = only(found, RECALL.name)
    assert row.status == "inconclusive"
    why = "no result of 2 cases with 2 rounds each could be distinguished from chance"
    assert row.reason == f"{why}; 3 rounds, or 3 cases could"  # alpha is shared by two metrics
    assert (found.outcome, found.exit_code) == ("inconclusive", 0)
    assert found.reason == f"`retrieval.recall@5`: {row.reason}"


def test_a_p95_of_few_calls_is_inconclusive_and_only_warns() -> None:
    table = build({"success": passing(20, 3), "latency_ms": latencies(20, 3)})
    found = verdict(suite(table, table), gates=(GateRule(metric=P95.name, max=9000.0),))
    row = only(found, P95.name)
    assert (row.status, row.level) == ("inconclusive", "warn")
    assert row.reason == "60 of the 100 calls that a p95 needs"
    assert found.outcome == "pass"


def test_new_and_missing_metrics() -> None:
    both = build({"success": passing(20, 3), "recall": passing(20, 3)})
    one = build({"success": passing(20, 3)})
    rules = RegressionRules(metrics={RECALL.name: MetricRule(metric=RECALL.name)})
    found = verdict(suite(both, one), regression=rules)
    assert only(found, RECALL.name).status == "new"
    assert (only(found, RECALL.name).baseline, only(found, RECALL.name).current) == (None, 1.0)
    assert found.outcome == "pass"
    found = verdict(suite(one, both), regression=rules)
    assert only(found, RECALL.name).status == "missing"
    assert (found.outcome, found.exit_code) == ("fail", 1)
    mild = verdict(suite(one, both), regression=rules, policy=Policy(missing_metric="warn"))
    assert mild.outcome == "pass"
    assert {row.metric for row in found.comparisons} == {SUCCESS.name, RECALL.name}


def test_a_metric_that_the_run_cannot_measure_any_more_is_seen() -> None:
    was = build({"success": passing(20, 3), "recall": passing(20, 3)})
    now = build({"success": passing(20, 3)}, specs=(SUCCESS,))
    found = verdict(suite(now, was))
    assert only(found, RECALL.name).status == "missing"
    assert only(found, RECALL.name).level == "warn"


def test_a_metric_of_another_grader_alone_is_not_comparable() -> None:
    columns = {"success": passing(20, 3), "recall": passing(20, 3)}
    was = build(columns, graders={"recall": "1", "success": "s"})
    now = build(columns, graders={"recall": "2", "success": "s"})
    found = verdict(suite(now, was))
    assert only(found, RECALL.name).status == "not_comparable"
    assert only(found).status == "no_regression"
    assert found.outcome == "pass"  # recall does not block here
    rules = RegressionRules(metrics={RECALL.name: MetricRule(metric=RECALL.name)})
    blocked = verdict(suite(now, was), regression=rules)
    assert (blocked.outcome, blocked.exit_code) == ("not_comparable", 5)
    assert blocked.reason == "`retrieval.recall@5`: its grader differs from the baseline's"


def test_an_accepted_change_shows_and_does_not_block() -> None:
    was, now = success(passing(60, 6)), success(passing(60, 3, failed=12))
    gates = (GateRule(metric=SUCCESS.name, min=0.95),)
    one = suite(now, was, accepted=frozenset({SUCCESS.name}))
    found = verdict(one, gates=gates)
    assert only(found).status == "accepted"
    assert only(found).delta == pytest.approx(-0.2)
    assert [gate.status for gate in found.gates] == ["accepted"]
    assert (found.outcome, found.exit_code) == ("pass", 0)
    assert verdict(replace(one, accepted=frozenset()), gates=gates).outcome == "fail"


def test_accepting_covers_a_metric_that_cannot_be_compared() -> None:
    was = success(passing(20, 3), graders={"success": "1"})
    now = success(passing(20, 3), graders={"success": "2"})
    found = verdict(suite(now, was, accepted=frozenset({SUCCESS.name})))
    assert (only(found).status, only(found).delta) == ("accepted", None)
    assert found.outcome == "pass"


def test_accepting_without_a_name_covers_what_got_worse_and_nothing_else() -> None:
    was = build({"success": passing(60, 6), "recall": passing(60, 6)})
    now = build({"success": passing(60, 3, failed=12), "recall": passing(60, 3)})
    gates = (
        GateRule(metric=SUCCESS.name, min=0.95),
        GateRule(metric=RECALL.name, min=0.5),
        GateRule(metric="correctness.fact_accuracy", min=0.5),
    )
    one = suite(now, was, accepts_all=True)
    found = verdict(one, gates=gates)
    statuses = {row.metric: row.status for row in found.comparisons}
    assert statuses == {SUCCESS.name: "accepted", RECALL.name: "no_regression"}
    assert [gate.status for gate in found.gates] == ["accepted", "pass", "missing"]
    assert found.outcome == "fail"
    assert verdict(one, gates=gates[:2]).outcome == "pass"


@pytest.mark.parametrize("missing", [6, 45])
def test_an_accepted_metric_is_accepted_though_some_answers_have_no_value(missing: int) -> None:
    """Cost has no worst value, so what is missing cannot be counted as the worst."""
    was = np.tile(np.linspace(1.0, 2.0, 40)[:, None], 3)
    cost, lost = was * 2.0, np.zeros((40, 3))
    cost.flat[:missing], lost.flat[:missing] = NAN, 1.0
    columns = {"success": passing(40, 3), "cost_usd": cost, UNSCORED + "cost_usd": lost}
    now = build(columns, specs=(SUCCESS, COST))
    base = build({"success": passing(40, 3), "cost_usd": was}, specs=(SUCCESS, COST))
    rules = RegressionRules(metrics={COST.name: MetricRule(metric=COST.name)})
    named = verdict(suite(now, base, accepted=frozenset({COST.name})), regression=rules)
    assert (only(named, COST.name).status, named.outcome) == ("accepted", "pass")
    unnamed = verdict(suite(now, base), regression=rules)
    assert only(unnamed, COST.name).status in ("inconclusive", "missing")


def test_a_gate_that_nobody_measured_takes_no_share_of_alpha() -> None:
    """So the last verdict has the level that each look had."""
    both = (GateRule(metric=SUCCESS.name, min=0.5), GateRule(metric="correctness.none", min=0.5))
    one = suite(success(passing(60, 3)), success(passing(60, 6)))
    bounds = [
        (found.gates[0].ci_low, found.gates[0].ci_high)
        for found in (verdict(one, gates=both), verdict(one, gates=both[:1]))
    ]
    assert bounds[0] == bounds[1]


# ------------------------------------------------------------------------------------- what blocks


def _two_metrics(recall_now: np.ndarray) -> SuiteData:
    was = build({"success": passing(60, 6), "recall": passing(60, 6)})
    now = build({"success": passing(60, 3), "recall": recall_now})
    return suite(now, was)


def test_only_success_and_named_metrics_block() -> None:
    one = _two_metrics(passing(60, 3, failed=12))
    shown = verdict(one)
    assert (only(shown, RECALL.name).status, only(shown, RECALL.name).level) == (
        "regression",
        "warn",
    )
    assert shown.outcome == "pass"
    named = RegressionRules(metrics={RECALL.name: MetricRule(metric=RECALL.name)})
    assert verdict(one, regression=named).outcome == "fail"
    gated = (GateRule(metric=RECALL.name, target=0.9),)
    assert verdict(one, gates=gated).outcome == "fail"
    own = replace(one, gates=gated)
    assert verdict(own).outcome == "fail"
    warn = RegressionRules(metrics={RECALL.name: MetricRule(metric=RECALL.name, level="warn")})
    assert verdict(one, regression=warn, gates=gated).outcome == "pass"
    soft = (GateRule(metric=RECALL.name, target=0.9, level="warn"),)
    assert verdict(one, gates=soft).outcome == "pass"


def test_success_can_be_told_only_to_warn() -> None:
    one = suite(success(passing(60, 3, failed=12)), success(passing(60, 6)))
    rules = RegressionRules(metrics={SUCCESS.name: MetricRule(metric=SUCCESS.name, level="warn")})
    found = verdict(one, regression=rules)
    assert (only(found).status, found.outcome) == ("regression", "pass")
    assert found.reason == "0 gates met; no blocking metric was compared with a baseline"


def test_latency_blocks_only_when_told_to() -> None:
    was = build({"success": passing(60, 6), "latency_ms": latencies(60, 6)})
    now = build({"success": passing(60, 3), "latency_ms": latencies(60, 3, 1.6, 1)})
    gates = (GateRule(metric=P95.name, max=90_000.0),)
    found = verdict(suite(now, was), gates=gates)
    assert (only(found, P95.name).status, only(found, P95.name).level) == ("regression", "warn")
    assert found.outcome == "pass"
    rule = MetricRule(metric=P95.name, level="block", tolerance=Tolerance(value=0.1, relative=True))
    found = verdict(suite(now, was), regression=RegressionRules(metrics={P95.name: rule}))
    assert found.outcome == "fail"
    assert found.reason.startswith("`operational.p95_latency_ms` rose by ")
    assert "allowed 10 %" in found.reason


def test_alpha_is_shared_by_all_blocking_pairs_of_the_run() -> None:
    """Raw p of about 0.007: enough alone at 1 %, not when two suites share it."""
    was, now = passing(40, 3), passing(40, 3)
    now[:6, 0] = 0.0
    first = suite(success(now, suite="a"), success(was, suite="a"))
    second = suite(success(was, suite="b"), success(was, suite="b"))
    alone = only(verdict(first))
    assert (alone.status, alone.p_adjusted) == ("regression", alone.p_value)
    shared = verdict(first, second)
    assert only(shared).p_adjusted == pytest.approx(2 * (alone.p_value or 0))
    assert only(shared).status == "suspected"
    assert (only(shared).mde or 0) > (alone.mde or 1)
    assert (shared.outcome, shared.suites["b"][0]) == ("inconclusive", "pass")
    assert shared.reason.startswith("a: `agent.success_rate` may have fallen by ")


def test_a_suspicion_needs_the_raw_p_value_only() -> None:
    """Raw p of 0.04 is above 5 % once two suites share it; it is mentioned all the same."""
    was, now = passing(20, 12), passing(20, 3) - np.eye(20, 3)
    first = suite(success(now, suite="a"), success(was, suite="a"))
    second = suite(success(was, suite="b"), success(was, suite="b"))
    row = only(verdict(first, second))
    assert row.p_value is not None
    assert row.p_adjusted is not None
    assert row.p_value <= 0.05 < row.p_adjusted
    assert row.status == "suspected"


def test_tolerances_by_scale() -> None:
    columns = {
        "success": passing(20, 3),
        "recall": passing(20, 3),
        "judge": passing(20, 3) * 4.0,
        "cost_usd": latencies(20, 3),
    }
    table = build(columns)
    rules = RegressionRules(tolerance=Tolerance(value=0.07))
    rows = {row.metric: row for row in verdict(suite(table, table), regression=rules).comparisons}
    assert rows[RECALL.name].tolerance == 0.07
    assert rows[JUDGE.name].tolerance == 0.1
    assert (rows[COST.name].tolerance, rows[COST.name].relative) == (0.05, True)
    wide = RegressionRules(tolerance=Tolerance(value=0.5, relative=True))
    rows = {row.metric: row for row in verdict(suite(table, table), regression=wide).comparisons}
    assert (rows[JUDGE.name].tolerance, rows[JUDGE.name].relative) == (0.5, True)


def test_a_relative_tolerance_of_nothing_is_nothing() -> None:
    was = build({"success": np.zeros((20, 3))}, specs=(replace(SUCCESS, direction="lower"),))
    now = build({"success": passing(20, 3)}, specs=(replace(SUCCESS, direction="lower"),))
    rules = RegressionRules(tolerance=Tolerance(value=0.5, relative=True))
    row = only(verdict(suite(now, was), regression=rules))
    assert (row.tolerance, row.relative, row.status) == (0.0, False, "regression")


def test_a_tolerance_is_a_number_where_no_case_has_two_values() -> None:
    """NaN is no JSON."""
    early, late = np.full((20, 3), np.nan), np.full((20, 3), np.nan)
    early[:10], late[10:] = 5.0, 5.0
    now, was = ({"success": passing(20, 3), "latency_ms": x} for x in (early, late))
    rows = verdict(suite(build(now), build(was))).comparisons
    row = next(row for row in rows if row.metric == P95.name)
    assert (row.status, row.tolerance) == ("inconclusive", 0.05)


# -------------------------------------------------------------------------------- suites as a whole


def test_no_baseline() -> None:
    one = suite(success(passing(20, 3)), None)
    found = verdict(one)
    assert (found.outcome, found.exit_code, found.comparisons) == ("no_baseline", 0, ())
    assert found.reason == "there is no baseline to compare with"
    assert verdict(one, policy=Policy(no_baseline="fail")).exit_code == 4
    failing = verdict(one, gates=(GateRule(metric=SUCCESS.name, max=0.5),))
    assert (failing.outcome, failing.exit_code) == ("fail", 1)


def test_a_reason_found_before_makes_a_suite_not_comparable() -> None:
    table = success(passing(20, 3))
    found = verdict(suite(table, table, not_comparable="the baseline is of another dataset"))
    assert (found.outcome, found.exit_code) == ("not_comparable", 5)
    assert found.reason == "the baseline is of another dataset"
    assert [row.status for row in found.comparisons] == ["not_comparable"]
    assert (only(found).baseline, only(found).current, only(found).delta) == (1.0, 1.0, None)


@pytest.mark.parametrize(("kept", "outcome"), [(45, "pass"), (44, "not_comparable")])
def test_removing_cases_is_no_way_to_pass(kept: int, outcome: str) -> None:
    was, now = success(passing(50, 3)), success(passing(kept, 3))
    found = verdict(suite(now, was))
    assert found.outcome == outcome
    if outcome == "not_comparable":
        assert found.reason == "6 of the baseline's 50 cases were removed or changed (limit 10 %)"
    excused = verdict(suite(now, was, not_asked=frozenset(was.cases[kept:])))
    assert excused.outcome == "pass"
    assert excused.cases.removed == ()


@pytest.mark.parametrize(
    ("cases", "rounds_b", "rounds", "all_wrong", "all_right"),
    [
        (3, 5, 5, "regression", "no_regression"),
        (1, 4, 4, "regression", "no_regression"),
        (1, 3, 3, "suspected", "inconclusive"),
        (2, 2, 2, "suspected", "inconclusive"),
        (2, 3, 3, "regression", "no_regression"),
        (3, 1, 1, "inconclusive", "inconclusive"),
        (3, 12, 1, "regression", "no_regression"),
        (4, 1, 1, "suspected", "inconclusive"),
        (4, 2, 2, "regression", "no_regression"),
        (6, 1, 1, "regression", "no_regression"),
        (5, 1, 1, "suspected", "inconclusive"),
    ],
)
def test_a_small_suite_is_judged_like_any_other(
    cases: int, rounds_b: int, rounds: int, all_wrong: str, all_right: str
) -> None:
    was, right = success(passing(cases, rounds_b)), success(passing(cases, rounds))
    wrong = success(np.zeros((cases, rounds)))
    found = verdict(suite(wrong, was))
    assert only(found).status == all_wrong
    assert found.outcome == ("fail" if all_wrong == "regression" else "inconclusive")
    kept = verdict(suite(right, was))
    assert only(kept).status == all_right
    size = "could be distinguished from chance; "
    if all_right == "inconclusive":  # nothing of this size could be significant, and what could
        assert all(size in one.reason and "cases could" in one.reason for one in (found, kept))
        assert only(kept).mde is None
    else:
        assert size not in kept.reason
        assert "a drop of " in kept.reason
        assert only(kept).mde <= 1.0 + 1e-9


def test_all_there_is_to_lose_is_seen_where_losing_it_is_significant() -> None:
    """Bounds for single calls would ask for a drop of 246 points."""
    was, now = success(passing(3, 12)), success(passing(3, 1))
    assert only(verdict(suite(now, was))).mde == 1.0
    rules = RegressionRules(tolerance=Tolerance(value=0.9))
    less = success(passing(3, 12, failed=1))  # there are 67 points to lose, and 90 are allowed
    assert only(verdict(suite(now, less), regression=rules)).mde is None


def test_of_scores_all_there_is_to_lose_is_seen_too() -> None:
    """Three cases with three rounds ask for more points than there are, though a fall to the
    lowest score is a regression.
    """
    rules = RegressionRules(metrics={RECALL.name: MetricRule(metric=RECALL.name, level="block")})

    def row(now: np.ndarray, was: np.ndarray) -> Comparison:
        found = verdict(suite(build({"recall": now}), build({"recall": was})), regression=rules)
        return next(one for one in found.comparisons if one.metric == RECALL.name)

    was = np.tile([0.5, 0.7, 0.6], (3, 3))
    same, lost = row(was[:, :3], was), row(np.zeros((3, 3)), was)
    assert lost.status == "regression"
    assert same.mde == pytest.approx(0.6)
    blind = row(was[:2, :2], was[:2, :2])  # two cases: not even that would be significant
    assert (blind.status, blind.mde) == ("inconclusive", None)


def test_changed_cases_count_as_removed() -> None:
    was = success(passing(20, 3))
    now = replace(was, digests=("x", "y", "z", *was.digests[3:]))
    assert verdict(suite(now, was)).outcome == "not_comparable"


def test_fewer_than_five_pairs_of_a_baseline_that_had_more() -> None:
    rules = RegressionRules(max_removed=0.5)
    was = success(passing(6, 3))
    found = verdict(suite(was.select(range(4)), was), regression=rules)
    assert found.outcome == "not_comparable"
    why = "only 4 cases of the baseline's 6 remain to compare (5 of that many are needed)"
    assert found.reason == why
    assert verdict(suite(was.select(range(5)), was), regression=rules).outcome == "pass"
    four = success(passing(4, 3))
    assert verdict(suite(four.select(range(3)), four), regression=rules).outcome == "pass"
    # What a budget left unasked, or nobody chose, was not removed.
    unasked = verdict(suite(was.select(range(4)), was, not_run=6, chosen=6))
    assert unasked.outcome == "inconclusive"
    assert unasked.reason == "2 cases were never run"
    sampled = suite(was.select(range(3)), was, not_asked=frozenset(was.cases[3:]))
    assert verdict(sampled).outcome == "pass"
    nothing = suite(success(passing(3, 3), prefix="x"), was.select(range(0)))
    assert verdict(nothing).reason == "this run and the baseline have no case in common"
    disjoint = verdict(suite(success(passing(9, 3), prefix="x"), success(passing(9, 3))))
    assert "9 of the baseline's 9 cases were removed" in disjoint.reason


def test_an_agent_out_of_reach() -> None:
    was = success(passing(20, 3))
    gates = (GateRule(metric=SUCCESS.name, min=0.5), GateRule(metric=RECALL.name, min=0.5))
    one = suite(was.select([]), was, unreachable="the agent cannot be reached: refused")
    found = verdict(one, gates=gates)
    assert (found.outcome, found.exit_code) == ("error", 6)
    assert found.reason == "the agent cannot be reached: refused"
    assert {gate.status for gate in found.gates} == {"inconclusive"}
    assert (found.comparisons, found.cases.removed) == ((), ())
    assert verdict(one, gates=gates, policy=Policy(error="warn")).exit_code == 0
    assert verdict(replace(one, compared=Compared())).outcome == "error"


def test_a_control_out_of_reach_is_named() -> None:
    was = success(passing(20, 3))
    found = verdict(replace(suite(was.select([]), None), control_unreachable="http://b refused"))
    assert (found.outcome, found.exit_code) == ("error", 6)
    assert found.reason == "the control agent cannot be reached: http://b refused"


@pytest.mark.parametrize(("fresh", "outcome"), [(True, "error"), (False, "pass")])
def test_a_control_that_answers_too_seldom_is_no_control(fresh: bool, outcome: str) -> None:
    flags = np.zeros((20, 3))
    flags.ravel()[:13] = 1.0
    silent = build({"success": np.where(flags == 1.0, NAN, 1.0), "infra_error": flags})
    found = verdict(suite(success(passing(20, 3)), silent, fresh=fresh))
    assert found.outcome == outcome
    if fresh:
        assert found.reason.startswith("22 % of the control agent's calls ended in infrastructure")


@pytest.mark.parametrize(("errors", "outcome"), [(12, "pass"), (13, "error")])
def test_too_many_infrastructure_errors(errors: int, outcome: str) -> None:
    flags = np.zeros((20, 3))
    flags.ravel()[:errors] = 1.0
    values = np.where(flags == 1.0, NAN, 1.0)
    table = build({"success": values, "infra_error": flags})
    found = verdict(suite(table, table))
    if outcome == "error":
        assert (found.outcome, found.exit_code) == ("error", 6)
        assert "22 % of the calls ended in infrastructure errors" in found.reason
        assert verdict(suite(table, table, unanswered="no key")).reason.endswith(": no key")
    else:
        assert found.outcome in ("pass", "inconclusive")


def test_cases_never_asked_keep_a_run_from_passing() -> None:
    was, now = success(passing(20, 3)), success(passing(15, 3))
    found = verdict(suite(now, was, chosen=20, not_run=15))
    assert found.outcome == "inconclusive"
    assert found.reason == "5 cases were never run"
    assert verdict(suite(now, was)).outcome == "not_comparable"


def test_new_and_quarantined_cases_do_not_gate() -> None:
    was = success(passing(40, 6))
    now = success(passing(50, 3, failed=10))
    new = frozenset(now.cases[40:])
    broken = frozenset(now.cases[:10])
    gates = (GateRule(metric=SUCCESS.name, min=0.9, rule="point"),)
    assert verdict(suite(now, was, new_cases=new), gates=gates).outcome == "fail"
    found = verdict(suite(now, was, new_cases=new, quarantined=broken), gates=gates)
    assert (found.outcome, found.gates[0].value) == ("pass", 1.0)
    assert only(found).n_paired == 30
    assert len(found.cases.quarantined) == 10
    assert len(found.cases.added) == 10
    assert found.cases.newly_failing == ()


def test_new_cases_may_fail_and_even_be_in_a_stale_baseline() -> None:
    was, now = passing(50, 6), passing(50, 3)
    now[:10] = 0.0
    table = success(now)
    gates = (GateRule(metric=SUCCESS.name, min=0.9, rule="point"),)
    one = suite(table, success(was), new_cases=frozenset(table.cases[:10]))
    found = verdict(one, gates=gates)
    assert (found.outcome, found.gates[0].value, only(found).n_paired) == ("pass", 1.0, 40)
    assert verdict(replace(one, new_cases=frozenset()), gates=gates).outcome == "fail"


# ----------------------------------------------------------------------------------- missing calls


def test_missing_calls_that_could_hide_a_regression() -> None:
    flags = np.zeros((60, 3))
    flags[:8, :] = 1.0  # 13 % of the calls
    now = build({"success": np.where(flags == 1.0, NAN, 1.0), "infra_error": flags})
    was = success(passing(60, 12))
    gates = (GateRule(metric=SUCCESS.name, min=0.98, rule="point"),)
    found = verdict(suite(now, was), gates=gates)
    row = only(found)
    assert row.status == "inconclusive"
    assert "13 % of the calls ended in infrastructure errors" in row.reason
    assert row.delta == 0.0
    assert found.gates[0].status == "inconclusive"
    assert (found.outcome, found.exit_code) == ("inconclusive", 0)
    assert verdict(suite(now, was), policy=Policy(inconclusive="fail")).exit_code == 3


def test_missing_calls_that_change_nothing() -> None:
    flags = np.zeros((200, 3))
    flags[:5, 0] = 1.0
    now = build({"success": np.where(flags == 1.0, NAN, 1.0), "infra_error": flags})
    found = verdict(
        suite(now, success(passing(200, 3))), gates=(GateRule(metric=SUCCESS.name, min=0.9),)
    )
    assert (only(found).status, found.gates[0].status) == ("no_regression", "pass")
    assert found.outcome == "pass"


def test_missing_calls_do_not_hide_a_regression_that_is_there() -> None:
    flags = np.zeros((60, 3))
    flags[50:, 0] = 1.0
    values = np.where(flags == 1.0, NAN, passing(60, 3, failed=20))
    found = verdict(
        suite(build({"success": values, "infra_error": flags}), success(passing(60, 6)))
    )
    assert (only(found).status, found.outcome) == ("regression", "fail")


def judged(values: np.ndarray, lost: np.ndarray, **columns: np.ndarray) -> Table:
    """A run with a judge, which gave no score where `lost` is 1."""
    scores = np.where(lost == 1.0, NAN, values)
    marks = {UNSCORED + name: lost for name in ("judge", "success")}
    return build({"judge": scores, **marks, **columns}, specs=(SUCCESS, JUDGE, RECALL))


BY_JUDGE = RegressionRules(metrics={JUDGE.name: MetricRule(metric=JUDGE.name, level="block")})


def test_answers_without_a_judges_score_could_hide_a_regression() -> None:
    full, lost = np.full((60, 3), 4.0), np.zeros((60, 3))
    lost[:8] = 1.0  # the bad answers, perhaps
    now = judged(full, lost, recall=passing(60, 3))
    was = judged(np.full((60, 12), 4.0), np.zeros((60, 12)), recall=passing(60, 12))
    limit = GateRule(metric=JUDGE.name, min=3.9, rule="point")
    found = verdict(suite(now, was), gates=(limit,), regression=BY_JUDGE)
    row = only(found, JUDGE.name)
    assert (row.status, row.current, found.outcome) == ("inconclusive", 4.0, "inconclusive")
    assert "graders gave 13 % of the answers no score" in row.reason
    assert found.gates[0].status == "inconclusive"
    assert only(found, RECALL.name).status == "no_regression"


def test_so_could_answers_that_only_the_judge_could_have_failed() -> None:
    lost = np.zeros((60, 3))
    lost[:8] = 1.0
    now = judged(np.full((60, 3), 4.0), lost, success=np.where(lost == 1.0, NAN, 1.0))
    was = judged(np.full((60, 12), 4.0), np.zeros((60, 12)), success=passing(60, 12))
    assert only(verdict(suite(now, was))).status == "inconclusive"


def test_a_few_answers_without_a_score_are_left_out_unless_main_has_none() -> None:
    lost = np.zeros((200, 3))
    lost[:10, 0] = 1.0  # 1.7 %
    now, full = judged(np.full((200, 3), 4.0), lost), np.full((200, 3), 4.0)
    limit = GateRule(metric=JUDGE.name, min=3.99, rule="point")
    alike = verdict(suite(now, judged(full, lost)), gates=(limit,), regression=BY_JUDGE)
    assert (alike.outcome, alike.gates[0].status) == ("pass", "pass")
    unlike = verdict(suite(now, judged(full, 0 * lost)), gates=(limit,), regression=BY_JUDGE)
    assert unlike.gates[0].status == "inconclusive"
    assert "differs from the baseline's (p = 0.00" in unlike.gates[0].reason


def test_a_case_that_the_judge_is_not_asked_about_lacks_nothing() -> None:
    values = np.full((60, 3), 4.0)
    values[:8] = NAN
    both = (judged(values, np.zeros((60, 3))), judged(values, np.zeros((60, 3))))
    limit = GateRule(metric=JUDGE.name, min=4.0, rule="point")
    assert verdict(suite(*both), gates=(limit,), regression=BY_JUDGE).outcome == "pass"


# -------------------------------------------------------------------------------- runs and policies

_TABLE = success(passing(40, 3))
_BY_OUTCOME = {
    "fail": suite(success(passing(40, 3, failed=20)), _TABLE),
    "error": suite(_TABLE, _TABLE, unreachable="refused"),
    "not_comparable": suite(_TABLE, _TABLE, not_comparable="another dataset"),
    "no_baseline": suite(_TABLE, None),
    "inconclusive": suite(_TABLE, _TABLE, not_run=1, chosen=len(_TABLE.cases) + 1),
    "pass": suite(_TABLE, _TABLE),
}
_CODES = {
    "fail": 1,
    "error": 6,
    "not_comparable": 5,
    "no_baseline": 4,
    "inconclusive": 3,
    "pass": 0,
}


@pytest.mark.parametrize("choice", ["pass", "warn", "fail"])
@pytest.mark.parametrize("outcome", list(_BY_OUTCOME))
def test_exit_codes_follow_the_policy(outcome: str, choice: str) -> None:
    policy = Policy()
    if outcome in {field.name for field in dataclasses.fields(Policy)}:
        policy = replace(policy, **{outcome: choice})
    found = verdict(_BY_OUTCOME[outcome], policy=policy)
    stops = outcome == "fail" or (choice == "fail" and outcome != "pass")
    assert (found.outcome, found.exit_code) == (outcome, _CODES[outcome] if stops else 0)


def test_the_worst_suite_is_the_outcome_of_the_run() -> None:
    order = list(_BY_OUTCOME)
    for i, worse in enumerate(order):
        for better in order[i:]:
            pair = [replace(_BY_OUTCOME[better], name="b"), replace(_BY_OUTCOME[worse], name="w")]
            found = verdict(*pair)
            assert found.outcome == worse
            assert found.suites["b"][0] == better


def test_of_several_reasons_success_comes_first_and_what_was_not_measured_last() -> None:
    low = build({"success": passing(60, 3, failed=60), "cost_usd": np.full((60, 3), 0.5)})
    limits = (
        GateRule(metric="agent.absent", min=0.5),
        GateRule(metric=COST.name, max=0.1),
        GateRule(metric=SUCCESS.name, min=0.5),
    )
    found = verdict(suite(low, None), gates=limits)
    assert found.reason.startswith("`agent.success_rate` is 0")
    found = verdict(suite(low, None), gates=limits[:2])
    assert found.reason.startswith(f"`{COST.name}` is $0.5")


def test_a_tolerated_outcome_does_not_hide_one_that_fails() -> None:
    policy = Policy(not_comparable="warn", no_baseline="fail")
    found = verdict(
        replace(_BY_OUTCOME["not_comparable"], name="a"),
        replace(_BY_OUTCOME["no_baseline"], name="b"),
        policy=policy,
    )
    assert (found.outcome, found.exit_code) == ("not_comparable", 4)


def test_a_run_of_nothing() -> None:
    found = verdict(gates=(GateRule(metric=SUCCESS.name, min=0.5),))
    assert (found.outcome, found.exit_code, found.reason) == ("pass", 0, "no suite was run")
