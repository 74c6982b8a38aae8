"""Which suites are looked at while they run, and after how many trials."""

from dataclasses import replace

import pytest

from gate.archive import SuiteMeta
from gate.errors import UsageError
from gate.github.context import Job
from gate.prepare import SuitePlan
from gate.records import BaselineRules, Config, Looks, PluginSpec, RegressionRules, Suite
from gate.stopping import as_begun, stops_early, with_looks

LAPTOP = Job()
PULL_REQUEST = Job(mode="pull_request", head_ref="topic")
MAIN = Job(mode="branch", head_ref="main")
TOPIC = Job(mode="branch", head_ref="topic")
NIGHT = Job(mode="schedule", head_ref="main")
RELEASE = Job(mode="release", head_ref="v1")


def config(stop=None, agent="sample", branch="main"):
    return Config(
        agent=PluginSpec(name=agent),
        suites=(),
        regression=RegressionRules(stop=stop),
        baseline=BaselineRules(branch=branch),
    )


def plan(name="s", cases=100, rounds=3):
    ids = frozenset(f"c{n}" for n in range(cases))
    return SuitePlan(
        suite=Suite(name=name, dataset="d", graders=(), rounds=rounds),
        graders={},
        dataset_digest="dd",
        all_ids=ids,
        chosen=ids,
        not_selected=0,
        specs={},
        grader_digests={},
        read=lambda: iter(()),
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
def test_a_silent_gate_yml_stops_early_where_no_baseline_is_measured(job, early):
    assert stops_early(config(), job, None) is early


def test_the_base_branch_is_the_one_that_gate_yml_names():
    assert stops_early(config(branch="trunk"), MAIN, None)
    assert not stops_early(config(branch="topic"), TOPIC, None)


@pytest.mark.parametrize("job", [LAPTOP, PULL_REQUEST, MAIN, NIGHT, RELEASE])
def test_the_option_beats_gate_yml_and_gate_yml_beats_the_event(job):
    assert stops_early(config("off"), job, "early")
    assert not stops_early(config("early"), job, "off")
    assert stops_early(config("early"), job, None)
    assert not stops_early(config("off"), job, None)


def test_recorded_answers_are_replayed_whole_unless_asked_otherwise():
    assert not stops_early(config("early", agent="replay"), LAPTOP, None)
    assert stops_early(config(agent="replay"), LAPTOP, "early")


def test_suites_that_are_compared_get_looks_up_to_twice_their_rounds():
    compared, other = with_looks(
        (plan("s"), plan("t")), frozenset({"s"}), RegressionRules(), concurrency=16
    )
    assert compared.looks == Looks(calls=tuple(range(60, 601, 60)))
    assert other.looks is None
    assert compared.meta().looks == compared.looks


def test_max_rounds_is_the_cap_and_workers_stay_busy():
    (one,) = with_looks((plan(),), frozenset({"s"}), RegressionRules(max_rounds=4), concurrency=100)
    assert one.looks == Looks(calls=(100, 200, 300, 400))


@pytest.mark.parametrize(("cases", "concurrency"), [(0, 1), (3, 1), (10, 31)])
def test_a_suite_that_is_too_small_for_two_looks_has_none(cases, concurrency):
    (one,) = with_looks(
        (plan(cases=cases),), frozenset({"s"}), RegressionRules(), concurrency=concurrency
    )
    assert one.looks is None


def test_more_rounds_than_the_cap_are_refused():
    with pytest.raises(UsageError, match=r"^--rounds 5: suite 's' .*max_rounds: 4; "):
        with_looks(
            (plan(rounds=5),), frozenset({"s"}), RegressionRules(max_rounds=4), concurrency=1
        )


def test_a_session_keeps_the_looks_that_it_began_with():
    stored = SuiteMeta(dataset="d", dataset_digest="dd", rounds=3, cases=100)
    planned = replace(plan(), looks=Looks(calls=(300,)))
    (one,) = as_begun((planned,), {"s": replace(stored, looks=Looks(calls=(10, 20)))})
    assert one.looks == Looks(calls=(10, 20))
    (one,) = as_begun((planned,), {"s": stored})
    assert one.looks is None
