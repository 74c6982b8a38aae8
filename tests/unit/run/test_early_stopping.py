"""Which suites are looked at while they run, and after how many trials."""

from dataclasses import replace

import pytest

from gate.errors import UsageError
from gate.github.context import Job
from gate.records import (
    BaselineRules,
    Config,
    GateRule,
    Looks,
    PluginSpec,
    Policy,
    RegressionRules,
    Suite,
)
from gate.run.early_stopping import asks_again, extends, plan_looks, restore_looks, stops_early
from gate.run.prepare import SuitePlan
from gate.store.session import SuiteMeta
from tests.support.verdict_tables import SUCCESS

LAPTOP = Job()
PULL_REQUEST = Job(mode="pull_request", head_ref="topic")
MAIN = Job(mode="branch", head_ref="main")
TOPIC = Job(mode="branch", head_ref="topic")
NIGHT = Job(mode="schedule", head_ref="main")
RELEASE = Job(mode="release", head_ref="v1")
MIN = GateRule(metric="agent.success_rate", min=0.8)


def config(stop="early", agent="sample", branch="main", **more):
    return Config(
        agent=PluginSpec(name=agent),
        suites=(),
        regression=RegressionRules(stop=stop, max_rounds=more.pop("max_rounds", None)),
        baseline=BaselineRules(branch=branch),
        **more,
    )


def looked_at(*plans, compared="s", early=True, concurrency=16, **more):
    return plan_looks(
        plans, frozenset({compared}), config(**more), early=early, concurrency=concurrency
    )


def plan(name="s", cases=100, rounds=3):
    ids = frozenset(f"c{n}" for n in range(cases))
    return SuitePlan(
        suite=Suite(name=name, dataset="d", graders=(), rounds=rounds),
        graders={},
        dataset_digest="dd",
        digests=dict.fromkeys(ids, ""),
        chosen=ids,
        not_selected=0,
        specs={},
        grader_digests={},
        read=lambda ids: iter(()),
    )


@pytest.mark.parametrize(
    ("job", "early"),
    [
        (LAPTOP, True),
        (PULL_REQUEST, True),
        (TOPIC, True),
        (MAIN, False),
        (NIGHT, False),
        (RELEASE, False),
    ],
)
def test_a_run_stops_early_where_no_baseline_is_measured(job, early):
    assert stops_early(config(), job, None) is early


def test_the_base_branch_is_the_one_that_gate_yml_names():
    assert stops_early(config(branch="trunk"), MAIN, None)
    assert not stops_early(config(branch="topic"), TOPIC, None)


@pytest.mark.parametrize("job", [LAPTOP, PULL_REQUEST, MAIN, NIGHT, RELEASE])
def test_the_option_beats_gate_yml_and_the_event(job):
    assert stops_early(config("off"), job, "early")
    assert not stops_early(config("early"), job, "off")
    assert not stops_early(config("off"), job, None)


def test_a_doubt_after_all_planned_trials_may_be_worth_more_of_them():
    extend = Policy(inconclusive="extend")
    assert extends(config("off", policy=extend), PULL_REQUEST, None)
    assert extends(config(policy=extend), LAPTOP, "off")
    assert not extends(config(policy=extend), LAPTOP, None)  # goes on anyway
    assert not extends(config("off"), PULL_REQUEST, None)
    assert not extends(config("off", policy=extend), MAIN, None)
    assert not extends(config("off", policy=extend), RELEASE, None)
    assert not extends(config("off", policy=extend, agent="replay"), LAPTOP, None)


def test_a_second_look_at_the_cap_is_for_doubts():
    (one,) = looked_at(plan(), early=False)
    assert one.looks == Looks(calls=(300, 600))
    (none,) = looked_at(plan(), early=False, max_rounds=3)
    assert none.looks is None


@pytest.mark.parametrize(
    ("gate", "looks"),
    [
        (GateRule(metric="agent.success_rate", min=0.8), 600),  # beyond it: more rounds
        (GateRule(metric="agent.success_rate", min=0.8, rule="proven"), 300),
        (GateRule(metric="agent.success_rate", min=0.8, rule="convicted"), 300),
        (GateRule(metric="agent.success_rate", target=0.8), None),
        (GateRule(metric="agent.success_rate", min=0.8, level="warn"), None),
        (GateRule(metric="retrieval.mrr", min=0.8), None),
    ],
)
def test_without_a_baseline_only_a_limit_can_end_a_run_or_make_it_longer(gate, looks):
    measured = replace(plan(), specs={"agent.success_rate": SUCCESS})
    (one,) = looked_at(measured, compared="other", gates=(gate,))
    assert (one.looks.cap if one.looks else None) == looks


def test_a_limit_may_ask_for_more_than_the_planned_rounds_of_a_run_that_makes_them_all():
    measured = replace(plan(), specs={"agent.success_rate": SUCCESS})
    (one,) = looked_at(measured, compared="other", gates=(MIN,), early=False)
    assert one.looks == Looks(calls=(300, 600))
    (none,) = looked_at(measured, compared="other", gates=(MIN,), early=False, max_rounds=3)
    assert none.looks is None


def test_a_small_suite_with_a_limit_has_two_looks():
    measured = replace(plan(cases=3), specs={"agent.success_rate": SUCCESS})
    (one,) = looked_at(measured, gates=(MIN,))
    assert one.looks == Looks(calls=(9, 18))


@pytest.mark.parametrize(
    ("job", "again"),
    [(LAPTOP, False), (PULL_REQUEST, False), (MAIN, False), (NIGHT, False), (RELEASE, True)],
)
def test_a_release_asks_again_for_a_limit_and_what_measures_main_does_not(job, again):
    assert asks_again(config(), job, None) is again
    assert not asks_again(config("off"), job, None)
    assert not asks_again(config(), job, "off")
    assert not asks_again(config(agent="replay"), job, None)


def test_recorded_answers_are_replayed_whole_unless_asked_otherwise():
    assert not stops_early(config("early", agent="replay"), LAPTOP, None)
    assert stops_early(config(agent="replay"), LAPTOP, "early")


def test_suites_that_are_compared_get_looks_up_to_twice_their_rounds():
    compared, other = looked_at(plan("s"), plan("t"))
    assert compared.looks == Looks(calls=tuple(range(30, 601, 30)))
    assert other.looks is None
    assert compared.meta().looks == compared.looks


def test_max_rounds_is_the_cap_and_workers_stay_busy():
    (one,) = looked_at(plan(), max_rounds=4, concurrency=100)
    assert one.looks == Looks(calls=(100, 200, 300, 400))


@pytest.mark.parametrize(("cases", "concurrency"), [(0, 1), (3, 1), (10, 31)])
def test_a_suite_that_is_too_small_for_two_looks_has_none(cases, concurrency):
    (one,) = looked_at(plan(cases=cases), concurrency=concurrency)
    assert one.looks is None


def test_more_rounds_than_the_cap_are_refused():
    with pytest.raises(UsageError, match=r"^--rounds 5: suite 's' .*max_rounds: 4; "):
        looked_at(plan(rounds=5), max_rounds=4)


def test_a_session_keeps_the_looks_that_it_began_with():
    stored = SuiteMeta(dataset="d", dataset_digest="dd", rounds=3, cases=100)
    planned = replace(plan(), looks=Looks(calls=(300,)))
    (one,) = restore_looks((planned,), {"s": replace(stored, looks=Looks(calls=(10, 20)))})
    assert one.looks == Looks(calls=(10, 20))
    (one,) = restore_looks((planned,), {"s": stored})
    assert one.looks is None
