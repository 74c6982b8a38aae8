"""The entry point: a trace of any shape into steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from gate.agents.traces import anthropic, langchain, openagent, openai_chat, openai_responses, otel
from gate.agents.traces.building import Builder
from gate.agents.traces.detecting import shape_of
from gate.agents.traces.trace import Shape, Trace
from gate.agents.traces.values import parsed
from gate.errors import AgentFailure
from gate.records import Json

_READERS: dict[Shape, Callable[[Json, Builder], None]] = {
    "openai": openai_chat.read,
    "openai_responses": openai_responses.read,
    "anthropic": anthropic.read,
    "langchain": langchain.read,
    "langgraph": langchain.read_graph,
    "otel": otel.read,
    "openagent": openagent.read,
}
_KIN: tuple[tuple[Shape, Shape], ...] = (  # (named, found): one is also the other
    ("langgraph", "langchain"),
)


def read_trace(data: Json, shape: Shape | None = None) -> Trace:
    """`data`: parsed JSON, or a text that holds JSON, JSON Lines or lines of a console.

    Raises AgentFailure: of no shape, of another one than is named, or with a wrong type in it,
    which the message names.
    """
    into = Builder()
    try:
        opened = _opened(data, into)
        chosen = _chosen(opened, shape)
        _READERS[chosen](opened, into)
        return into.trace(chosen)
    except RecursionError:
        raise AgentFailure("the trace is nested too deeply") from None


def _opened(data: Json, into: Builder) -> Json:
    """JSON and JSON Lines that are still text; a last line that was cut off is left out."""
    if not isinstance(data, str) or data.lstrip()[:1] not in ("{", "["):
        return data
    try:
        return parsed(data)
    except ValueError:
        lines = [line for line in data.splitlines() if line.strip()]
    found: list[Json] = []
    for n, line in enumerate(lines, 1):
        try:
            found.append(parsed(line))
        except ValueError:
            if n < len(lines) or n == 1:
                raise AgentFailure(f"line {n} of the trace is not JSON") from None
            into.faults.tell("cut_off")
    return found


def _chosen(data: Json, named: Shape | None) -> Shape:
    found = shape_of(data)
    if found is None and named is None:
        known = ", ".join(get_args(Shape))
        raise AgentFailure(f"the trace has none of the shapes that are known: {known}")
    if named is None:
        return found[0] if found else "openai"
    if found and found[0] != named and found[1] and (named, found[0]) not in _KIN:
        raise AgentFailure(
            f"the trace is said to be of the shape {named} and looks like {found[0]} - write "
            f"`trace: {found[0]}`, or auto"
        )
    return named
