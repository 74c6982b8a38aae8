"""Makes one trial after another: ask, wait out a 429, try again, grade. Each kind of failure is
kept apart. An attempt is one call that was answered or failed (docs/semantics.md 4). Waiting
because a 429 or 503 has Retry-After is not an attempt, stays below the time-out, and is not part of
the latency.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from gate.agents.wire.before_failing import find_done
from gate.errors import AgentFailure, InfraFailure, RecordingEnded
from gate.plugins import Agent, AgentTraits, Grader, RoundConnection, World, read_traits
from gate.records import Attempt, Case, Response, Suite, Trial
from gate.run.attempts import attempt_of_failure, unless_stopped
from gate.system.clock import LEAST_TRY_S, Clock
from gate.system.executors import Later
from gate.system.pace import Pace
from gate.system.slots import Slot, Slots

_CUT_SHORT = 0.9  # of the time left: who gave up then had no more of it (clients round)

# Of a suite written as code: case, round and try (both from 1), seconds in total, and the agent
# that it is to ask with the world to ask it in.
AskOwn = Callable[[Case, int, int, float, Agent, World], Response]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A trial under way: what to ask, and the attempts so far."""

    suite: Suite
    graders: Mapping[str, Grader]
    case: Case
    round: int
    control: bool = False  # for the control agent, not for the candidate
    attempts: tuple[Attempt, ...] = ()
    waited_s: float = 0.0  # before the next try, for Retry-After
    started_at: str = ""
    ask: AskOwn | None = None  # of a suite that asks its agent itself; None: the run's agent


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmade:
    """A trial that cannot be made because the recording ends before it, and the reason."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStore:
    """Keeps answers before they are judged, because judging may be interrupted."""

    keep: Callable[[Task, Response, float], None]  # with the latency in milliseconds
    find: Callable[[Task], tuple[Response, float] | None]  # of an earlier run


_FORGETS = AnswerStore(keep=lambda task, response, latency: None, find=lambda task: None)


class TrialWorker:
    """One thread's connection to the agent; it makes one attempt at a time."""

    def __init__(
        self,
        agent: Agent,
        world: World,
        grade: Callable[[Case, Response, Mapping[str, Grader]], Attempt],
        *,
        clock: Clock | None = None,
        record: Callable[[Case, int, Response | Exception, float], None] | None = None,
        scrub: Callable[[Response], Response] = lambda response: response,
        slot: Slot | None = None,
        answers: AnswerStore = _FORGETS,
    ) -> None:
        """`slot` is held while the agent is asked, and not while the answer is graded: a judge
        that takes its time leaves the agent to other workers. The wait for it is no part of the
        latency.
        """
        self._agent, self._world = agent, world
        self._timeout_s = agent.timeout_s
        self._connection = agent.connect(world)
        self._grade = grade
        self._clock = clock or Clock()
        self._record = record
        self._scrub = scrub
        self._slot = slot or Slots(Pace(1, adaptive=False)).slot()
        self._answers = answers

    def work(self, task: Task) -> Trial | Unmade | Later[Task]:
        if not task.attempts and (kept := self._answers.find(task)) is not None:
            task = replace(task, started_at=_iso(self._clock.now()))
            self._keep(task, *kept)
            return self._next(task, self._grade_answer(task, *kept))
        try:
            with self._slot as is_free:
                if not is_free:  # the run is being stopped
                    return Later(task=task, delay_s=0.0)
                if not task.started_at:
                    task = replace(task, started_at=_iso(self._clock.now()))
                start = self._clock.seconds()
                response = self._ask(task)
                latency = self._ms_since(start)
        except InfraFailure as failure:
            if isinstance(failure, RecordingEnded) and not task.attempts:
                return Unmade(why=str(failure))
            return self._retry(task, failure, self._ms_since(start))
        except AgentFailure as failure:
            took = failure.latency_ms
            latency = self._ms_since(start) if took is None else took
            if self._is_cut_short(task, failure, latency):
                return self._retry(task, self._cut_short(task, failure), latency)
            done = find_done(failure)
            failure.done = done and self._scrub(done)
            self._keep(task, failure, latency)
            return self._agent_error(task, failure, latency)
        # Before graders quote from it: half a quoted secret would not be found any more.
        response = self._scrub(response)
        if response.latency_ms is not None:  # replayed, or a retriever's time left out
            latency = response.latency_ms
        self._keep(task, response, latency)
        self._answers.keep(task, response, latency)
        return self._next(task, self._grade_answer(task, response, latency))

    def close(self) -> None:
        self._slot.close()
        self._connection.close()

    def _ask(self, task: Task) -> Response:
        left = self._left_s(task)
        if isinstance(self._connection, RoundConnection):
            return self._connection.ask_round(task.case, task.round, timeout_s=left)
        if task.ask is None or read_traits(AgentTraits, self._agent).plays_back:
            return self._connection.ask(task.case, timeout_s=left)
        nth = len(task.attempts) + 1
        return task.ask(task.case, task.round, nth, left, self._agent, self._world)

    def _limit_s(self, task: Task) -> float:
        return self._timeout_s if task.case.timeout_s is None else task.case.timeout_s

    def _left_s(self, task: Task) -> float:
        return self._limit_s(task) - task.waited_s

    def _is_cut_short(self, task: Task, failure: AgentFailure, latency: float) -> bool:
        """Whether the time ran out that waiting for the provider had left."""
        waited = task.waited_s > 0.0 and failure.timed_out
        return waited and latency >= _CUT_SHORT * self._left_s(task) * 1e3

    def _cut_short(self, task: Task, failure: AgentFailure) -> InfraFailure:
        waited, limit = f"{task.waited_s:.3g} s", f"{self._limit_s(task):g} s"
        why = f"{waited} of the {limit} were spent waiting at the provider's request"
        return InfraFailure(f"{failure}: {why}")

    def _grade_answer(self, task: Task, response: Response, latency: float) -> Attempt:
        graded = unless_stopped(self._grade(task.case, response, task.graders))
        return self._timed(task, graded, latency)

    def _timed(self, task: Task, attempt: Attempt, latency: float) -> Attempt:
        return replace(
            attempt, n=len(task.attempts) + 1, latency_ms=latency, waited_ms=task.waited_s * 1e3
        )

    def _agent_error(
        self, task: Task, failure: AgentFailure, latency: float
    ) -> Trial | Later[Task]:
        return self._next(task, self._timed(task, attempt_of_failure(failure), latency))

    def _retry(self, task: Task, failure: InfraFailure, latency: float) -> Trial | Later[Task]:
        if failure.retry_after is not None:
            delay = self._clock.waiting(failure.retry_after)
            if delay + LEAST_TRY_S <= self._left_s(task):
                return Later(task=replace(task, waited_s=task.waited_s + delay), delay_s=delay)
        self._keep(task, failure, latency)
        return self._next(task, self._timed(task, attempt_of_failure(failure), latency))

    def _next(self, task: Task, attempt: Attempt) -> Trial | Later[Task]:
        """The finished trial, or the task again when the suite grants another try."""
        attempts = (*task.attempts, attempt)
        failed = attempt.status == "infra_error" or (
            task.suite.retry == "any_failure" and attempt.passed is False
        )
        if failed and len(attempts) < task.suite.max_attempts:
            delay = 0.0 if attempt.status == "completed" else self._clock.backoff(len(attempts))
            return Later(task=replace(task, attempts=attempts, waited_s=0.0), delay_s=delay)
        return Trial(
            suite=task.suite.name,
            case=task.case,
            round=task.round,
            attempts=attempts,
            started_at=task.started_at,
            judged=len(attempts) - 1,
            control=task.control,
        )

    def _keep(self, task: Task, answer: Response | Exception, latency: float) -> None:
        if self._record is not None:
            self._record(task.case, task.round, answer, latency)

    def _ms_since(self, start: float) -> float:
        return (self._clock.seconds() - start) * 1e3


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
