"""Trials to rows to tables, with an agent made of answers and a real session folder."""

import signal
from collections import deque
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gate.archive import Meta, SessionWriter, SuiteMeta
from gate.errors import AgentFailure, InfraFailure, Interrupted
from gate.graders.exact_match import ExactMatch
from gate.pipeline import Effects, health, measure
from gate.plugins import World
from gate.prepare import SuitePlan, specs_of
from gate.records import Budget, Case, Price, Provenance, Response, Suite, Usage
from gate.runner import Clock
from gate.stop import Stop

PRICES = {"m": Price(input=1.0, output=2.0)}
WORLD = World(env={}, root=Path())


class Answers:
    """An agent with one connection: case id -> its answers, one after another."""

    timeout_s = 5.0
    concurrency = 1
    requests_per_minute = None

    def __init__(self, **answers):
        self.answers = {case: deque(given) for case, given in answers.items()}
        self.asked = []

    def connect(self, world):
        return self

    def check(self, world):
        raise InfraFailure("nobody is there: start it")

    def ask(self, case, *, timeout_s):
        self.asked.append(case.id)
        answer = self.answers[case.id].popleft()
        if isinstance(answer, Exception):
            raise answer
        used = Usage(input_tokens=1_000_000, output_tokens=500_000)
        return Response(answer=answer, model="m", usage=used)

    def close(self):
        pass


def plan(*ids, rounds=1):
    cases = [
        Case(id=i, input=f"q {i}", keys={"id": i, "expected_answer": "yes"}, digest=i) for i in ids
    ]
    graders = {"exact_match": ExactMatch()}
    return SuitePlan(
        suite=Suite(name="s", dataset="d", graders=(), rounds=rounds, max_attempts=1),
        graders=graders,
        dataset_digest="dd",
        all_ids=frozenset(ids),
        chosen=frozenset(ids),
        not_selected=0,
        specs=specs_of(graders),
        grader_digests={},
        read=lambda: iter(cases),
    )


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


def collect(session, agent, *plans, budget=None, stop=None, seen=None):
    effects = Effects(
        world=WORLD,
        session=session,
        stop=stop or Stop(),
        progress=(seen if seen is not None else []).append,
        clock=Clock(now=lambda: datetime(2026, 11, 20, tzinfo=UTC)),
    )
    return measure(plans, agent, effects, budget=budget or Budget(), prices=PRICES)


def test_each_trial_is_a_row_on_disk_a_tally_and_a_column(session):
    agent, seen = Answers(a=["yes"], b=["no"], c=[AgentFailure("boom")]), []
    collected = collect(session, agent, plan("a", "b", "c"), seen=seen)
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
    first = Answers(a=["yes"], b=[InfraFailure("down")])
    collect(session, first, plan("a", "b"))
    second = Answers(b=["yes"])
    collected = collect(session, second, plan("a", "b"))
    assert second.asked == ["b"]
    assert collected.tallies["s"].trials == 2
    assert collected.tallies["s"].infra_errors == 0
    assert [row["status"] for row in session.rows()] == ["completed"] * 2


def test_without_an_agent_what_is_there_is_collected(session):
    collect(session, Answers(a=["yes"], b=[InfraFailure("down")]), plan("a", "b"))
    collected = collect(session, None, plan("a", "b"))
    assert (collected.tallies["s"].trials, collected.tallies["s"].infra_errors) == (2, 1)


def test_an_unanswered_trial_stays_one_when_the_budget_ends_before_it_is_asked_again(session):
    collect(session, Answers(a=[InfraFailure("down")], b=[InfraFailure("down")]), plan("a", "b"))
    collected = collect(session, Answers(a=["yes"]), plan("a", "b"), budget=Budget(calls=1))
    assert (collected.tallies["s"].trials, collected.tallies["s"].infra_errors) == (2, 1)
    assert collected.ended_early == "the budget of 1 calls is used up"


def test_a_stop_keeps_what_is_finished_and_says_how_to_go_on(session):
    stop = Stop()
    seen = []

    class Stopping(Answers):
        def ask(self, case, *, timeout_s):
            stop._on_signal(signal.SIGINT, None)
            return super().ask(case, timeout_s=timeout_s)

    with pytest.raises(Interrupted, match="gate run --resume") as caught:
        collect(session, Stopping(a=["yes"], b=["yes"]), plan("a", "b"), stop=stop, seen=seen)
    assert caught.value.exit_code == 130
    assert len(list(session.rows())) == len(seen) >= 1


def test_health_is_a_sentence_or_nothing():
    class Well(Answers):
        def check(self, world):
            return None

    assert health(Answers(), WORLD) == "nobody is there: start it"
    assert health(Well(), WORLD) == ""
