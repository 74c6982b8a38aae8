"""Two agents in one run: both are asked every trial, side by side, and their rows never mix."""

from collections import Counter
from dataclasses import replace
from threading import Lock
from time import sleep

import pytest

from gate.errors import AgentFailure, InfraFailure
from gate.records import Budget, Looks, Provenance
from gate.run.arms import Arm, Arms
from gate.run.batches import deal_rounds
from gate.run.pipeline import Effects, measure
from gate.store.session import CONTROL, Meta, SessionWriter, SuiteMeta
from gate.system.signals import Stop
from gate.verdict.course import course
from tests.support.queued_agent import PRICES, WORLD, QueuedAgent, Said, YesAgent, suite_plan


class Log(YesAgent):
    """Says yes and writes its name into a list that both agents share."""

    def __init__(self, name, shared, answer="yes"):
        super().__init__()
        self.name, self.shared, self.answer = name, shared, answer

    def ask(self, case, *, timeout_s):
        self.shared.append((self.name, case.id))
        return super().ask(case, timeout_s=timeout_s)


@pytest.fixture
def sessions(tmp_path):
    """The run's session and the one inside it."""
    suite = SuiteMeta(dataset="d", dataset_digest="dd", rounds=1, cases=1)
    meta = Meta(
        session_id="x",
        created_at="2026-11-20T00:00:00Z",
        provenance=Provenance(),
        suites={"s": suite},
    )
    with (
        SessionWriter.create(tmp_path, meta, str) as own,
        SessionWriter.make(own.folder / CONTROL, meta, str) as control,
    ):
        yield own, control


def collect(sessions, agent, control, *plans, budget=None, undecided=None, beside=None, seen=None):
    own, inner = sessions
    effects = Effects(
        world=WORLD,
        session=own,
        control=inner,
        stop=Stop(),
        progress=(seen if seen is not None else []).append,
        beside=(beside if beside is not None else []).append,
    )
    looks = {one.suite.name: one.looks for one in plans if one.looks}
    return measure(
        plans,
        agent,
        effects,
        budget=budget or Budget(),
        prices=PRICES,
        control=control,
        course=course(looks, "seed", own.log.look),
        undecided=undecided or (lambda so_far: Said(frozenset(looks))),
    )


def trials(session):
    return sorted((row["case_id"], row["round"], row["output"]) for row in session.rows())


def test_both_are_asked_each_trial_right_after_each_other_and_take_turns(sessions):
    shared = []
    ids = [f"c{n}" for n in range(12)]
    collect(sessions, Log("new", shared), Log("old", shared), suite_plan(*ids, rounds=2))
    assert Counter(shared) == dict.fromkeys([(who, i) for who in ("new", "old") for i in ids], 2)
    pairs = [(shared[n], shared[n + 1]) for n in range(0, len(shared), 2)]
    assert all(a[1] == b[1] and a[0] != b[0] for a, b in pairs)
    first = {i: [a[0] for a, b in pairs if a[1] == i] for i in ids}
    assert all(sorted(who) == ["new", "old"] for who in first.values()), "each comes first once"
    assert {who[0] for who in first.values()} == {"new", "old"}, "and neither in a whole round"


def test_rows_columns_counts_and_progress_are_kept_apart(sessions):
    seen, beside = [], []
    new = QueuedAgent(a=["no"], b=[AgentFailure("boom")])
    old = QueuedAgent(a=["yes"], b=["yes"])
    found = collect(sessions, new, old, suite_plan("a", "b"), seen=seen, beside=beside)
    own, control = sessions
    assert trials(own) == [("a", 1, "no"), ("b", 1, None)]
    assert trials(control) == [("a", 1, "yes"), ("b", 1, "yes")]
    assert [row["passed"] for row in seen] == [False, False]
    assert [row["passed"] for row in beside] == [True, True]
    assert list(found.columns["s"].values["success"]) == [0.0, 0.0]
    assert list(found.control.columns["s"].values["success"]) == [1.0, 1.0]
    assert (found.tallies["s"].usd, found.control.tallies["s"].usd) == pytest.approx((2.0, 4.0))
    assert found.control.meta == control.meta


def test_what_each_has_answered_is_not_asked_again(sessions):
    first_new = QueuedAgent(a=["yes"], b=["yes"])
    first_old = QueuedAgent(a=["yes"], b=[InfraFailure("down")])
    collect(sessions, first_new, first_old, suite_plan("a", "b"))
    new, old = YesAgent(), YesAgent()
    found = collect(sessions, new, old, suite_plan("a", "b"))
    assert (new.asked, old.asked) == ([], ["b"])
    assert found.control.tallies["s"].infra_errors == 0
    assert found.control.tallies["s"].trials == found.tallies["s"].trials == 2


def test_cases_that_only_the_change_has_are_asked_of_it_alone(sessions):
    new, old = YesAgent(), YesAgent()
    collect(sessions, new, old, replace(suite_plan("a", "b"), new_cases=frozenset({"b"})))
    assert (sorted(new.asked), old.asked) == (["a", "b"], ["a"])
    again = YesAgent()
    collect(sessions, again, again, replace(suite_plan("a", "b"), new_cases=frozenset({"b"})))
    assert again.asked == []


def test_the_calls_of_both_count_against_the_budget_also_after_a_resume(sessions):
    ids = [f"c{n}" for n in range(9)]
    new, old = YesAgent(), YesAgent()
    found = collect(sessions, new, old, suite_plan(*ids), budget=Budget(calls=10))
    assert found.ended_early == "the budget of 10 calls was used up after 10 of 18 calls"
    assert (len(new.asked), len(old.asked)) == (5, 5)
    more = YesAgent()
    collect(sessions, more, more, suite_plan(*ids), budget=Budget(calls=12))
    assert len(more.asked) == 2


def test_a_look_comes_when_both_have_answered_the_batch(sessions):
    seen = []

    def undecided(so_far):
        seen.append((so_far.tallies["s"].trials, so_far.control.tallies["s"].trials))
        return Said(frozenset({"s"}))

    looks = Looks(calls=(4, 8))
    ids = [f"c{n}" for n in range(4)]
    collect(sessions, YesAgent(), YesAgent(), suite_plan(*ids, looks=looks), undecided=undecided)
    assert seen == [(4, 4), (8, 8)]


def test_two_agents_share_the_workers_of_the_one_that_allows_fewer(sessions):
    lock, running, most = Lock(), [], []

    class Slow(YesAgent):
        concurrency = 8

        def ask(self, case, *, timeout_s):
            with lock:
                running.append(1)
                most.append(len(running))
            sleep(0.01)
            with lock:
                running.pop()
            return super().ask(case, timeout_s=timeout_s)

    one = Slow()
    one.concurrency = 2
    collect(sessions, Slow(), one, suite_plan(*(f"c{n}" for n in range(8))))
    assert max(most) == 2


def test_what_is_recorded_are_the_candidates_answers(sessions):
    kept = []
    own, inner = sessions
    effects = Effects(
        world=WORLD,
        session=own,
        control=inner,
        stop=Stop(),
        progress=lambda row: None,
        record=lambda case, number, answer, ms: kept.append(answer.answer),
    )
    new, old = QueuedAgent(a=["new"]), QueuedAgent(a=["old"])
    measure([suite_plan("a")], new, effects, budget=Budget(), prices={}, control=old)
    assert kept == ["new"]


def test_without_a_control_nothing_is_asked_twice(sessions):
    own, _ = sessions
    arms = Arms(Arm(own, ["s"]), None, {})
    todo = list(deal_rounds([suite_plan("a", "b").task_source()], arms.done))
    assert list(arms.side_by_side(todo)) == todo
