"""What a look decides: who goes on, what ends a run, and what the ended run may say."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from gate.analysis.tally import Tally
from gate.records import (
    Comparison,
    GateRule,
    Level,
    Looks,
    MetricRule,
    MetricSpec,
    Policy,
    RegressionRules,
    Rule,
)
from gate.store.baseline.find import Compared
from gate.verdict.decide import decide
from gate.verdict.stop_rule import LookResult, look_at_suites
from gate.verdict.suite_data import SuiteData
from tests.support.verdict_tables import RECALL, SUCCESS, build, latencies, passing, suite_data

PLAN = Looks(calls=(60, 120, 180, 240, 300, 360))  # 60 cases, 3 rounds planned, 6 at most
SEVERAL = RegressionRules(metrics={"retrieval.recall@5": MetricRule(metric="retrieval.recall@5")})


def flaky(rounds: int, share: float, seed: int) -> np.ndarray:
    """60 cases that pass with this chance."""
    return (np.random.default_rng(seed).random((60, rounds)) < share).astype(float)


def running(now: np.ndarray, was: np.ndarray | None = None, **extra: object) -> SuiteData:
    columns = {"success": now}
    baseline = None if was is None else build({"success": was}, specs=(SUCCESS,))
    data = {"looks": PLAN, "made": now.size, "chosen": 60, "planned": 180, **extra}
    return suite_data(name="s", current=build(columns, specs=(SUCCESS,)), baseline=baseline, **data)


def look(
    *suites: SuiteData,
    gates: Sequence[GateRule] = (),
    rules: RegressionRules = RegressionRules(),  # noqa: B008
) -> LookResult:
    return look_at_suites(suites, gates=gates, regression=rules)


def status(data: SuiteData, rules: RegressionRules = RegressionRules()) -> str:  # noqa: B008
    found = decide([data], gates=(), regression=rules, policy=Policy())
    return found.comparisons[0].status


def rows(*suites: SuiteData) -> tuple[Comparison, ...]:
    rules = RegressionRules()
    found = decide(suites, gates=(), regression=rules, policy=Policy())
    return found.comparisons


def test_the_same_data_end_before_the_planned_trials() -> None:
    """Sixty identical answers are too few to prove anything, 120 are enough to stop."""
    assert look(running(passing(60, 1), passing(60, 12))).suites == {"s"}
    found = look(running(passing(60, 2), passing(60, 12)))
    assert found.suites == frozenset()
    assert found.why == "every blocking metric is settled"


def test_a_clear_regression_ends_the_whole_run() -> None:
    bad = running(passing(60, 1, failed=30), passing(60, 12))
    other = suite_data(
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


def test_a_regression_that_somebody_accepted_ends_nothing() -> None:
    """The others are still asked for what they hold, and the accepted one is not waited for."""
    columns = {"success": passing(60, 1, failed=30), "recall": passing(60, 1)}
    before = {"success": passing(60, 12), "recall": passing(60, 12)}
    data = suite_data(
        name="s",
        current=build(columns, specs=(SUCCESS, RECALL)),
        baseline=build(before, specs=(SUCCESS, RECALL)),
        looks=PLAN,
        made=60,
        chosen=60,
        planned=180,
        accepts_all=True,
    )
    assert look(data, rules=SEVERAL).suites == {"s"}
    assert look(replace(data, accepts_all=False), rules=SEVERAL).why.endswith("got worse")
    alone = running(passing(60, 1, failed=30), passing(60, 12), accepts_all=True)
    assert look(alone).suites == frozenset()


def test_a_doubt_goes_on_until_it_is_resolved() -> None:
    was, now = flaky(12, 0.8, 3), flaky(6, 0.66, 2)
    seen = [running(now[:, :rounds], was) for rounds in range(1, 4)]
    assert [status(data) for data in seen] == ["suspected", "suspected", "regression"]
    assert [bool(look(data).suites) for data in seen] == [True, True, False]


def test_a_look_asks_for_more_than_a_test_of_a_fixed_size() -> None:
    """p of 0.4 %: enough alone, not for the first of six looks."""
    was, now = passing(60, 12), passing(60, 1, failed=4)
    alone = suite_data(
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
    row = decide([data], gates=(), regression=RegressionRules(), policy=Policy()).comparisons[0]
    assert row.mde is not None


@pytest.mark.parametrize("made", [1, 59_999, 60_000, 359_999, 360_000])
def test_a_budget_may_end_a_large_run_just_beside_a_look(made: int) -> None:
    looks = Looks(calls=tuple(1000 * calls for calls in PLAN.calls))
    data = running(
        flaky(3, 0.8, 1), flaky(12, 0.8, 2), looks=looks, made=made, chosen=60_000, planned=180_000
    )
    assert status(data) == "no_regression"


def test_a_settled_run_could_see_what_its_whole_plan_could() -> None:
    was = flaky(12, 0.9, 7)
    early = running(was[:, :2], was)
    assert look(early).suites == frozenset()
    whole = running(was[:, :6], was)
    seen = [
        decide([one], gates=(), regression=RegressionRules(), policy=Policy()).comparisons[0].mde
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
        data = suite_data(
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
    named = suite_data(
        name="t",
        current=other.current,
        baseline=other.baseline,
        looks=PLAN,
        made=60,
        chosen=60,
        planned=180,
    )
    assert [row.settled for row in rows(bad, named)] == [True, False]


@pytest.mark.parametrize(
    ("trials", "better"), [(40, False), (100, False), (600, False), (600, True)]
)
def test_a_case_that_main_has_no_value_of_does_not_blind_the_others(
    trials: int, better: bool
) -> None:
    was = np.zeros((100, 12)) if better else np.ones((100, 12))
    was[3] = np.nan
    looks = Looks(calls=(40, 100, 200, 300, 400, 500, 600))
    rounds, asked = -(-trials // 100), min(trials, 100)
    now = 1.0 - was[:asked, :1].repeat(rounds, axis=1)
    now[np.isnan(now)] = 0.0
    data = running(now, was, looks=looks, made=trials, chosen=100, planned=300, not_asked=LATER)
    row = rows(data)[0]
    assert row.status == ("improvement" if better else "regression")
    assert row.p_value is not None
    assert row.p_adjusted is not None
    assert row.p_adjusted >= row.p_value


LATER = frozenset(f"c{n:03d}" for n in range(40, 100))  # asked after the first look


def begun(rate: float = 1.0, **columns: np.ndarray) -> SuiteData:
    """The first 40 of 100 cases were asked once."""
    was = {"success": np.ones((100, 4)), **columns}
    now = {name: values[:40, :1] for name, values in was.items()}
    now["success"] = passing(40, 1, failed=round(40 * (1.0 - rate)))
    specs = (SUCCESS, RECALL)[: len(was)]
    return suite_data(
        name="s",
        current=build(now, specs=specs),
        baseline=build(was, specs=specs),
        looks=Looks(calls=(40, 80, 120, 200)),
        made=40,
        chosen=100,
        planned=100,
        not_asked=LATER,
    )


def test_a_metric_of_few_cases_is_waited_for_and_not_missing() -> None:
    recall = np.full((100, 4), np.nan)
    recall[90:] = 0.5
    data = begun(recall=recall)
    assert look(data, rules=SEVERAL).suites == {"s"}
    found = decide([data], gates=(), regression=SEVERAL, policy=Policy())
    assert [(row.status, row.settled) for row in found.comparisons][1] == ("inconclusive", False)
    done = replace(data, tally=Tally(trials=100))
    assert look(done, rules=SEVERAL).suites == frozenset()
    found = decide([done], gates=(), regression=SEVERAL, policy=Policy())
    assert found.comparisons[1].status == "missing"


@pytest.mark.parametrize(("removed", "comparable"), [(10, True), (12, False)])
def test_removed_cases_are_counted_among_all_of_the_baseline(
    removed: int, comparable: bool
) -> None:
    """40 of 100 - removed cases were asked."""
    data = begun()
    not_asked, chosen = frozenset(sorted(LATER)[removed:]), 100 - removed
    there = replace(data, not_asked=not_asked, meta=replace(data.meta, cases=chosen))
    assert look(there).suites == {"s"}
    assert (rows(there)[0].status == "not_comparable") is not comparable


def test_cases_that_changed_are_counted_among_those_that_were_asked() -> None:
    data = begun()
    digests = (*(f"x{n}" for n in range(8)), *data.current.digests[8:])
    changed = replace(data, current=replace(data.current, digests=digests))
    assert rows(changed)[0].status == "not_comparable"
    assert look(changed).suites == {"s"}  # until all are known
    assert look(replace(changed, tally=Tally(trials=100))).suites == frozenset()


# -------------------------------------------------------------------------------------------- gates


def gate(**limits: object) -> GateRule:
    return GateRule(metric="agent.success_rate", **limits)


def test_a_gate_wants_an_answer_to_every_case() -> None:
    was = flaky(12, 0.8, 8)
    better = np.maximum(was, flaky(12, 0.9, 9))
    spared = frozenset(f"c{n:03d}" for n in range(50, 60))
    part = running(better[:50, :1], was, made=50, not_asked=spared)
    assert look(part).suites == frozenset()
    assert look(part, gates=[gate(min=0.5)]).suites == {"s"}
    assert look(running(better[:, :1], was), gates=[gate(min=0.5)]).suites == frozenset()


@pytest.mark.parametrize("baseline", [True, False])
def test_a_value_beyond_its_limit_gets_more_rounds_until_its_interval_tells(
    baseline: bool,
) -> None:
    now = flaky(6, 0.8, 8)
    was = now if baseline else None  # a comparison that has long settled

    def goes_on(rounds: int, limit: float, rule: Rule | None = None) -> bool:
        data = running(now[:, :rounds], was)
        return bool(look(data, gates=[gate(min=limit, rule=rule)]).suites)

    value = float(now[:, :3].mean())
    above, below = value + 0.02, value - 0.02
    assert goes_on(1, below)
    assert not goes_on(3, below)  # within: the planned rounds are enough
    assert goes_on(3, above)
    assert goes_on(5, above)
    assert not goes_on(6, above)  # the cap: the value decides
    assert not goes_on(3, above, "convicted")
    assert not goes_on(3, above, "proven")
    assert look(running(now[:, :3], was), gates=[gate(min=0.99)]).why.endswith("is broken")
    assert decide_gates(running(now, was), [gate(min=float(now.mean()) + 0.01)]) == ["fail"]


def test_the_rounds_beyond_the_planned_ones_are_not_chosen_by_what_they_show() -> None:
    """A value that comes back within its limit on the way has no more say than one that does
    not: the cap decides.
    """
    now = np.ones((60, 6))
    now[range(36), [case % 3 for case in range(36)]] = 0.0  # 0.8 after three rounds, then 0.85
    limit = [gate(min=0.84)]
    assert look(running(now[:, :3]), gates=limit).suites == {"s"}
    assert look(running(now[:, :4]), gates=limit).suites == {"s"}
    assert decide_gates(running(now), limit) == ["pass"]


def test_a_limit_that_is_broken_for_sure_ends_the_run() -> None:
    was, now = passing(60, 12, failed=40), passing(60, 1, failed=40)
    found = look(running(now, was), gates=[gate(min=0.8)])
    assert found.suites == frozenset()
    assert found.why == "the gate on `agent.success_rate` of s is broken"


@pytest.mark.parametrize(
    ("failed", "limit", "goes_on"),
    [
        (0, {"min": 0.3}, False),  # 60 of 180 passed: at least 0.33 whatever comes
        (0, {"min": 0.5}, False),  # the interval lies within
        (0, {"min": 0.95}, True),
        (60, {"min": 0.7}, False),  # the interval lies beyond: broken
        (0, {"max": 0.3}, False),
        (30, {"min": 0.1, "max": 0.9}, False),
        (30, {"min": 0.1, "max": 0.55}, True),
    ],
)
def test_a_limit_ends_a_run_where_its_interval_or_what_is_left_settles_it(
    failed: int, limit: dict[str, float], goes_on: bool
) -> None:
    now = passing(60, 1, failed=failed)
    was = np.zeros((60, 12))  # surely no worse than that, but for the limit
    found = look(running(now, was), gates=[gate(rule="point", **limit)])
    assert bool(found.suites) is goes_on


def test_a_point_limit_counts_the_cases_that_were_removed() -> None:
    """Five that main always failed are gone: the others cannot make up for them."""
    was = passing(60, 12, failed=5)[::-1]
    data = running(passing(55, 1), was, made=55, chosen=55, planned=110)
    near = [gate(min=0.95, rule="point")]
    assert look(data, gates=near).why == "the gate on `agent.success_rate` of s is broken"
    assert decide_gates(data, near) == ["fail"]
    assert look(data, gates=[gate(min=0.9, rule="point")]).suites == {"s"}


def test_a_limit_on_consistency_is_not_certain_after_one_round() -> None:
    spec = MetricSpec(
        name="agent.consistency",
        column="success",
        family="k_rounds",
        options={"k": 2, "wanted": "alike"},
    )
    tables = [
        build({"success": x}, specs=(spec,)) for x in (passing(60, 12, 30), passing(60, 1, 30))
    ]
    data = replace(running(passing(60, 1)), compared=Compared(table=tables[0]), current=tables[1])
    limit = GateRule(metric=spec.name, min=0.9, rule="point")
    assert look(data, gates=[limit]).suites == {"s"}


def decide_gates(data: SuiteData, gates: Sequence[GateRule]) -> list[str]:
    found = decide([data], gates=gates, regression=RegressionRules(), policy=Policy())
    return [row.status for row in found.gates]


@pytest.mark.parametrize("rule", ["point", "convicted", "proven"])
def test_a_gate_that_the_end_of_the_run_left_open_is_no_failure(rule: Rule) -> None:
    """Another suite ended the run when 40 of 100 cases were asked, by chance the hard ones."""
    limit = [gate(min=0.87, rule=rule)]
    data = begun(rate=0.7)
    assert decide_gates(data, limit) == ["inconclusive"]
    assert decide_gates(replace(data, not_run=60), limit) == ["fail"]  # a budget did
    assert decide_gates(replace(data, tally=Tally(trials=100)), limit) == ["fail"]


def test_a_gate_that_is_broken_for_certain_fails_however_the_run_ended() -> None:
    assert decide_gates(begun(rate=0.5), [gate(min=0.95)]) == ["fail"]  # at most 0.9 after 200
    assert decide_gates(begun(rate=0.9), [gate(min=1.0)]) == ["fail"]
    asked = running(passing(60, 1, failed=40), passing(60, 12))
    for rule in ("convicted", "proven"):
        assert decide_gates(asked, [gate(min=0.8, rule=rule)]) == ["fail"]
    assert decide_gates(running(passing(60, 1), passing(60, 12)), [gate(min=0.99)]) == ["pass"]


def test_a_gate_without_a_value_yet_is_not_missing() -> None:
    recall = np.full((100, 4), np.nan)
    recall[90:] = 0.5
    limit = [GateRule(metric=RECALL.name, min=0.2)]
    assert decide_gates(begun(recall=recall), limit) == ["inconclusive"]
    assert decide_gates(replace(begun(recall=recall), tally=Tally(trials=100)), limit) == [
        "missing"
    ]


@pytest.mark.parametrize(("level", "goes_on"), [("block", True), ("warn", False)])
def test_a_limit_that_only_warns_is_not_waited_for(level: Level, goes_on: bool) -> None:
    was = flaky(12, 0.8, 8)
    tables = [
        build({"success": x, "recall": x}, specs=(SUCCESS, RECALL)) for x in (was, was[:, :2])
    ]
    data = suite_data(
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
    both = suite_data(
        name="s",
        current=build(columns_c, specs=(SUCCESS, RECALL)),
        baseline=build(columns_b, specs=(SUCCESS, RECALL)),
        looks=PLAN,
        made=60,
        chosen=60,
        planned=180,
    )
    shared = decide([both], gates=(), regression=SEVERAL, policy=Policy())
    alone = decide([both], gates=(), regression=RegressionRules(), policy=Policy())
    worse = [found.comparisons[0].p_adjusted for found in (alone, shared)]
    assert worse[0] is not None
    assert worse[1] is not None
    assert worse[0] < worse[1]


def test_an_improvement_is_waited_for_where_somebody_asked() -> None:
    """`stop: both`: what is clearly not worse goes on until it is better, or not that either."""
    was, better = flaky(12, 0.7, 3), flaky(6, 0.85, 4)
    both = RegressionRules(stop="both")
    looks = [running(better[:, :rounds], was) for rounds in range(1, 7)]
    assert not look(looks[0]).suites
    going = [bool(look(data, rules=both).suites) for data in looks]
    assert going.index(False) > 0
    end = looks[going.index(False)]
    assert decide([end], gates=(), regression=both, policy=Policy()).comparisons[0].status == (
        "improvement"
    )
    assert look(running(flaky(1, 0.2, 5), was), rules=both).why.endswith("got worse")
