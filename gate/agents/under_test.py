"""What is under test: the agent, a retriever beside it, or a retriever alone."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from gate.errors import AgentFailure, InfraFailure, Transport
from gate.plugins import (
    AGENTS,
    RETRIEVERS,
    Agent,
    AgentTraits,
    Connection,
    StartsEarly,
    World,
    build,
    read_traits,
)
from gate.records import Case, Health, PluginSpec, Response
from gate.records.codec import digest
from gate.system.pace import Pace
from gate.system.slots import Slots

if TYPE_CHECKING:
    from gate.agents.recordings.answers import Recording

_ADDRESS = ("base_url", "url")  # options; what describes an agent has them
NOBODY = "none"  # the agent type of gate/agents/protocols/none.py


def subject(
    agent: PluginSpec, retriever: PluginSpec | None, root: Path, *, given: Agent | None = None
) -> Agent:
    """Who is asked. `given`: the agent itself, which its section describes. Raises UsageError."""
    if retriever is None:
        return given or build(AGENTS, agent, root)
    return WithRetriever(
        agent=given or (None if agent.name == NOBODY else build(AGENTS, agent, root)),
        retriever=build(RETRIEVERS, retriever, root),
    )


def sends_case_keys(
    agents: Iterable[PluginSpec | None], retrievers: Iterable[PluginSpec | None]
) -> bool:
    """Whether a type among them may send keys of cases (AgentTraits of gate/plugins.py)."""
    return any(
        spec is not None
        and spec.name in registry
        and hasattr(registry.get_class(spec.name), "case_keys")
        for registry, specs in ((AGENTS, agents), (RETRIEVERS, retrievers))
        for spec in specs
    )


@runtime_checkable
class Replays(Protocol):
    """Optional for an agent that plays recorded answers."""

    def load_recording(self, world: World) -> Recording:
        """The recording, read once. Raises UsageError for a file that is none."""
        ...


def begin(agent: Agent, world: World) -> None:
    """Starts what takes time to start, while the rest is read and checked."""
    if isinstance(agent, StartsEarly):
        agent.begin(world)


def make_slots(agents: Sequence[Agent]) -> Slots:
    """Where the agents' requests wait: all agents share them, and the lowest number counts."""
    adaptive = all(read_traits(AgentTraits, agent).adaptive for agent in agents)
    most = min(agent.concurrency for agent in agents)
    patience_s = min(agent.timeout_s for agent in agents)
    return Slots(Pace(most, adaptive=adaptive, patience_s=patience_s))


def check_health(agent: Agent, world: World) -> Health:
    """Whether the agent can be asked, and if not, why."""
    start = time.perf_counter()
    status, error = None, ""
    transport: Transport | None = None
    try:
        status = agent.check(world)
    except InfraFailure as failure:
        error, transport = str(failure), failure.transport
    took = round((time.perf_counter() - start) * 1e3, 3)
    return Health(ok=not error, latency_ms=took, status=status, error=error, transport=transport)


def settings_digest(agent: PluginSpec, retriever: PluginSpec | None) -> str:
    """As `subject_digest`, without where they are reached: another port is no other agent."""
    there, beside = (
        {name: option for name, option in spec.options.items() if name not in _ADDRESS}
        if spec
        else {}
        for spec in (agent, retriever)
    )
    return digest(there if retriever is None else [there, retriever.name, beside])


def subject_digest(agent: PluginSpec, retriever: PluginSpec | None) -> str:
    """sha256 of the options of both."""
    if retriever is None:
        return digest(agent.options)
    return digest([agent.options, retriever.name, retriever.options])


@dataclass(frozen=True, slots=True, kw_only=True)
class WithRetriever:
    """An Agent (gate/plugins.py) whose `retrieved` is what the retriever says, whatever the agent
    says; without an agent the answer is empty.
    """

    agent: Agent | None
    retriever: Agent

    @property
    def timeout_s(self) -> float:
        return (self.agent or self.retriever).timeout_s

    @property
    def concurrency(self) -> int:
        return min(one.concurrency for one in self._list_agents())

    @property
    def requests_per_minute(self) -> float | None:
        return min(
            filter(None, (one.requests_per_minute for one in self._list_agents())), default=None
        )

    @property
    def adaptive(self) -> bool:
        return all(read_traits(AgentTraits, one).adaptive for one in self._list_agents())

    def describe(self) -> str:
        with_retriever = f"retriever {self.retriever.describe()}"
        return f"{self.agent.describe()}, {with_retriever}" if self.agent else with_retriever

    def begin(self, world: World) -> None:
        if self.agent is not None:
            begin(self.agent, world)
        begin(self.retriever, replace(world, section="retriever"))

    def check(self, world: World) -> int | None:
        status = self.agent.check(world) if self.agent else None
        self.retriever.check(replace(world, section="retriever"))
        return status

    def connect(self, world: World) -> Connection:
        return _Connection(
            self.agent.connect(world) if self.agent else None,
            self.retriever.connect(replace(world, section="retriever")),
            self.retriever.timeout_s,
        )

    def _list_agents(self) -> list[Agent]:
        return [self.agent, self.retriever] if self.agent else [self.retriever]


class _Connection:
    """The retriever is asked first: where it fails, no agent has been paid for."""

    def __init__(
        self, agent: Connection | None, retriever: Connection, retriever_timeout_s: float
    ) -> None:
        self._agent = agent
        self._retriever = retriever
        self._retriever_timeout_s = retriever_timeout_s

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        """`latency_ms` is the agent's own time where there is one."""
        if self._agent is None:
            return self._search(case, timeout_s)
        search = self._search(case, self._retriever_timeout_s)
        start = time.perf_counter()
        answer = self._agent.ask(case, timeout_s=timeout_s)
        latency = answer.latency_ms
        if latency is None:
            latency = (time.perf_counter() - start) * 1e3
        return replace(answer, retrieved=search.retrieved, latency_ms=latency)

    def close(self) -> None:
        self._retriever.close()
        if self._agent is not None:
            self._agent.close()

    def _search(self, case: Case, timeout_s: float) -> Response:
        try:
            return self._retriever.ask(case, timeout_s=timeout_s)
        except AgentFailure as failure:
            message = f"retriever: {failure}"
            raise AgentFailure(
                message,
                final=failure.final,
                timed_out=failure.timed_out,
                transport=failure.transport,
            ) from failure
        except InfraFailure as failure:
            message = f"retriever: {failure}"
            raise InfraFailure(
                message,
                retry_after=failure.retry_after,
                transport=failure.transport,
                is_refusal=failure.is_refusal,
            ) from failure
