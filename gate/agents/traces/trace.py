"""What a trace comes to, whichever shape it had."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gate.records import Document, ToolCall, Usage

Shape = Literal[
    "openai", "openai_responses", "anthropic", "langchain", "langgraph", "otel", "openagent"
]

MAX_STEPS = 1_000  # kept of one trace; what comes after is counted
MAX_DOCUMENTS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """`answer` is what the last model call said; None: there was no model call.

    `turns` are the model calls, None where the shape does not show them; fields as in Response.
    """

    shape: Shape | None  # None: a plain list of calls
    answer: str | None = None
    steps: tuple[ToolCall, ...] | None = ()  # None: it does not show them
    turns: int | None = None
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    finish_reason: str | None = None
    retrieved: tuple[Document, ...] | None = None
    omitted_steps: int = 0
    faults: tuple[str, ...] = ()
