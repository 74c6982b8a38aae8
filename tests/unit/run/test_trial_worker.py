from datetime import UTC, datetime

import pytest

from gate.errors import AgentFailure, InfraFailure
from gate.records import Case, Response, Suite
from gate.run.budget import Allowance
from gate.run.trial_worker import Task, TrialWorker
from gate.system.clock import Clock
from gate.system.executors import Later
from tests.support.queued_agent import ScriptedAgent, passes_on_ok

CASE = Case(id="c1", input="q", keys={"id": "c1", "input": "q"})


def finish(worker, suite, **task):
    """Works on one trial to its end; returns it with the delays in between."""
    step, delays = (
        worker.work(Task(suite=suite, graders={}, case=CASE, round=1, **task)),
        [],
    )
    while isinstance(step, Later):
        delays.append(step.delay_s)
        step = worker.work(step.task)
    return step, delays


def worker_for(*answers, seconds=None, record=None):
    agent = ScriptedAgent(*answers)
    ticks = iter(seconds or (n * 0.25 for n in range(100)))
    clock = Clock(
        seconds=lambda: next(ticks),
        now=lambda: datetime(2026, 1, 2, tzinfo=UTC),
        jitter=lambda: 0.0,
    )
    return TrialWorker(agent, None, passes_on_ok, clock=clock, record=record), agent


SUITE = Suite(name="s", dataset="d", graders=(), max_attempts=3)


def test_an_answer_that_says_how_long_it_took_is_believed_and_recorded_so():
    recorded = []
    worker, _ = worker_for(
        Response(answer="ok", latency_ms=12.5), record=lambda *line: recorded.append(line[3])
    )
    trial, _ = finish(worker, SUITE)
    assert trial.attempt.latency_ms == 12.5
    assert recorded == [12.5]


def test_a_good_answer_is_one_attempt_with_its_latency():
    worker, _ = worker_for("ok")
    trial, delays = finish(worker, SUITE)
    assert delays == []
    assert [a.status for a in trial.attempts] == ["completed"]
    assert trial.attempt.latency_ms == 250.0
    assert trial.attempt.passed is True
    assert trial.started_at == "2026-01-02T00:00:00.000Z"


def test_waiting_out_retry_after_is_no_try_and_no_latency():
    worker, agent = worker_for(InfraFailure("429", retry_after=2.0), "ok")
    trial, delays = finish(worker, SUITE)
    assert delays == [2.0]
    assert len(trial.attempts) == 1
    assert trial.attempt.waited_ms == 2000.0
    assert trial.attempt.latency_ms == 250.0
    assert agent.timeouts == [10.0, 8.0]


def test_retry_after_beyond_the_timeout_is_a_failed_try():
    worker, _ = worker_for(*[InfraFailure("429", retry_after=60.0)] * 3)
    trial, delays = finish(worker, SUITE)
    assert [a.status for a in trial.attempts] == ["infra_error"] * 3
    assert len(delays) == 2


def test_a_server_that_says_retry_after_0_for_ever_is_given_up():
    agent = ScriptedAgent(*[InfraFailure("429", retry_after=0.0)] * 400)
    worker = TrialWorker(
        agent, None, passes_on_ok, clock=Clock(seconds=lambda: 0.0, jitter=lambda: 0.0)
    )
    trial, delays = finish(worker, SUITE)
    assert trial.attempt.status == "infra_error"
    assert min(delays) >= 0.1


def worker_at(timeout_s, *answers, took=0.25, jitter=0.999):
    """A worker whose tries take `took` seconds each and whose waits are as long as jitter makes
    them.
    """
    agent = ScriptedAgent(*answers)
    agent.timeout_s = timeout_s
    now = iter(n * took for n in range(1000))
    clock = Clock(seconds=lambda: next(now), jitter=lambda: jitter)
    return TrialWorker(agent, None, passes_on_ok, clock=clock), agent


@pytest.mark.parametrize("wish", [0.0, 0.5, 1.0, 2.0, 2.9, 2.98, 2.999, 3.0])
def test_no_try_is_begun_without_the_time_for_it(wish):
    worker, agent = worker_at(3.0, *[InfraFailure("429", retry_after=wish)] * 100)
    trial, _ = finish(worker, SUITE)
    assert trial.attempt.status == "infra_error"
    assert min(agent.timeouts) >= 0.05
    assert all(attempt.waited_ms < 3000.0 for attempt in trial.attempts)


def test_a_try_that_a_wait_cut_short_is_nobodys_fault_and_made_again_in_full():
    late = AgentFailure("did not answer within 0.98 s", timed_out=True)
    worker, agent = worker_at(3.0, InfraFailure("429", retry_after=2.0), late, "ok", took=0.98)
    trial, _ = finish(worker, SUITE)
    assert [a.status for a in trial.attempts] == ["infra_error", "completed"]
    assert "0.98 s" in trial.attempts[0].error
    assert "wait" in trial.attempts[0].error
    assert trial.attempts[0].failures == ()
    assert agent.timeouts[-1] == 3.0


def test_a_request_that_says_itself_how_long_it_took_was_cut_short_too():
    late = AgentFailure("did not answer", timed_out=True, latency_ms=995.0)
    worker, _ = worker_at(3.0, InfraFailure("429", retry_after=2.0), late, "ok", took=0.1)
    assert finish(worker, SUITE)[0].attempts[0].status == "infra_error"


@pytest.mark.parametrize(
    "failure",
    [
        AgentFailure("500"),
        AgentFailure("TimeoutError: of something inside it", timed_out=True),  # after 0.25 s
    ],
)
def test_a_failure_after_a_wait_that_did_not_cut_it_short_is_the_agents(failure):
    worker, _ = worker_at(10.0, InfraFailure("429", retry_after=2.0), failure)
    assert finish(worker, SUITE)[0].attempt.status == "agent_error"


def test_a_time_out_without_a_wait_is_the_agents():
    worker, _ = worker_at(3.0, AgentFailure("late", timed_out=True), took=3.1)
    assert finish(worker, SUITE)[0].attempt.status == "agent_error"


def test_infrastructure_errors_are_tried_again_with_growing_delays():
    worker, _ = worker_for(InfraFailure("reset"), InfraFailure("reset"), "ok")
    trial, delays = finish(worker, SUITE)
    assert [a.status for a in trial.attempts] == ["infra_error", "infra_error", "completed"]
    assert [a.n for a in trial.attempts] == [1, 2, 3]
    assert delays == [0.25, 0.5]
    assert trial.judged == 2


def test_infrastructure_errors_to_the_end_stay_unscored():
    worker, _ = worker_for(*[InfraFailure("down")] * 3)
    trial, _ = finish(worker, SUITE)
    assert trial.attempt.status == "infra_error"
    assert trial.attempt.passed is None
    assert trial.attempt.error == "down"


def test_an_agent_error_is_not_tried_again():
    worker, _ = worker_for(AgentFailure("500"), "ok")
    trial, delays = finish(worker, SUITE)
    assert (len(trial.attempts), delays) == (1, [])
    assert trial.attempt.status == "agent_error"
    assert trial.attempt.passed is False


@pytest.mark.parametrize("late", [True, False])
def test_a_time_out_is_told_apart_from_other_agent_errors(late):
    worker, _ = worker_for(AgentFailure("no answer", timed_out=late))
    attempt = finish(worker, SUITE)[0].attempt
    assert (attempt.status, attempt.passed) == ("agent_error", False)
    assert attempt.failures == (("timeout",) if late else ("agent_error",))


def test_a_wrong_answer_is_not_tried_again_unless_the_suite_says_so():
    worker, _ = worker_for("wrong", "ok")
    trial, _ = finish(worker, SUITE)
    assert len(trial.attempts) == 1

    worker, _ = worker_for("wrong", AgentFailure("500"), "ok")
    suite = Suite(name="s", dataset="d", graders=(), max_attempts=4, retry="any_failure")
    trial, _ = finish(worker, suite)
    assert [a.passed for a in trial.attempts] == [False, False, True]
    assert trial.judged == 2


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"usd": None, "calls": 3, "minutes": None}, "3 calls"),
        ({"usd": 0.3, "calls": None, "minutes": None}, "$0.30"),
        ({"usd": None, "calls": None, "minutes": 0.06}, "0.06 minutes"),
    ],
)
def test_a_budget_stops_the_run_while_it_goes_on(limits, reason):
    seconds = iter(range(100))
    allowance = Allowance(**limits, seconds=lambda: next(seconds))
    given = []
    for task in allowance.limit(iter(range(10))):
        given.append(task)
        allowance.finished(tries=1, cost_usd=0.1)
    assert len(given) == 3
    assert reason in allowance.used_up


def test_calls_of_retries_count_against_the_budget():
    allowance = Allowance(usd=None, calls=4, minutes=None, seconds=lambda: 0.0)
    given = []
    for task in allowance.limit(iter(range(10))):
        given.append(task)
        allowance.finished(tries=2, cost_usd=None)
    assert len(given) == 2


def test_costs_of_trials_under_way_are_expected():
    allowance = Allowance(usd=1.0, calls=None, minutes=None, seconds=lambda: 0.0)
    stream = allowance.limit(iter(range(100)))
    next(stream)
    allowance.finished(tries=1, cost_usd=0.25)
    for _ in range(3):
        next(stream)  # three under way: 0.25 spent and 0.75 expected
    assert list(stream) == []
    assert "$1.00" in allowance.used_up


def test_what_a_resumed_session_spent_counts():
    allowance = Allowance(usd=None, calls=5, minutes=None, seconds=lambda: 0.0)
    allowance.spent_before(calls=3, usd=0.0)
    given = []
    for task in allowance.limit(iter(range(10))):
        given.append(task)
        allowance.finished(tries=1, cost_usd=None)
    assert len(given) == 2
