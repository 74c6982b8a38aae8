"""Trials to rows to tables, with an agent made of answers and a real session folder."""

import signal
import threading
import time
from collections import Counter, deque
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gate.agents.under_test import check_health
from gate.errors import AgentFailure, InfraFailure, Interrupted, UsageError
from gate.graders.exact_match import ExactMatch
from gate.records import Budget, Looks, Provenance, Question, Reply, Response, Usage
from gate.run.pipeline import Effects, measure
from gate.store.session import Meta, SessionWriter, SuiteMeta
from gate.system.clock import Clock
from gate.system.signals import Stop
from gate.verdict.course import SETTLED, course
from tests.support.queued_agent import PRICES, WORLD, QueuedAgent, Said, YesAgent, suite_plan


@pytest.fixture
def session(tmp_path):
    meta = Meta(
        session_id="x",
        created_at="2026-11-20T00:00:00Z",
        provenance=Provenance(),
        suites={"s": SuiteMeta(dataset="d", dataset_digest="dd", rounds=1, cases=1)},
    )
    with SessionWriter.create(tmp_path, meta, lambda text: text) as made:
        yield made


def collect(session, agent, *plans, budget=None, stop=None, seen=None, undecided=None, **more):
    effects = Effects(
        world=WORLD,
        session=session,
        stop=stop or Stop(),
        progress=(seen if seen is not None else []).append,
        clock=Clock(now=lambda: datetime(2026, 11, 20, tzinfo=UTC)),
        **more,
    )
    looks = {one.suite.name: one.looks for one in plans if one.looks}
    return measure(
        plans,
        agent,
        effects,
        budget=budget or Budget(),
        prices=PRICES,
        course=course(looks, "seed", session.log.look),
        undecided=undecided or (lambda so_far: Said(frozenset(looks))),
    )


class Looking:
    """Says after each batch what was written down for it, and keeps what was there."""

    def __init__(self, *said):
        self.said = deque(said)
        self.trials = []

    def __call__(self, so_far):
        self.trials.append({name: tally.trials for name, tally in so_far.tallies.items()})
        return self.said.popleft()


@pytest.mark.parametrize(("trials", "begun"), [(100, False), (101, True), (250, True)])
def test_where_answers_come_without_a_pause_the_work_for_pauses_is_begun_all_the_same(
    session, trials, begun
):
    """Otherwise all of it would be left for the time after the last answer."""
    cases, seen, after = [f"c{n}" for n in range(trials)], [], []
    agent = QueuedAgent(**{case: ["yes"] for case in cases})
    collect(session, agent, suite_plan(*cases), seen=seen, idle=lambda: after.append(len(seen)))
    assert (101 in after) is begun


def goes_on(*names):
    return Said(frozenset(names))


def test_each_trial_is_a_row_on_disk_a_tally_and_a_column(session):
    agent, seen = QueuedAgent(a=["yes"], b=["no"], c=[AgentFailure("boom")]), []
    collected = collect(session, agent, suite_plan("a", "b", "c"), seen=seen)
    rows = {row["case_id"]: row for row in session.rows()}
    assert [row["case_id"] for row in seen] == ["a", "b", "c"]
    assert {case: row["passed"] for case, row in rows.items()} == {
        "a": True,
        "b": False,
        "c": False,
    }
    assert rows["a"]["cost_usd"] == pytest.approx(2.0)
    assert rows["c"]["cost_usd"] is None
    assert rows["c"]["scores"] == {"correctness.exact_match": 0.0}
    tally = collected.tallies["s"]
    assert (tally.trials, tally.agent_errors, tally.usd) == (3, 1, pytest.approx(4.0))
    assert list(collected.columns["s"].values["success"]) == [1.0, 0.0, 0.0]
    assert collected.ended_early == ""


def test_what_is_done_is_not_asked_again_and_what_nobody_answered_is(session):
    first = QueuedAgent(a=["yes"], b=[InfraFailure("down")])
    collect(session, first, suite_plan("a", "b"))
    second = QueuedAgent(b=["yes"])
    collected = collect(session, second, suite_plan("a", "b"))
    assert second.asked == ["b"]
    assert collected.tallies["s"].trials == 2
    assert collected.tallies["s"].infra_errors == 0
    assert [row["status"] for row in session.rows()] == ["completed"] * 2


def test_without_an_agent_what_is_there_is_collected(session):
    collect(session, QueuedAgent(a=["yes"], b=[InfraFailure("down")]), suite_plan("a", "b"))
    collected = collect(session, None, suite_plan("a", "b"))
    assert (collected.tallies["s"].trials, collected.tallies["s"].infra_errors) == (2, 1)


def test_an_unanswered_trial_stays_one_when_the_budget_ends_before_it_is_asked_again(session):
    collect(
        session,
        QueuedAgent(a=[InfraFailure("down")], b=[InfraFailure("down")]),
        suite_plan("a", "b"),
    )
    collected = collect(
        session, QueuedAgent(a=["yes"]), suite_plan("a", "b"), budget=Budget(calls=1)
    )
    assert (collected.tallies["s"].trials, collected.tallies["s"].infra_errors) == (2, 1)
    assert collected.ended_early == "the budget of 1 call was used up after 2 of 2 calls"


def test_a_stop_keeps_what_is_finished_and_says_how_to_go_on(session):
    stop = Stop()
    seen = []

    class Stopping(QueuedAgent):
        def ask(self, case, *, timeout_s):
            if not stop.is_requested():  # a second one would end it at once
                stop._on_signal(signal.SIGINT, None)
            return super().ask(case, timeout_s=timeout_s)

    with pytest.raises(Interrupted, match="gate run --resume") as caught:
        collect(session, Stopping(a=["yes"], b=["yes"]), suite_plan("a", "b"), stop=stop, seen=seen)
    assert caught.value.exit_code == 130
    assert len(list(session.rows())) == len(seen) >= 1


IDS = tuple(f"c{n:02}" for n in range(10))
FORTY = Looks(calls=(10, 20, 30, 40))


def test_a_run_ends_at_the_look_that_settles_it(session):
    look, agent = Looking(goes_on("s"), Said(why="all is well")), YesAgent()
    collected = collect(session, agent, suite_plan(*IDS, rounds=3, looks=FORTY), undecided=look)
    assert look.trials == [{"s": 10}, {"s": 20}]
    assert Counter(agent.asked) == Counter(IDS * 2)  # two rounds of the three
    assert collected.ended_early == ""
    assert (collected.course.made, collected.course.ended) == ({"s": 2}, {"s": "all is well"})


def test_a_run_that_stays_undecided_ends_at_its_cap(session):
    agent = YesAgent()
    collected = collect(session, agent, suite_plan(*IDS, rounds=3, looks=FORTY))
    assert Counter(agent.asked) == Counter(IDS * 4)
    assert collected.course.ended == {"s": "all 40 trials were run"}


def test_settled_suites_rest_while_the_others_go_on(session):
    plans = [
        suite_plan(*IDS, name="s", looks=FORTY),
        suite_plan(*IDS, name="t", looks=FORTY),
        suite_plan("u1", rounds=3, name="u"),
    ]
    look = Looking(goes_on("s", "t"), goes_on("t"), Said(why="all is well"))
    collected = collect(session, YesAgent(), *plans, undecided=look)
    assert look.trials == [
        {"s": 10, "t": 10, "u": 3},
        {"s": 20, "t": 20, "u": 3},
        {"s": 20, "t": 30, "u": 3},
    ]
    assert collected.course.ended == {"s": SETTLED, "t": "all is well"}


def test_no_trial_of_the_next_batch_is_made_before_the_look(session):
    asked_before = []

    class Slow(YesAgent):
        concurrency = 4

        def ask(self, case, *, timeout_s):
            time.sleep(0.002)
            return super().ask(case, timeout_s=timeout_s)

    agent = Slow()

    def look(so_far):
        asked_before.append(len(agent.asked))
        return goes_on("s")

    collect(session, agent, suite_plan(*IDS, looks=FORTY), undecided=look)
    assert asked_before == [10, 20, 30, 40]


def test_a_budget_between_two_looks_ends_the_run_without_a_look(session):
    look = Looking(goes_on("s"))
    made = collect(
        session, YesAgent(), suite_plan(*IDS, looks=FORTY), budget=Budget(calls=13), undecided=look
    )
    assert (made.tallies["s"].trials, made.course.made) == (13, {"s": 1})
    assert made.ended_early == "the budget of 13 calls was used up after 13 of 40 calls"
    assert made.course.going == {"s"}


def test_a_budget_that_the_verdict_does_not_need_did_not_end_the_run(session):
    look = Looking(Said(why="all is well"))
    made = collect(
        session, YesAgent(), suite_plan(*IDS, looks=FORTY), budget=Budget(calls=10), undecided=look
    )
    assert made.ended_early == ""


def cut_off(session, agent, *plans, after, undecided=None):
    """A run that is interrupted after so many trials."""
    stop = Stop()

    class Progress(list):
        def append(self, row):
            super().append(row)
            if len(self) == after:
                stop._on_signal(signal.SIGINT, None)

    with pytest.raises(Interrupted):
        collect(session, agent, *plans, stop=stop, seen=Progress(), undecided=undecided)


@pytest.mark.parametrize("after", [1, 9, 10, 15, 20, 29])
def test_an_interrupted_run_goes_on_where_it_was(session, after):
    one, said = suite_plan(*IDS, looks=FORTY), [goes_on("s"), goes_on("s"), Said(why="well")]
    looking = Looking(*said)
    cut_off(session, YesAgent(), one, after=after, undecided=looking)
    collected = collect(session, YesAgent(), one, undecided=Looking(*looking.said))
    rows = [(row["case_id"], row["round"]) for row in session.rows()]
    assert Counter(rows) == Counter((i, r) for i in IDS for r in (1, 2, 3))
    assert collected.tallies["s"].trials == 30
    assert (collected.course.made, collected.course.ended) == ({"s": 3}, {"s": "well"})


def test_a_run_that_had_ended_gets_one_batch_more_and_no_trial_is_replaced(session):
    one = suite_plan(*IDS, looks=FORTY)
    collect(session, YesAgent(), one, undecided=Looking(Said(why="worse")))
    before = list(session.rows())
    look, agent = Looking(Said(why="still worse")), YesAgent()
    again = collect(session, agent, one, undecided=look)
    assert look.trials == [{"s": 20}]
    assert len(agent.asked) == 10
    assert again.course.ended == {"s": "still worse"}
    assert [row for row in session.rows() if row["round"] == 1] == before
    for _ in range(2):
        collect(session, YesAgent(), one, undecided=lambda so_far: Said(why="worse"))
    nobody = YesAgent()
    at_cap = collect(session, nobody, one)
    assert (nobody.asked, at_cap.course.made) == ([], {"s": 4})


def test_what_nobody_answered_is_part_of_the_look(session):
    refused = InfraFailure("down")
    agent = QueuedAgent(**{i: [refused if i == "c03" else "yes"] * 2 for i in IDS})
    look = Looking(goes_on("s"), Said(why="well"))
    made = collect(session, agent, suite_plan(*IDS, looks=FORTY), undecided=look)
    assert look.trials == [{"s": 10}, {"s": 20}]
    assert made.tallies["s"].infra_errors == 2


def test_an_earlier_batch_is_mended_before_the_next_look(session):
    one = suite_plan(*IDS, looks=FORTY)
    broken = QueuedAgent(**{i: [InfraFailure("down") if i == "c03" else "yes"] for i in IDS})
    collect(session, broken, one, undecided=Looking(Said(why="worse")))
    look = Looking(Said(why="well"))
    made = collect(session, YesAgent(), one, undecided=look)
    assert look.trials == [{"s": 20}]
    assert made.tallies["s"].infra_errors == 0


def test_looks_need_somebody_who_looks(session):
    effects = Effects(world=WORLD, session=session, stop=Stop(), progress=lambda row: None)
    one = suite_plan("a", looks=Looks(calls=(1, 2)))
    begun = course({"s": one.looks}, "", None)
    with pytest.raises(ValueError, match="somebody who looks"):
        measure([one], YesAgent(), effects, budget=Budget(), prices={}, course=begun)


def test_health_says_whether_the_agent_can_be_asked_and_if_not_why():
    class Well(QueuedAgent):
        def check(self, world):
            return 200

    ill, well = check_health(QueuedAgent(), WORLD), check_health(Well(), WORLD)
    assert (ill.ok, ill.status, ill.error) == (False, None, "nobody is there: start it")
    assert (well.ok, well.status, well.error) == (True, 200, "")
    assert well.latency_ms >= 0


# ----------------------------------------------------------------------------------- a judge


class Judged(ExactMatch):
    """Asks a judge about every answer."""

    role = "judge"

    def questions(self, case, response):
        return (Question(role="judge", name="q", instructions="", material="", schema={}),)

    def read(self, case, response, replies):
        return self.grade(case, response)


def judged_plan(*ids):
    found = suite_plan(*ids)
    return replace(found, graders={"judge": Judged()})


def test_a_judge_that_takes_its_time_leaves_the_agent_to_other_answers(session):
    """One agent call at a time, and the second one is made while the first answer is judged."""
    second = threading.Event()

    class Agent(YesAgent):
        def ask(self, case, *, timeout_s):
            if self.asked:
                second.set()
            return super().ask(case, timeout_s=timeout_s)

    def ask(case, questions):
        waited = second.wait(10.0)
        return [(Reply(data={"meanwhile": waited}, calls=1, cost_usd=0.25),)]

    agent = Agent()
    collected = collect(session, agent, judged_plan("a", "b"), ask=ask, beyond=2)
    assert second.is_set()
    tally = collected.tallies["s"]
    assert (tally.trials, tally.judge_calls, tally.judge_usd) == (2, 2, 0.5)


def test_what_the_judge_costs_counts_against_the_budget(session):
    def ask(case, questions):
        return [(Reply(data={}, calls=1, cost_usd=5.0),)]

    collected = collect(
        session, Dear(), judged_plan("a", "b", "c"), ask=ask, budget=Budget(usd=5.0)
    )
    assert collected.tallies["s"].trials < 3
    assert collected.ended_early == "the budget of $5.00 was used up after 2 of 3 calls"


class Dear(YesAgent):
    """Many at once, 0.01 USD each."""

    concurrency = 16

    def ask(self, case, *, timeout_s):
        time.sleep(0.01)
        return Response(answer="yes", usage=Usage(cost_usd=0.01))


def test_a_small_budget_is_not_spent_before_anybody_knows_what_a_trial_costs(session):
    cases = [f"c{n:02}" for n in range(40)]
    collected = collect(session, Dear(), suite_plan(*cases), budget=Budget(usd=0.05))
    assert collected.tallies["s"].trials == 5
    assert collected.ended_early == "the budget of $0.05 was used up after 5 of 40 calls"


def test_a_budget_of_money_ends_a_run_whose_costs_nobody_knows(session):
    cases = [f"c{n:02}" for n in range(40)]
    said = r"cost of an answer of the model 'm' is unknown .* `pricing: \{m: \{input: 2.50, output"
    with pytest.raises(UsageError, match=said):
        collect(session, YesAgent(), suite_plan(*cases), budget=Budget(usd=0.05))
    assert len(list(session.rows())) <= 2, "as many as tell what one costs"


def test_recorded_answers_are_paid_for(session):
    class Recorded(YesAgent):
        plays_back = True

    collected = collect(session, Recorded(), suite_plan("a", "b", "c"), budget=Budget(usd=0.05))
    assert collected.tallies["s"].trials == 3


def test_a_budget_that_is_enough_leaves_nothing_out(session):
    collected = collect(
        session, Dear(), suite_plan("a", "b", "c", rounds=4), budget=Budget(usd=1.0)
    )
    assert (collected.tallies["s"].trials, collected.ended_early) == (12, "")


def test_waiting_for_a_judge_never_asks_the_agent_more_at_once_than_it_may(session):
    under_way, most = [], []

    class Agent(YesAgent):
        def ask(self, case, *, timeout_s):
            under_way.append(case.id)
            most.append(len(under_way))
            time.sleep(0.02)
            under_way.pop()
            return super().ask(case, timeout_s=timeout_s)

    def ask(case, questions):
        return [(Reply(data={}, calls=1),)]

    collect(session, Agent(), judged_plan(*"abcdef"), ask=ask, beyond=4)
    assert max(most) == 1
