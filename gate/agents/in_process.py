"""An agent that is a function of the calling program's, asked in its own process: in a thread for
each call, and what is async in one event loop for all.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TypeVar

from gate.agents.wire import answer
from gate.errors import AgentFailure, InfraFailure
from gate.plugins import Connection, World
from gate.records import Case, Response
from gate.user_code.roles import Unusable, answer_of, asks_by_text, encode_json, find_done

T = TypeVar("T")


class EventLoop:
    """A thread with one loop, so that clients which belong to a loop work from call to call."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._loop.run_forever()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()

    def finish(self, awaitable: Awaitable[T], seconds: float) -> T:
        """What it comes to. Raises TimeoutError when the time is up, and whatever it raises."""

        async def await_it() -> T:
            return await awaitable

        under_way = asyncio.run_coroutine_threadsafe(await_it(), self._loop)
        try:
            return under_way.result(seconds)
        finally:
            under_way.cancel()

    def end(self) -> None:
        """Cancels what is under way; who swallows that is not waited for."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class InProcess:
    """Asks `function` as a `python` agent is asked (docs/agents.md), but where it is: whatever it
    does to this process it does to the run. A plain call that is late is left behind.
    """

    function: Callable[..., object]
    name: str
    loop: EventLoop = field(repr=False)
    timeout_s: float = 240.0
    concurrency: int = 16
    requests_per_minute: float | None = None
    adaptive: bool = True

    def describe(self) -> str:
        return f"python {self.name}"

    def check(self, world: World) -> int | None:
        return None

    def connect(self, world: World) -> Connection:
        return _Connection(self)


class _Connection:
    def __init__(self, agent: InProcess) -> None:
        self._agent = agent
        self._by_text = asks_by_text(agent.function)

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        case_object = copy.deepcopy({**case.keys, "id": case.id, "input": case.input})
        argument = case.question if self._by_text else case_object
        try:
            body = encode_json(answer_of(self._await_result(argument, timeout_s)))
        except Unusable as error:
            raise AgentFailure(f"the agent {error}") from error
        result = answer.parse(body)
        try:
            return answer.response({"answer": result} if isinstance(result, str) else result)
        except AgentFailure as failure:
            failure.done = result
            raise

    def _await_result(self, argument: object, seconds: float) -> object:
        """What the function returned, awaited. Raises AgentFailure, InfraFailure."""
        begun = time.monotonic()
        done: Future[object] = Future()

        def call() -> None:
            try:
                done.set_result(self._agent.function(argument))
            except BaseException as error:
                done.set_exception(error)

        threading.Thread(target=call, daemon=True).start()
        try:
            result = done.result(seconds)
            if inspect.isawaitable(result):
                result = self._agent.loop.finish(result, seconds - (time.monotonic() - begun))
        except InfraFailure:
            raise
        except AgentFailure as failure:
            failure.done = failure.done or find_done(failure)
            raise
        except BaseException as error:
            if isinstance(error, TimeoutError) and time.monotonic() - begun >= seconds:
                message = f"the agent did not return within {seconds:g} s"
                raise AgentFailure(message, timed_out=True) from None
            why = f"{type(error).__name__}: {error}"
            raise AgentFailure(why, done=find_done(error)) from error
        return result

    def close(self) -> None:
        """Nothing is open."""
