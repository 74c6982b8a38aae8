"""What a look decides: who goes on, what ends a run, and what the ended run may say."""

from collections.abc import Sequence

import numpy as np
import pytest

from gate.records import (
    Comparison,
    GateRule,
    Level,
    Looks,
    MetricRule,
    Mode,
    Policy,
    RegressionRules,
)
from gate.verdict import SuiteData, Undecided, decide, undecided
from tests.verdict_tables import RECALL, SUCCESS, build, latencies, passing

PLAN = Looks(calls=(60, 120, 180, 240, 300, 360))  # 60 cases, 3 rounds planned, 6 at most
SEVERAL = RegressionRules(metrics={"retrieval.recall@5": MetricRule(metric="retrieval.recall@5")})


def flaky(rounds: int, share: float, seed: int) -> np.ndarray:
    """60 cases that pass with this chance."""
    return (np.random.default_rng(seed).random((60, rounds)) < share).astype(float)


def running(now: np.ndarray, was: np.ndarray | None = None, **extra: object) -> SuiteData:
    columns = {"success": now}
    baseline = None if was is None else build({"success": was}, specs=(SUCCESS,))
    data = {"looks": PLAN, "made": now.size, "chosen": 60, "planned": 180, **extra}
    return SuiteData(name="s", current=build(columns, specs=(SUCCESS,)), baseline=baseline, **data)


def look(
    *suites: SuiteData,
    gates: Sequence[GateRule] = (),
    rules: RegressionRules = RegressionRules(),  # noqa: B008
    mode: Mode = "pull_request",
) -> Undecided:
    return undecided(suites, gates=gates, regression=rules, policy=Policy(), mode=mode)


def status(data: SuiteData, rules: RegressionRules = RegressionRules()) -> str:  # noqa: B008
    found = decide([data], gates=(), regression=rules, policy=Policy(), mode="pull_request")
    return found.comparisons[0].status


def rows(*suites: SuiteData) -> tuple[Comparison, ...]:
    rules = RegressionRules()
    found = decide(suites, gates=(), regression=rules, policy=Policy(), mode="pull_request")
    return found.comparisons


def test_the_same_data_end_before_the_planned_trials() -> None:
    """Sixty identical answers are too few to prove anything, 120 are enough to stop."""
    assert look(running(passing(60, 1), passing(60, 12))).suites == {"s"}
    found = look(running(passing(60, 2), passing(60, 12)))
    assert found.suites == frozenset()
    assert found.why == "every blocking metric is settled"


def test_a_clear_regression_ends_the_whole_run() -> None:
    bad = running(passing(60, 1, failed=30), passing(60, 12))
    other = SuiteData(
        name="t",
        current=build({"success": flaky(1, 0.7, 1)}, suite="t", specs=(SUCCESS,)),
        baseline=build({"success": flaky(12, 0.75, 2)}, suite="t", specs=(SUCCESS,)),
        looks=PLAN,
        made=60,
        chosen=60,
        planned=180,
    )
    found = look(bad, other)
    assert found.suites == frozenset()
    assert found.why == "`agent.success_rate` of s got worse"
    assert status(bad) == "regression"


def test_a_doubt_goes_on_until_it_is_resolved() -> None:
    was, now = flaky(12, 0.8, 3), flaky(6, 0.66, 2)
    seen = [running(now[:, :rounds], was) for rounds in range(1, 4)]
    assert [status(data) for data in seen] == ["suspected", "suspected", "regression"]
    assert [bool(look(data).suites) for data in seen] == [True, True, False]


def test_a_look_asks_for_more_than_a_test_of_a_fixed_size() -> None:
    """p of 0.09 %: enough alone, not for the first of six looks."""
    was, now = passing(60, 12), passing(60, 1, failed=5)
    alone = SuiteData(
        name="s",
        current=build({"success": now}, specs=(SUCCESS,)),
        baseline=build({"success": was}, specs=(SUCCESS,)),
    )
    assert status(alone) == "regression"
    assert status(running(now, was)) == "suspected"
    assert look(running(now, was)).suites == {"s"}


def test_the_last_look_always_ends() -> None:
    was = flaky(12, 0.8, 3)
    assert not any(look(running(flaky(6, 0.74, seed), was)).suites for seed in range(20))


def test_what_is_suspicious_is_looked_at_again_where_the_line_would_let_it_go() -> None:
    was = flaky(12, 0.8, 3)
    for seed in range(40):
        data = running(flaky(5, 0.74, seed), was)
        if status(data) == "suspected":
            assert look(data).suites == {"s"}
            break
    else:
        pytest.fail("no suspicion in 40 runs")


def test_trials_between_two_looks_are_a_look_of_their_own() -> None:
    was, now = flaky(12, 0.8, 5), flaky(2, 0.8, 6)
    now[30:, 1] = np.nan
    data = running(now, was, made=90)
    assert status(data) in ("no_regression", "suspected")
    row = decide(
        [data], gates=(), regression=RegressionRules(), policy=Policy(), mode="laptop"
    ).comparisons[0]
    assert row.mde is not None


@pytest.mark.parametrize("made", [1, 59_999, 60_000, 359_999, 360_000])
def test_a_budget_may_end_a_large_run_just_beside_a_look(made: int) -> None:
    looks = Looks(calls=tuple(1000 * calls for calls in PLAN.calls))
    data = running(flaky(3, 0.8, 1), flaky(12, 0.8, 2), looks=looks, made=made, chosen=60_000)
    assert status(data) == "no_regression"


def test_a_settled_run_could_see_what_its_whole_plan_could() -> None:
    was = flaky(12, 0.9, 7)
    early = running(was[:, :2], was)
    assert look(early).suites == frozenset()
    whole = running(was[:, :6], was)
    seen = [
        decide([one], gates=(), regression=RegressionRules(), policy=Policy(), mode="laptop")
        .comparisons[0]
        .mde
        for one in (early, whole)
    ]
    assert seen[0] is not None
    assert seen[1] is not None
    assert seen[0] == pytest.approx(seen[1], rel=0.35)


def test_too_few_data_get_the_planned_trials_and_no_more() -> None:
    rules = RegressionRules(
        metrics={
            "operational.p95_latency_ms": MetricRule(
                metric="operational.p95_latency_ms", level="block"
            )
        }
    )
    times = latencies(20, 12, 1)
    for rounds, goes_on in ((2, True), (3, False)):
        data = SuiteData(
            name="s",
            baseline=build({"success": passing(20, 12), "latency_ms": times}),
            current=build({"success": passing(20, rounds), "latency_ms": times[:, :rounds]}),
            looks=Looks(calls=(20, 40, 60, 80, 100, 120)),
            made=20 * rounds,
            chosen=20,
            planned=60,
        )
        assert bool(look(data, rules=rules).suites) is goes_on


def test_a_metric_that_only_warns_never_keeps_a_run_going() -> None:
    was, now = passing(60, 12), passing(60, 1, failed=4)
    rules = RegressionRules(
        metrics={"agent.success_rate": MetricRule(metric="agent.success_rate", level="warn")}
    )
    assert look(running(now, was, planned=60), rules=rules).suites == frozenset()


def test_numbers_that_nothing_judges_are_measured_as_planned() -> None:
    assert look(running(passing(60, 1))).suites == {"s"}
    assert look(running(passing(60, 3))).suites == frozenset()


@pytest.mark.parametrize("failed", [7, 8, 10, 30])
def test_the_interval_of_a_regression_never_holds_no_change(failed: int) -> None:
    """A look at 60 answers widens its bounds beyond what the exact test says."""
    for was, now, wanted in (
        (passing(60, 12), passing(60, 1, failed=failed), "regression"),
        (passing(60, 12, failed=failed), passing(60, 1), "improvement"),
    ):
        row = rows(running(now, was))[0]
        assert row.status == wanted
        assert row.delta is not None
        assert row.ci_low is not None
        assert row.ci_high is not None
        assert row.ci_low < row.delta < row.ci_high
        assert row.ci_high <= 0.0 or row.ci_low >= 0.0


def test_what_another_suite_ended_is_marked_as_not_settled() -> None:
    bad = running(passing(60, 1, failed=30), passing(60, 12))
    other = running(flaky(1, 0.7, 1), flaky(12, 0.75, 2))
    named = SuiteData(
        name="t",
        current=other.current,
        baseline=other.baseline,
        looks=PLAN,
        made=60,
        chosen=60,
        planned=180,
    )
    assert [row.settled for row in rows(bad, named)] == [True, False]


# -------------------------------------------------------------------------------------------- gates


def gate(**limits: object) -> GateRule:
    return GateRule(metric="agent.success_rate", **limits)


def test_a_gate_wants_an_answer_to_every_case() -> None:
    was = flaky(12, 0.8, 8)
    better = np.maximum(was, flaky(12, 0.6, 9))
    part = running(better[:50, :1], was, made=50, chosen=60)
    assert look(part).suites == frozenset()
    assert look(part, gates=[gate(min=0.5)]).suites == {"s"}
    assert look(running(better[:, :1], was), gates=[gate(min=0.5)]).suites == frozenset()


def test_a_limit_that_straddles_gets_the_planned_trials_and_no_more() -> None:
    was = flaky(12, 0.8, 8)
    near = [gate(min=0.78)]
    assert look(running(was[:, :1], was), gates=near).suites == {"s"}
    assert look(running(was[:, :3], was), gates=near).suites == frozenset()


def test_a_limit_that_is_broken_for_sure_ends_the_run() -> None:
    was, now = passing(60, 12, failed=40), passing(60, 1, failed=40)
    found = look(running(now, was), gates=[gate(min=0.8)])
    assert found.suites == frozenset()
    assert found.why == "the gate on `agent.success_rate` of s is broken"


@pytest.mark.parametrize(
    ("failed", "limit", "goes_on"),
    [
        (0, {"min": 0.3}, False),  # 60 of 180 passed: at least 0.33 whatever comes
        (0, {"min": 0.5}, True),
        (60, {"min": 0.7}, False),  # at most 0.67: broken
        (0, {"max": 0.3}, False),
        (30, {"min": 0.1, "max": 0.9}, False),
        (30, {"min": 0.1, "max": 0.8}, True),
    ],
)
def test_a_point_limit_ends_when_what_is_left_cannot_change_it(
    failed: int, limit: dict[str, float], goes_on: bool
) -> None:
    now = passing(60, 1, failed=failed)
    was = np.zeros((60, 12))  # surely no worse than that, but for the limit
    found = look(running(now, was), gates=[gate(rule="point", **limit)])
    assert bool(found.suites) is goes_on


@pytest.mark.parametrize(("level", "goes_on"), [("block", True), ("warn", False)])
def test_a_limit_that_only_warns_is_not_waited_for(level: Level, goes_on: bool) -> None:
    was = flaky(12, 0.8, 8)
    tables = [
        build({"success": x, "recall": x}, specs=(SUCCESS, RECALL)) for x in (was, was[:, :2])
    ]
    data = SuiteData(
        name="s",
        baseline=tables[0],
        current=tables[1],
        looks=PLAN,
        made=120,
        chosen=60,
        planned=180,
    )
    near = GateRule(metric="retrieval.recall@5", min=0.78, level=level)
    assert bool(look(data, gates=[near]).suites) is goes_on


def test_alpha_is_shared_at_each_look() -> None:
    was, now = passing(60, 12), passing(60, 1, failed=8)
    columns_b, columns_c = ({"success": x, "recall": passing(60, x.shape[1])} for x in (was, now))
    both = SuiteData(
        name="s",
        current=build(columns_c, specs=(SUCCESS, RECALL)),
        baseline=build(columns_b, specs=(SUCCESS, RECALL)),
        looks=PLAN,
        made=60,
        chosen=60,
        planned=180,
    )
    shared = decide([both], gates=(), regression=SEVERAL, policy=Policy(), mode="laptop")
    alone = decide([both], gates=(), regression=RegressionRules(), policy=Policy(), mode="laptop")
    worse = [found.comparisons[0].p_adjusted for found in (alone, shared)]
    assert worse[0] is not None
    assert worse[1] is not None
    assert worse[0] < worse[1]
