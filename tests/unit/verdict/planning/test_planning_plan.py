"""From rules and stored rounds to a plan: what is counted, what is told, what is advised."""

from dataclasses import replace

import numpy as np
import pytest

from gate.records import (
    BaselineInfo,
    BaselineRules,
    Config,
    GateRule,
    MetricRule,
    MetricSpec,
    PluginSpec,
    RegressionRules,
    Tolerance,
)
from gate.records.codec import to_json
from gate.stats.planning import PlanSize, Risks, fewest_cases
from gate.verdict.planning.plan import PlannedSuite, plan
from tests.support.verdict_tables import (
    COST,
    RECALL,
    SPECS,
    SUCCESS,
    build,
    latencies,
    noisy,
)

PRICE = MetricSpec(
    name="operational.estimated_cost_per_query",
    column="cost_usd",
    family="log_mean",
    unit="USD",
    direction="lower",
    high=None,
)
ALL = {spec.name: spec for spec in (*SPECS, PRICE)}
CONFIG = Config(agent=PluginSpec(name="sample"), suites=())
RECALL_GATE = GateRule(metric=RECALL.name, min=0.6)


def table(cases=100, rounds=12, *, mean=0.8, price=0.01):
    return build(
        {
            "success": noisy(cases, rounds, mean, seed=1),
            "recall": np.random.default_rng(2).uniform(0, 1, (cases, rounds)),
            "latency_ms": latencies(cases, rounds),
            "cost_usd": np.full((cases, rounds), price),
        },
        specs=tuple(ALL.values()),
    )


def subject(stored=None, *, cases=100, rounds=3, **more):
    info = BaselineInfo(source="repo" if stored else "none", rounds=stored.rounds if stored else 0)
    return PlannedSuite(
        **{
            "name": "s",
            "cases": cases,
            "rounds": rounds,
            "specs": ALL,
            "table": stored,
            "baseline": info,
            **more,
        }
    )


def suite(stored=None, config=CONFIG, **more):
    return plan([subject(stored, **more)], config).suites[0]


def rules(**more):
    return replace(CONFIG, regression=RegressionRules(**more))


def test_success_comes_first_and_what_is_only_shown_is_left_out():
    config = replace(CONFIG, gates=(RECALL_GATE, GateRule(metric=COST.name, max=1, level="warn")))
    assert [one.metric for one in suite(table(), config).metrics] == [SUCCESS.name, RECALL.name]


def test_alpha_is_shared_by_the_blocking_metrics_of_all_suites():
    config = replace(CONFIG, gates=(RECALL_GATE,))
    two = plan([subject(table()), subject(table(), name="t", gates=())], config)
    assert two.tests == 4
    alone = suite(table()).metrics[0].mde
    assert two.suites[0].metrics[0].mde > alone


def test_a_metric_that_main_never_measured_takes_no_share_of_alpha():
    stored = table()
    unmeasured = replace(
        stored, columns={name: x for name, x in stored.columns.items() if name != "recall"}
    )
    found = plan([subject(unmeasured)], replace(CONFIG, gates=(RECALL_GATE,)))
    assert found.tests == 1


def test_calls_and_dollars_of_a_run():
    found = suite(table())
    assert (found.planned.calls, found.at_most.calls) == (300, 600)
    assert found.at_most.usd == pytest.approx(6.0)
    assert 150 < found.unchanged.calls < 230
    assert found.unchanged == found.unchanged_apart  # of one metric


def test_several_metrics_end_later_than_one():
    found = suite(table(), replace(CONFIG, gates=(RECALL_GATE,)))
    assert found.unchanged.calls < found.unchanged_apart.calls < found.at_most.calls


def test_an_unknown_price_is_unknown_and_a_free_agent_is_free():
    assert suite(table(price=np.nan)).at_most.usd is None
    assert suite(table(price=0.0)).at_most.usd == 0.0


def test_more_of_everything_sees_more():
    now = suite(table())
    by_kind = {action.kind: action for action in now.actions}
    assert set(by_kind) == {"baseline", "rounds", "cases"}
    assert all(action.mde < now.metrics[0].mde for action in now.actions)
    assert by_kind["cases"].calls.calls == by_kind["rounds"].calls.calls == 1200
    assert by_kind["baseline"].calls.calls == 600


def test_targets_hold_what_they_promise():
    """As many cases as a target asks for make its change the least that is caught."""
    found = suite(table(rounds=15))
    for target in found.metrics[0].targets[1:]:
        enough = suite(table(target.cases, 15), cases=target.cases).metrics[0]
        assert enough.mde == pytest.approx(target.change, rel=0.2)  # of another sample
        assert target.caught == pytest.approx(0.8, abs=0.03)
        assert target.floor_unchanged < target.unchanged.calls < target.fixed.calls
        assert target.fixed.calls < target.at_most.calls


def test_the_tolerance_is_the_least_that_is_ever_caught():
    wide = rules(tolerance=Tolerance(value=0.2))
    found = suite(table(), wide).metrics[0]
    assert found.mde > 0.2
    assert found.targets == ()
    equal = suite(table(), rules(tolerance=Tolerance(value=0.1))).metrics[0].targets
    assert [target.change for target in equal] == [0.1]
    assert equal[0].caught < 0.7


def test_stop_off_makes_every_round_at_once():
    found = suite(table(), rules(stop="off"))
    assert (found.rounds, found.max_rounds, found.looks) == (3, 3, 1)
    assert found.metrics[0].mde == found.metrics[0].mde_fixed
    assert found.unchanged.calls == found.at_most.calls == 300


def test_max_rounds_is_the_cap():
    assert suite(table(), rules(max_rounds=5)).at_most.calls == 500


def test_a_fresh_control_is_asked_as_often():
    found = suite(table(), rules(control="fresh"))
    assert found.at_most.calls == 1200
    assert found.metrics[0].mde > suite(table()).metrics[0].mde
    assert "baseline" not in {action.kind for action in found.actions}


def test_the_session_effect_makes_it_see_less():
    blurred = suite(table(), drift={SUCCESS.name: 0.03**2}).metrics[0]
    assert blurred.mde > suite(table()).metrics[0].mde
    assert [target.cases for target in blurred.targets[:1]] == [None]


def test_without_a_baseline_the_gates_say_what_to_expect():
    config = replace(CONFIG, gates=(RECALL_GATE,))
    found = suite(None, config)
    assert found.assumed
    assert [one.value for one in found.metrics] == [0.8, 0.6]
    assert [one.variance for one in found.metrics] == pytest.approx([0.08, 0.12])
    assert found.best.kind == "baseline"
    assert found.at_most.usd is None


def test_a_grader_that_changed_has_to_be_measured_once_more():
    stored = replace(table(), graders={"success": "old"})
    found = suite(stored, graders={"success": "new"})
    assert found.metrics[0].mde is None
    assert "its grader differs from the baseline's" in found.metrics[0].reason
    assert found.best is None


def test_other_scales_are_planned_for_in_their_own_sizes():
    latency = MetricRule(metric="operational.p95_latency_ms", level="block")
    judged = MetricRule(metric="correctness.factual_correctness", tolerance=Tolerance(value=0.01))
    config = rules(metrics={latency.metric: latency, judged.metric: judged})
    stored = table()
    stored.columns["judge"] = np.random.default_rng(3).uniform(1, 5, (100, 12))
    by_name = {one.metric: one for one in suite(stored, config).metrics}
    assert [t.change for t in by_name[latency.metric].targets] == [0.05, 0.1]
    assert by_name[latency.metric].relative
    assert [t.change for t in by_name[judged.metric].targets] == pytest.approx([0.08, 0.2, 0.4])


@pytest.mark.parametrize(
    ("stored", "more", "kind"),
    [
        (table(rounds=3), {}, "baseline"),  # free for pull requests, and it helps
        (table(rounds=15), {}, "cases"),
        (table(rounds=15), {"rounds": 1}, "rounds"),  # about as good, and less work
        (table(5_000, 15), {"cases": 5_000}, None),  # sees what can ever block
        (table(rounds=1), {}, "baseline"),  # a guess is no plan
    ],
)
def test_the_best_next_action(stored, more, kind):
    best = suite(stored, **more).best
    assert (best.kind if best else None) == kind


def test_many_blocking_metrics_are_too_many():
    specs = {f"m.{n}": replace(RECALL, name=f"m.{n}") for n in range(40)}
    config = rules(metrics={name: MetricRule(metric=name) for name in specs})
    found = suite(table(rounds=15), config, specs={**ALL, **specs})
    assert found.best.kind == "metrics"


def test_a_baseline_that_is_full_keeps_more():
    config = replace(CONFIG, baseline=BaselineRules(keep_rounds=4))
    action = suite(table(rounds=4), config).actions[0]
    assert (action.kind, action.value) == ("baseline", 12)


def test_a_plan_is_json_and_the_same_each_time():
    subjects = [subject(table()), subject(None, name="t")]
    assert to_json(plan(subjects, CONFIG)) == to_json(plan(subjects, CONFIG))


def limits_of(stored, **limits):
    gate = GateRule(metric=SUCCESS.name, **limits)
    return suite(stored, gates=(gate,)).limits


def test_a_limit_that_noise_alone_often_misses_is_told_with_a_safer_one():
    (found,) = limits_of(table(), min=0.79)
    assert 0.1 < found.odds.chance < 0.6
    assert found.risky
    assert 0.6 < found.safer < 0.79
    (then,) = limits_of(table(), min=found.safer)
    assert 0.02 < then.odds.chance <= 0.05
    assert not then.risky


def test_more_cases_and_more_rounds_make_it_rarer():
    def odds(**more):
        gate = GateRule(metric=SUCCESS.name, min=0.77)
        return suite(table(), gates=(gate,), **more).limits[0].odds.chance

    assert odds() > 1.5 * odds(rounds=6)
    assert odds() > 1.5 * odds(cases=300)


def test_without_a_baseline_the_odds_are_those_of_an_agent_at_the_target_or_unknown():
    (found,) = limits_of(None, min=0.85, target=0.9)
    assert 0.0 < found.odds.chance < 0.5
    assert "an agent exactly at the target" in found.odds.why
    (unknown,) = limits_of(None, min=0.85)
    assert (unknown.odds.chance, unknown.odds.why) == (None, "there is no baseline")
    assert not unknown.risky


def test_a_suite_of_three_cases_is_planned_from_its_baseline():
    assert not suite(table(3, 15), cases=3, rounds=5).assumed


def test_as_few_cases_are_advised_as_the_worst_answers_could_be_told_by():
    risks = Risks(alpha=0.01, beta=0.2)
    assert fewest_cases(PlanSize(cases=1, rounds=5, rounds_b=15), risks) < 1
    assert fewest_cases(PlanSize(cases=1, rounds=1, rounds_b=1), risks) == pytest.approx(
        5.644, abs=1e-3
    )
