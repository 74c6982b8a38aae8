"""The threads that ask one model: each with its own connection, all at one pace."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, Lock, Thread

from gate.agents.judges.budget import SpendingLimit
from gate.agents.judges.totals import GIVEN_UP, NOT_ASKED
from gate.agents.judges.vote import ModelOptions, Patience, VoteConversation
from gate.plugins import Agent, Connection, World
from gate.records import Case, Cause, Question, Reply
from gate.system.executors import StartPace

Then = Callable[[Reply], None]
Vote = tuple[Case, Question, Then, "Future[Reply]"]


class WorkerPool:
    """`agent.concurrency` daemon threads, started as votes come in; a vote that waits for its
    Retry-After keeps its thread, since a model that is busy is busy for the others too.
    """

    def __init__(
        self,
        agent: Agent,
        world: World,
        manner: ModelOptions,
        budget: SpendingLimit,
        patience: Patience,
    ) -> None:
        self._agent, self._world = agent, world
        self._manner, self._budget, self._patience = manner, budget, patience
        self._pace, self._pace_lock = StartPace(agent.requests_per_minute), Lock()
        self._votes: SimpleQueue[Vote | None] = SimpleQueue()
        self._lock = Lock()
        self._open: set[Future[Reply]] = set()
        self._threads: list[Thread] = []
        self._connections: list[Connection] = []
        self._stopped = Event()
        self._out = ""  # why it is not asked at all

    def vote(self, case: Case, question: Question, then: Then) -> Future[Reply]:
        """A reply to come, also when something fails and when the pool is closed. `then` has it
        before whoever waits, in the thread that asked.
        """
        future: Future[Reply] = Future()
        if self._out:
            future.set_result(self._failed_reply(self._out, "unreachable"))
            return future
        with self._lock:
            if not self._stopped.is_set():
                self._open.add(future)
                self._votes.put((case, question, then, future))
                if len(self._threads) < min(self._agent.concurrency, len(self._open)):
                    thread = Thread(target=self._work, daemon=True, name="gate-judge")
                    thread.start()
                    self._threads.append(thread)
                return future
        future.set_result(self._failed_reply(NOT_ASKED, "stopped"))
        return future

    def give_up(self, why: str) -> None:
        """The model is out: from now on every vote fails at once."""
        self._out = why

    def close(self) -> None:
        """Ends what is under way, without waiting for it; every open vote fails now."""
        with self._lock:
            self._stopped.set()
            given_up, self._open = self._open, set()
            connections, self._connections = self._connections, []
            for _ in self._threads:
                self._votes.put(None)
        for future in given_up:
            _settle(future, self._failed_reply(GIVEN_UP, "stopped"))
        for connection in connections:
            connection.close()

    def _work(self) -> None:
        connection: Connection | None = None
        while (vote := self._votes.get()) is not None:
            case, question, then, future = vote
            try:
                connection = connection or self._open_connection()
                reply = self._reply(connection, case, question)
                then(reply)
            except Exception as error:  # connecting: a key that is not set, a user's file
                reply = self._failed_reply(f"could not be asked: {error}", "unreachable")
                then(reply)
            with self._lock:
                self._open.discard(future)
            _settle(future, reply)

    def _reply(self, connection: Connection, case: Case, question: Question) -> Reply:
        refused = self._budget.begin()
        if refused:
            return Reply(data=None, failure=refused, cost_usd=0.0)
        talk = VoteConversation(
            connection, self._manner, self._patience, stopped=self._stopped, turn=self._turn
        )
        reply = talk.reply(case, question)
        self._budget.end(talk.cost_so_far, is_complete=reply.cost_usd is not None)
        return reply

    def _open_connection(self) -> Connection:
        connection = self._agent.connect(self._world)
        with self._lock:
            if not self._stopped.is_set():
                self._connections.append(connection)
                return connection
        connection.close()
        return connection

    def _turn(self) -> None:
        """Waits for the next start that `requests_per_minute` grants, or the end."""
        seconds: Callable[[], float] = self._patience.clock.seconds
        while not self._stopped.is_set():
            with self._pace_lock:
                now = seconds()
                if self._pace.ready(now):
                    self._pace.take(now)
                    return
                wait = self._pace.wait(now)
            self._patience.pause(self._stopped, wait)

    def _failed_reply(self, what: str, cause: Cause) -> Reply:
        failure = f"the {self._manner.section} {what}"
        return Reply(data=None, failure=failure, cause=cause, cost_usd=0.0)


def _settle(future: Future[Reply], reply: Reply) -> None:
    with suppress(InvalidStateError):  # `close` was faster
        future.set_result(reply)
