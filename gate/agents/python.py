"""An agent that is a Python function, `agent(case) -> str | dict`, plain or async."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any

from gate.errors import AgentFailure, InfraFailure, UsageError
from gate.plugins import AGENTS, Connection, World
from gate.records import Case, Response
from gate.registry import load_object
from gate.text import one_line
from gate.wire import answer
from gate.wire.tracing import TraceShape

Job = tuple[Any, float] | None  # the argument and the seconds for the call; None: the end

_LATE = object()  # instead of a result
_ONE_AT_A_TIME = Lock()  # a module that another thread is still importing has no attributes yet


@AGENTS.register("python")
@dataclass(frozen=True, slots=True, kw_only=True)
class Python:
    """Calls `module:function` or `./file.py:function` with the case's keys as a dict.

    Each worker has its own thread, and an event loop if the function is async. A plain call that
    hangs cannot be ended: its thread is left behind when the time is up.
    """

    callable: str
    model: str = ""
    trace: TraceShape = "auto"
    timeout_s: float = 240.0
    concurrency: int = 16
    requests_per_minute: float | None = None

    def describe(self) -> str:
        return " ".join(filter(None, ("python", self.callable, self.model)))

    def check(self, world: World) -> None:
        """Raises UsageError: what is wrong here is wrong in gate.yml or in the user's file."""
        self.load(world)

    def connect(self, world: World) -> Connection:
        return _Connection(self, self.load(world), world.section)

    def load(self, world: World) -> Callable[[dict[str, Any]], Any]:
        found = loaded(self.callable, world)
        if not callable(found):
            raise UsageError(f"{world.section}.callable: '{self.callable}' cannot be called")
        return found  # type: ignore[no-any-return]


def loaded(name: str, world: World) -> Any:
    """What `module:attribute` or `./file.py:attribute` names. Raises UsageError."""
    if ":" not in name:
        raise UsageError(f"{world.section}.callable: '{name}' - write module:function")
    with _ONE_AT_A_TIME:
        return load_object(name, world.root)


class _Connection:
    def __init__(
        self, agent: Python, function: Callable[[dict[str, Any]], Any], section: str
    ) -> None:
        self._calls = Calls(function, section)
        self._agent = agent
        self._section = section

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        # A copy: what the function does to its case must not reach the graders.
        asked = copy.deepcopy({**case.keys, "id": case.id, "input": case.input})
        return _answer(self._calls.call(asked, timeout_s), self._agent, self._section)

    def close(self) -> None:
        self._calls.close()


class Calls:
    """One worker's calls of a function of the user's, each with its own time. `section` of gate.yml
    is for messages.
    """

    def __init__(self, function: Callable[[Any], Any], section: str) -> None:
        self._function = function
        self._section = section
        self._caller: _Caller | None = None
        self._closed = False

    def call(self, argument: Any, timeout_s: float) -> Any:
        """What the function returned. Raises AgentFailure, InfraFailure."""
        self._caller = self._caller or _Caller(self._function)
        self._caller.jobs.put((argument, timeout_s))
        try:
            found = self._caller.results.get(timeout=timeout_s)
        except Empty:
            self._caller.jobs.put(None)  # ends its thread if the call ever returns
            self._caller, found = None, _LATE
        if self._closed:
            raise InfraFailure("the call was given up: the run is being stopped")
        if found is _LATE:
            message = f"the {self._section} did not return within {timeout_s:g} s"
            raise AgentFailure(message, timed_out=True)
        if isinstance(found, (AgentFailure, InfraFailure)):
            raise found
        if isinstance(found, BaseException):
            said = one_line(str(found), 200)
            late = isinstance(found, TimeoutError)  # of something that the agent itself waited for
            raise AgentFailure(f"{type(found).__name__}: {said}", timed_out=late) from found
        return found

    def close(self) -> None:
        self._closed = True
        caller = self._caller
        if caller is not None:
            caller.jobs.put(None)
            caller.results.put(None)  # wakes `call`


class _Caller(Thread):
    """Runs calls one after another, so that whoever waits can stop waiting."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__(daemon=True, name="gate-python-agent")
        self._function = function
        self.jobs: SimpleQueue[Job] = SimpleQueue()
        self.results: SimpleQueue[Any] = SimpleQueue()
        self.start()

    def run(self) -> None:
        with ExitStack() as stack:
            runner: asyncio.Runner | None = None
            while (job := self.jobs.get()) is not None:
                argument, timeout_s = job
                try:
                    found = self._function(argument)
                    if inspect.isawaitable(found):
                        runner = runner or stack.enter_context(asyncio.Runner())
                        found = runner.run(_within(found, timeout_s))
                except BaseException as error:  # SystemExit too: it is the agent's, not ours
                    found = error
                self.results.put(found)


async def _within(awaitable: Awaitable[Any], timeout_s: float) -> Any:
    try:
        async with asyncio.timeout(timeout_s) as limit:
            return await awaitable
    except TimeoutError:
        if limit.expired():
            return _LATE
        raise


def _answer(found: Any, agent: Python, section: str) -> Response:
    """A text is an answer, or a trace if gate.yml says so."""
    if isinstance(found, str) and agent.trace == "auto":
        found = {"answer": found}
    if not isinstance(found, (str, dict, list)):
        try:
            found = _plain(found)
        except TypeError:
            kind = type(found).__name__
            message = f"the {section} returned {kind}: return a text, or a dict with 'answer'"
            raise AgentFailure(message) from None
    try:
        data = answer.parse(json.dumps(found, default=_plain).encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise AgentFailure(f"the {section} returned what JSON cannot hold: {error}") from error
    return answer.response(data, model=agent.model or None, section=section, trace=agent.trace)


def _plain(value: Any) -> Any:
    """Messages and answers of the clients of OpenAI, Anthropic and LangChain are such models."""
    dump = getattr(value, "model_dump", None)
    if not callable(dump):
        raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
    return dump(mode="json")
