"""A suite written as code: a class with `load_tasks` and `run_task` (docs/suite-as-code.md). Its
tasks become cases, its calls the answers of the run.
"""

from __future__ import annotations

import io
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from gate.agents.task_result import WRONG, nobody_answered
from gate.agents.wire import answer
from gate.errors import AgentFailure, InfraFailure, InvalidInput, Problem, UsageError
from gate.files.source import DatasetSource
from gate.plugins import Agent, AgentTraits, World, read_traits
from gate.records import Case, Json, Response, Suite
from gate.records.codec import from_json
from gate.system.exclusive import ServerTurn, ServerTurns, turns_of
from gate.user_code.calling import call
from gate.user_code.processes import PROCESSES

if TYPE_CHECKING:
    from gate.user_code.frames import Frame
    from gate.user_code.process import Lane, UserError

_ROLE = "gate.suites.code_role"  # in its process
__all__ = ["SuiteCode", "load_suite"]


class SuiteCode:
    """The user's suite, made in a process of its own (docs/user-code.md), with its tasks loaded. It
    makes one call at a time, unless the class says `concurrent = True`.
    """

    def __init__(self, name: str, root: Path) -> None:
        """`name`: as gate.yml has it. Raises UsageError for what is wrong with the class."""
        self.name = name
        self._process = PROCESSES.process_for(
            "suite", root, judges=True, threads=16, load_s=PROCESSES.seconds
        )
        loaded = self._process.load(name, ["role", _ROLE, "load", name], dict)
        try:
            self._of, self._alone = int(loaded["of"]), bool(loaded["alone"])
            self._lines = "".join(f"{line}\n" for line in loaded["lines"]).encode()
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"'{name}': its process sent an invalid description") from error
        self._turns = ServerTurns()

    @property
    def source(self) -> DatasetSource:
        """The tasks as a dataset of JSON Lines."""
        return DatasetSource(name=self.name, open=lambda: io.BytesIO(self._lines), any_keys=True)

    def ask(
        self, case: Case, number: int, attempt: int, timeout_s: float, agent: Agent, world: World
    ) -> Response:
        """The answer that `run_task` returns for the task. Waiting for its turn counts neither as
        latency nor for the time-out. Raises AgentFailure, InfraFailure.
        """
        address = _Address(agent, world)
        request_options: dict[str, Json] = {
            "round_index": number,
            "attempt": attempt,
            "base_url": address.url,
            "model": address.model,
            "provider_key": address.key,
            "timeout_s": timeout_s,
        }
        who = f"run_task of {self.name.rpartition(':')[2]}"
        request: list[Json] = ["role", _ROLE, "run", self._of, case.id, request_options, who]
        with self._turn(world), address.turn(world):
            try:
                frame = _within(self._process.new_lane(), request, timeout_s, who)
            except AgentFailure as failure:
                if failure.timed_out:
                    address.note_abandoned(timeout_s)
                raise
        return _response(frame.body, who)

    def _turn(self, world: World) -> AbstractContextManager[ServerTurn]:
        return self._turns.take_turn(exclusive=self._alone, given_up=world.cancelled)


def load_suite(suite: Suite, root: Path) -> SuiteCode:
    """Makes the class that `suites[].suite` names. Raises InvalidInput with the line in
    gate.yml.
    """
    name = suite.suite or ""
    try:
        return SuiteCode(name, root)
    except UsageError as error:
        message = str(error)
        full_message = message if name in message else f"'{name}': {message}"
        raise InvalidInput([Problem(suite.place, full_message)]) from error


class _Address:
    """What the agent's section of gate.yml says of where to ask."""

    def __init__(self, agent: Agent, world: World) -> None:
        traits = read_traits(AgentTraits, agent)
        if traits.agent:  # without the retriever beside it
            traits = read_traits(AgentTraits, traits.agent)
        self.url = str(traits.base_url or traits.url or "")
        self.model = str(traits.model or "")
        self.key = str(world.env.get(str(traits.api_key_env or "")) or "")
        self._server = str(traits.server or "")

    def turn(self, world: World) -> AbstractContextManager[object]:
        """Beside others, but not beside a request that must be alone on that server."""
        if not self._server:
            return nullcontext()
        return turns_of(self._server).take_turn(exclusive=False, given_up=world.cancelled)

    def note_abandoned(self, for_s: float) -> None:
        """Code that is given up cannot be ended: it may go on asking that server."""
        if self._server:
            turns_of(self._server).note_abandoned(for_s)


def _within(lane: Lane, request: list[Json], timeout_s: float, who: str) -> Frame:
    """The reply to the call. Raises AgentFailure, InfraFailure."""
    try:
        return call(lane, request, timeout_s, who)
    except AgentFailure as failure:
        raised = failure.__cause__
        user_error: UserError | None = getattr(raised, "told", None)
        if raised is not None and (user_error is None or user_error.kind == "unusable"):
            failure.code = WRONG  # it died, or what it returned is too much to be read
        took = user_error.seconds if user_error else timeout_s
        failure.latency_ms = failure.latency_ms or took * 1e3
        lost = (
            user_error is not None
            and user_error.os_error
            and not user_error.kind
            and not failure.timed_out
        )
        if (
            user_error is not None
            and lost
            and nobody_answered(str(failure), user_error.http_status)
        ):
            raise InfraFailure(str(failure), code="api_error") from failure
        raise
    finally:
        lane.close()


def _response(body: bytes, who: str) -> Response:
    """Raises AgentFailure."""
    try:
        return from_json(Response, answer.parse(body))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        message = f"{who} returned an invalid reply: {error}"
        raise AgentFailure(message, code=WRONG) from None
