"""Nobody: what `agent` is where gate.yml has a `retriever` and no agent."""

from __future__ import annotations

from dataclasses import dataclass

from gate.errors import UsageError
from gate.plugins import AGENTS, Connection, World


@AGENTS.register("none")
@dataclass(frozen=True, slots=True, kw_only=True)
class Nobody:
    """No agent: a `retriever` alone is measured."""

    timeout_s: float = 240.0
    concurrency: int = 16
    requests_per_minute: float | None = None

    def describe(self) -> str:
        return "none"

    def check(self, world: World) -> None:
        raise UsageError(f"{world.section}.type: none asks nobody - write a retriever, or an agent")

    def connect(self, world: World) -> Connection:
        raise UsageError(f"{world.section}.type: none asks nobody - write a retriever, or an agent")
