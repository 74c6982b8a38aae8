"""Nobody: what `agent` is where gate.yml has a `retriever` and no agent, and where suites that are
code are run without a gate.yml.
"""

from __future__ import annotations

from dataclasses import dataclass

from gate.errors import UsageError
from gate.plugins import AGENTS, Connection, World
from gate.records import Case, Response


@AGENTS.register("none")
@dataclass(frozen=True, slots=True, kw_only=True)
class Nobody:
    """No agent: a `retriever` alone is measured, or suites that ask by themselves."""

    timeout_s: float = 240.0
    concurrency: int = 16
    requests_per_minute: float | None = None
    adaptive: bool = True

    def describe(self) -> str:
        return "none"

    def check(self, world: World) -> None:
        """Suites that are code ask by themselves."""

    def connect(self, world: World) -> Connection:
        return _Connection(world.section)


class _Connection:
    def __init__(self, section: str) -> None:
        self._section = section

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        raise UsageError(
            f"{self._section}.type: none means that there is no agent to ask - "
            "set a retriever, or the type of an agent"
        )

    def close(self) -> None:
        """Nothing is open."""
