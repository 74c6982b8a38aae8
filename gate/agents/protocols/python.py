"""An agent that is a Python function, `agent(case) -> str | dict`, plain or async."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import get_args

from gate.agents.wire import answer
from gate.agents.wire.tracing import TraceShape
from gate.errors import AgentFailure, UsageError
from gate.plugins import AGENTS, Connection, World
from gate.records import Case, Json, Response, Role
from gate.user_code.calling import call
from gate.user_code.process import CodeProcess, Lane
from gate.user_code.processes import PROCESSES, environment


class _Sharing:
    """A place for what the connections of a run share; a dataclass field would be an option."""

    __slots__ = ("_turns",)
    _turns: Iterator[int]


@AGENTS.register("python")
@dataclass(frozen=True, slots=True, kw_only=True)
class PythonAgent(_Sharing):
    """Calls `module:function` or `./file.py:agent.method` with the case's keys as a dict, or with
    the question where it takes one, in a process of its own (docs/user-code.md).

    Each worker has its own thread there, and an event loop if the function is async. A plain call
    that hangs cannot be ended: its thread is left behind when the time is up. `processes` share the
    workers among them; `api_key_env` names a variable that user code would not see otherwise.
    """

    callable: str
    model: str = ""
    trace: TraceShape = "auto"
    api_key_env: str | None = None
    processes: int = 1
    timeout_s: float = 240.0
    concurrency: int = 16
    requests_per_minute: float | None = None
    adaptive: bool = True

    def __post_init__(self) -> None:
        if self.processes < 1:
            raise UsageError("processes: at least 1")
        object.__setattr__(self, "_turns", itertools.count())

    def describe(self) -> str:
        return " ".join(filter(None, ("python", self.callable, self.model)))

    def begin(self, world: World) -> None:
        """Starts the processes; they load nothing yet."""
        for nth in range(self.processes):
            self._process(world, nth).begin()

    def check(self, world: World) -> None:
        """Raises UsageError: what is wrong here is wrong in gate.yml or in the user's file."""
        for nth in range(self.processes):
            self.load(world, nth)

    def connect(self, world: World) -> Connection:
        nth = next(self._turns) % self.processes
        process = self._process(world, nth)
        function, by_text = self.load(world, nth)
        return _Connection(
            self, process.new_lane(), function, section=world.section, by_text=by_text
        )

    def load(self, world: World, nth: int = 0) -> tuple[int, bool]:
        """The number of the function in the process, and whether it takes the question alone.
        Raises UsageError.
        """
        if ":" not in self.callable:
            where = f"{world.section}.callable"
            raise UsageError(f"{where}: '{self.callable}' - write module:function")
        request = ["agent", self.callable]
        function, by_text = self._process(world, nth).load(self.callable, request, list)
        return int(function), bool(by_text)

    def _process(self, world: World, nth: int) -> CodeProcess:
        return PROCESSES.process_for(
            world.section,
            world.root,
            about=self.callable,
            judges=world.section in get_args(Role),
            threads=self.concurrency,
            load_s=self.timeout_s,
            env=environment(world.env, named=self.api_key_env),
            nth=nth,
        )


class _Connection:
    """One thread of the process."""

    def __init__(
        self, agent: PythonAgent, lane: Lane, function: int, *, section: str, by_text: bool
    ) -> None:
        self._agent, self._lane = agent, lane
        self._function, self._section, self._by_text = function, section, by_text

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        case_object = {**case.keys, "id": case.id, "input": case.input}
        argument: Json = case.question if self._by_text else case_object
        frame = call(self._lane, ["call", self._function, argument], timeout_s, self._section)
        result = _parse_result(frame.body, self._section)
        agent = self._agent
        if isinstance(result, str) and agent.trace == "auto":  # a text is an answer, not a trace
            result = {"answer": result}
        try:
            response = answer.response(
                result, model=agent.model or None, section=self._section, trace=agent.trace
            )
        except AgentFailure as failure:
            failure.done = result
            raise
        if response.latency_ms is not None:
            return response
        # The time of the call alone: not on its way to the process, nor after another's death.
        return replace(response, latency_ms=frame.seconds * 1e3)

    def close(self) -> None:
        self._lane.close()


def _parse_result(body: bytes, section: str) -> Json:
    try:
        return answer.parse(body)
    except ValueError as error:
        raise AgentFailure(
            f"the {section} returned a value that JSON cannot hold: {error}"
        ) from error
