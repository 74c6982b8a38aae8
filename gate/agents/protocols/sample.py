"""The bundled sample agent, started by the run itself: no server, no model, no key."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Event, Lock

from gate.agents.sample_agent.analyst import MODEL, ask
from gate.agents.sample_agent.database import open_image
from gate.agents.sample_agent.faults import Counting
from gate.agents.sample_agent.knowledge import Knowledge, load_bundled
from gate.agents.sample_agent.options import SampleOptions
from gate.errors import AgentFailure, InfraFailure
from gate.files import bundled
from gate.plugins import AGENTS, World
from gate.records import Case, Response

_GLANCE_S = 0.05  # how often a waiting answer looks whether the run is being stopped


class _Counted:
    """A place for the one thing that changes; a dataclass field would be an option."""

    __slots__ = ("counting",)
    counting: Counting


@AGENTS.register("sample")
@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(_Counted):
    """The bundled analytics agent in this process; `options` are the switches of `gate agent`."""

    options: SampleOptions = field(default_factory=SampleOptions)
    timeout_s: float = 240.0
    concurrency: int = 16
    requests_per_minute: float | None = None
    adaptive: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "counting", Counting())

    @property
    def model(self) -> str:
        return MODEL

    def describe(self) -> str:
        return f"sample {MODEL} (in process)"

    def check(self, world: World) -> None:
        """Nothing can be out of reach; broken data raise UsageError."""
        if not world.offline:
            _knowledge(bundled.folder(), self.options.stale)

    def connect(self, world: World) -> SampleConnection:
        knowledge = _knowledge(bundled.folder(), self.options.stale)
        return SampleConnection(self, world, knowledge, open_image(knowledge.database.image))


class SampleConnection:
    """One worker's sample agent, with a database connection of its own."""

    def __init__(
        self, agent: Sample, world: World, knowledge: Knowledge, database: sqlite3.Connection
    ) -> None:
        self._agent, self._world, self._knowledge = agent, world, knowledge
        self._database = database
        self._closed, self._busy = Event(), Lock()

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        nth = self._agent.counting.next(case.id)
        self._wait(self._agent.options.latency_ms / 1000, timeout_s)
        with self._busy:
            if self._closed.is_set():
                raise InfraFailure("the connection was closed")
            return ask(
                case.question,
                nth=nth,
                knowledge=self._knowledge,
                options=self._agent.options,
                connection=self._database,
            )

    def close(self) -> None:
        self._closed.set()
        with self._busy:
            self._database.close()

    def _wait(self, latency_s: float, timeout_s: float) -> None:
        left = min(latency_s, timeout_s)
        while left > 0:
            if self._closed.wait(min(left, _GLANCE_S)) or self._world.cancelled():
                raise InfraFailure("the run was stopped before the sample agent answered")
            left -= _GLANCE_S
        if latency_s > timeout_s:
            raise AgentFailure(f"no answer within {timeout_s:g} s", timed_out=True)


@cache
def _knowledge(datasets: Path, stale: bool) -> Knowledge:
    return load_bundled(datasets, stale=stale)
