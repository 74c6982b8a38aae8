"""Gates against numbers: point, convicted, proven; missing metrics; cases that were lost."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from gate.records import GateResult, GateRule, Looks, Policy, RegressionRules, Rule
from gate.store.baseline.find import Compared
from gate.verdict.decide import decide
from gate.verdict.suite_data import SuiteData
from tests.support.verdict_tables import P95, RECALL, SUCCESS, build, latencies, passing, suite_data

NAN = float("nan")


def judge(
    data: SuiteData,
    *gates: GateRule,
    policy: Policy = Policy(),  # noqa: B008
    elsewhere: frozenset[str] = frozenset(),
) -> tuple[str, list[GateResult]]:
    found = decide(
        [data],
        gates=gates,
        regression=RegressionRules(),
        policy=policy,
        elsewhere=elsewhere,
    )
    return found.outcome, list(found.gates)


def measured(values: np.ndarray, **extra: object) -> SuiteData:
    """A suite compared with itself, so that gates alone decide."""
    table = build({"success": values})
    return suite_data(name="s", current=table, baseline=table, **extra)


def share(good: int, cases: int) -> np.ndarray:
    """One round a case; the interval is Clopper and Pearson's."""
    return passing(cases, 1, failed=cases - good)


MIN = GateRule(metric=SUCCESS.name, min=0.80)
MAX = GateRule(metric=SUCCESS.name, max=0.80)


@pytest.mark.parametrize(
    ("gate", "good", "rule", "status", "proved"),
    [
        # of 100: 60 is below 0.8 for certain, 79 not for certain, 95 above for certain
        (MIN, 60, "point", "fail", False),
        (MIN, 79, "point", "fail", False),
        (MIN, 80, "point", "pass", False),
        (MIN, 60, "convicted", "fail", False),
        (MIN, 79, "convicted", "warn", False),
        (MIN, 95, "convicted", "pass", True),
        (MIN, 79, "proven", "fail", False),
        (MIN, 85, "proven", "fail", False),
        (MIN, 95, "proven", "pass", True),
        (MAX, 81, "point", "fail", False),
        (MAX, 80, "point", "pass", False),
        (MAX, 81, "convicted", "warn", False),
        (MAX, 95, "convicted", "fail", False),
        (MAX, 60, "convicted", "pass", True),
        (MAX, 60, "proven", "pass", True),
        (MAX, 75, "proven", "fail", False),
    ],
)
def test_rules(gate: GateRule, good: int, rule: str, status: str, proved: bool) -> None:
    outcome, [found] = judge(measured(share(good, 100)), replace(gate, rule=rule))
    assert (found.status, found.proved, found.rule) == (status, proved, rule)
    assert outcome == ("pass" if status == "warn" else status)
    assert found.value == pytest.approx(good / 100)
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert found.ci_low < good / 100 < found.ci_high


def test_the_value_decides_where_no_rule_is_written() -> None:
    """Recall 0.68 against min 0.82 is a failure of ten cases as of a thousand."""
    outcome, [found] = judge(measured(share(17, 25)), replace(MIN, min=0.82))
    assert (outcome, found.status, found.rule) == ("fail", "fail", "point")
    _, [own] = judge(measured(share(90, 100)), replace(MIN, rule="convicted"))
    assert own.rule == "convicted"


@pytest.mark.parametrize("rule", get_args(Rule))
@pytest.mark.parametrize("good", range(0, 21))
def test_nothing_beyond_a_limit_passes(good: int, rule: Rule) -> None:
    _, [found] = judge(measured(share(good, 20)), replace(MIN, rule=rule))
    assert (found.status == "pass") <= (good >= 16)


def test_a_limit_in_doubt_is_told_where_the_run_passes() -> None:
    found = decide(
        [measured(share(79, 100))],
        gates=(replace(MIN, rule="convicted"),),
        regression=RegressionRules(),
        policy=Policy(),
    )
    assert found.outcome == "pass"
    assert found.reason.startswith("`agent.success_rate` is 0.79, below min 0.80 (interval 0.")
    assert ", which its rule convicted allows; no regression seen" in found.reason
    assert found.gates[0].reason == "WARN: agent.success_rate = 0.7900 (minimum: 0.8)"


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
    data = suite_data(name="s", current=table, baseline=table)
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
        gates=(MIN,),
        regression=RegressionRules(),
        policy=Policy(),
    )
    assert found.gates[0].reason == "FAIL: agent.success_rate = 0.6000 (minimum: 0.8)"
    assert found.reason.startswith("`agent.success_rate` is 0.60, below min 0.80 (interval 0.")
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
    assert found.reason == "response_quality.clarity is not measured by any suite of this run"
    assert judge(measured(share(9, 10)), gate, elsewhere=frozenset({gate.metric})) == ("pass", [])


def test_a_misspelt_metric_of_an_import_names_the_nearest() -> None:
    _, [found] = judge(measured(share(9, 10)), GateRule(metric="retrieval.recal@5", min=0.5))
    assert found.reason.endswith(
        f"not measured by any suite of this run - did you mean '{RECALL.name}'?"
    )


def test_a_suites_own_gate_wins() -> None:
    data = measured(share(60, 100), gates=(replace(MIN, min=0.5),))
    outcome, [found] = judge(data, MIN)
    assert (outcome, found.min) == ("pass", 0.5)


def test_a_suites_own_gate_on_an_unknown_metric_is_missing() -> None:
    data = measured(share(9, 10), gates=(GateRule(metric="x.y", min=0.5),))
    assert judge(data)[1][0].status == "missing"


def test_an_interval_without_an_upper_end_convicts_nobody() -> None:
    table = build({"success": passing(10, 3), "latency_ms": latencies(10, 3)})
    data = suite_data(name="s", current=table, baseline=None)
    slow = GateRule(metric=P95.name, max=1e6, rule="convicted")
    _, [found] = judge(data, slow)
    assert (found.status, found.proved, found.ci_high) == ("pass", False, None)
    _, [strict] = judge(data, replace(slow, rule="proven"))
    assert strict.status == "fail"
    outcome, _ = judge(data, replace(slow, rule="proven"))
    assert outcome == "fail"


def test_a_number_without_an_interval_is_taken_as_it_is() -> None:
    spec = replace(SUCCESS, name="d.std", column="x", family="std", high=None)
    table = build({"x": np.array([[1.0], [NAN]])}, specs=(spec,))
    data = suite_data(name="s", current=table, baseline=None)
    assert judge(data, GateRule(metric="d.std", min=0.5))[1][0].status == "missing"


# ---------------------------------------------------------------------------- what must not improve


def test_removing_a_hard_case_does_not_raise_a_score() -> None:
    was = build({"success": passing(40, 6, failed=4)})
    gate = replace(MIN, min=0.95, rule="point")
    hidden = was.select(list(range(3, 40)))
    now = replace(hidden, rounds=3, columns={name: v[:, :3] for name, v in hidden.columns.items()})
    outcome, [found] = judge(suite_data(name="s", current=now, baseline=was), gate)
    assert (outcome, found.value) == ("fail", pytest.approx(0.9))
    outcome, [honest] = judge(suite_data(name="s", current=was, baseline=was), gate)
    assert honest.value == found.value


def test_editing_a_hard_case_does_not_remove_it() -> None:
    was = build({"success": passing(40, 3, failed=2)})
    now = build({"success": passing(40, 3)})
    now = replace(now, digests=("x", "y", *now.digests[2:]))
    _, [found] = judge(suite_data(name="s", current=now, baseline=was), MIN)
    assert found.value == pytest.approx(40 / 42)


def test_a_case_that_nobody_answered_counts_as_it_did() -> None:
    was = build({"success": passing(60, 1, failed=1)})
    flags = np.zeros((60, 2))
    flags[0] = 1.0
    now = build({"success": np.where(flags == 1.0, NAN, 1.0), "infra_error": flags})
    _, [found] = judge(suite_data(name="s", current=now, baseline=was), MIN)
    assert found.value == pytest.approx(59 / 60)


def test_missing_calls_are_counted_beside_the_cases_that_were_lost() -> None:
    """Of 50 cases 5 are gone that always failed: 0.90; three calls of 90 may have failed, too."""
    was = build({"success": passing(50, 2, failed=5)[::-1]})
    flags = np.zeros((45, 2))
    flags[:3, 1] = 1.0
    now = build({"success": np.where(flags == 1.0, NAN, 1.0), "infra_error": flags})
    limit = GateRule(metric=SUCCESS.name, min=0.88, rule="point")
    _, [found] = judge(suite_data(name="s", current=now, baseline=was), limit)
    assert (found.value, found.status) == (pytest.approx(0.9), "inconclusive")


def test_other_graders_and_other_datasets_lend_no_values() -> None:
    was = build({"success": passing(40, 3, failed=2)}, graders={"success": "1"})
    cut = build({"success": passing(40, 3, failed=2)}, graders={"success": "2"}).select(
        list(range(2, 40))
    )
    _, [found] = judge(suite_data(name="s", current=cut, baseline=was), MIN)
    assert found.value == 1.0
    same = replace(cut, graders=was.graders)
    one = suite_data(name="s", current=same, baseline=was, not_comparable="another dataset")
    assert judge(one, MIN)[1][0].value == 1.0
    assert judge(replace(one, compared=Compared(table=was)), MIN)[1][0].value == pytest.approx(0.95)


def test_a_value_with_lost_cases_in_it_says_so() -> None:
    """Nobody answered one of the ten, and it counts as before: 0.90 is not what the tables have."""
    values, lost = passing(10, 1), np.zeros((10, 1))
    values[0], lost[0] = NAN, 1.0
    was = build({"success": passing(10, 1, failed=1)})
    now = build({"success": values, "infra_error": lost})
    data = suite_data(name="s", current=now, baseline=was)
    gate = GateRule(metric=SUCCESS.name, min=0.95)
    verdict = decide([data], gates=(gate,), regression=RegressionRules(), policy=Policy())
    found = verdict.gates[0]
    assert (found.value, found.as_before, found.status) == (pytest.approx(0.9), 1, "fail")
    assert "; 1 lost case counts as in the baseline)" in verdict.reason


# ------------------------------------------------------------------------------- odds of the noise


def agent(rounds: int, seed: int) -> np.ndarray:
    """40 cases, each passes 9 times in 10."""
    return (np.random.default_rng(seed).random((40, rounds)) < 0.9).astype(float)


def with_main(rule: Rule = "point", **extra: object) -> GateResult:
    main = build({"success": agent(5_000, 1)}, specs=(SUCCESS,))
    data = suite_data(
        name="s", current=build({"success": agent(3, 2)}, specs=(SUCCESS,)), baseline=main, **extra
    )
    return judge(data, GateRule(metric=SUCCESS.name, min=0.88, rule=rule))[1][0]


def test_a_gate_says_how_often_noise_alone_would_break_it() -> None:
    """Of an agent like main's, in a run of this size: held to unchanged runs."""
    runs = [agent(3, seed).mean() for seed in range(10, 1010)]
    seen = np.mean([value < 0.88 - 1e-9 for value in runs])
    assert with_main().noise_odds.chance == pytest.approx(seen, abs=0.04)


def test_rounds_up_to_the_cap_are_counted_in_the_odds() -> None:
    looks = Looks(calls=(120, 240))
    more = with_main(looks=looks, made=120, chosen=40, planned=120).noise_odds.chance
    runs = [agent(6, seed) for seed in range(10, 1010)]
    seen = np.mean([run[:, :3].mean() < 0.88 - 1e-9 and run.mean() < 0.88 - 1e-9 for run in runs])
    assert more == pytest.approx(seen, abs=0.04)
    assert more < with_main().noise_odds.chance


def test_the_rule_is_counted_in_the_odds() -> None:
    assert with_main("convicted").noise_odds.chance < 0.01
    assert with_main("proven").noise_odds.chance > 0.7


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"table": None}, "there is no baseline"),
        ({"not_comparable": "another dataset"}, "the baseline is not comparable"),
    ],
)
def test_odds_that_are_not_known_say_why(changes: dict[str, object], why: str) -> None:
    data = measured(share(80, 100))
    other = replace(data, compared=replace(data.compared, **changes))
    found = judge(other, MIN)[1][0].noise_odds
    assert (found.chance, found.why) == (None, why)


def test_a_target_alone_has_no_odds() -> None:
    gate = GateRule(metric=SUCCESS.name, target=0.9)
    assert judge(measured(share(80, 100)), gate)[1][0].noise_odds is None
