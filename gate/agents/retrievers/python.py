"""A retriever in Python: a function from a question to documents, or an object with `invoke`."""

from __future__ import annotations

from dataclasses import dataclass

from gate.agents.wire import answer
from gate.errors import AgentFailure, UsageError
from gate.plugins import RETRIEVERS, Connection, World
from gate.records import Case, Json, Response
from gate.user_code.calling import call
from gate.user_code.process import CodeProcess, Lane
from gate.user_code.processes import PROCESSES, environment


@RETRIEVERS.register("python")
@dataclass(frozen=True, slots=True, kw_only=True)
class PythonRetriever:
    """Calls `module:attribute` or `./file.py:attribute` with the question, plain or async: a
    function, an object with `invoke`, or a class of one, which is made once for all workers, in a
    process of its own (docs/user-code.md).
    """

    callable: str
    timeout_s: float = 60.0
    concurrency: int = 16
    requests_per_minute: float | None = None
    adaptive: bool = True

    def describe(self) -> str:
        return f"python {self.callable}"

    def begin(self, world: World) -> None:
        """Starts the process; it loads nothing yet."""
        self._process(world).begin()

    def check(self, world: World) -> None:
        """Raises UsageError: what is wrong here is wrong in gate.yml or in the user's file."""
        self.load(world)

    def connect(self, world: World) -> Connection:
        return _Connection(self._process(world).new_lane(), self.load(world), world.section)

    def load(self, world: World) -> int:
        """The number of the retriever in the process. Raises UsageError."""
        where = f"{world.section}.callable"
        if ":" not in self.callable:
            raise UsageError(f"{where}: '{self.callable}' - write module:function")
        request = ["retriever", self.callable]
        try:
            return self._process(world).load(self.callable, request, int)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from error

    def _process(self, world: World) -> CodeProcess:
        return PROCESSES.process_for(
            world.section,
            world.root,
            about=self.callable,
            judges=False,
            threads=self.concurrency,
            load_s=self.timeout_s,
            env=environment(world.env),
        )


class _Connection:
    def __init__(self, lane: Lane, search: int, section: str) -> None:
        self._lane, self._search, self._section = lane, search, section

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        request: list[Json] = ["search", self._search, case.question]
        frame = call(self._lane, request, timeout_s, self._section)
        try:
            result = answer.parse(frame.body)
        except ValueError as error:
            raise AgentFailure(f"its documents cannot be read: {error}") from error
        return Response(answer="", retrieved=answer.documents(result, "the documents"))

    def close(self) -> None:
        self._lane.close()
