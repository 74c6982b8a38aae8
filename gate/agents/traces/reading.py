"""The entry point: a trace of any shape into steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, get_args

from gate.agents.traces.detecting import shape_of
from gate.agents.traces.trace import Shape, Trace
from gate.agents.traces.values import parse_text
from gate.errors import AgentFailure
from gate.records import Json

if TYPE_CHECKING:
    from gate.agents.traces.building import Builder

_KIN: tuple[tuple[Shape, Shape], ...] = (  # (named, found): one is also the other
    ("langgraph", "langchain"),
)


def read_trace(data: Json, shape: Shape | None = None) -> Trace:
    """`data`: parsed JSON, or a text that holds JSON, JSON Lines or lines of a console.

    Raises AgentFailure: of no shape, of another one than is named, or with a wrong type in it,
    which the message names.
    """
    # Most answers come without a trace, and one with a trace has one shape.
    from gate.agents.traces.building import Builder

    into = Builder()
    try:
        opened = _parse_text(data, into)
        chosen = _choose_shape(opened, shape)
        _reader(chosen)(opened, into)
        return into.trace(chosen)
    except RecursionError:
        raise AgentFailure("the trace is nested too deeply") from None


def _reader(shape: Shape) -> Callable[[Json, Builder], None]:
    if shape == "openai":
        from gate.agents.traces.openai_chat import read
    elif shape == "openai_responses":
        from gate.agents.traces.openai_responses import read
    elif shape == "anthropic":
        from gate.agents.traces.anthropic import read
    elif shape == "langchain":
        from gate.agents.traces.langchain import read
    elif shape == "langgraph":
        from gate.agents.traces.langchain import read_graph as read
    elif shape == "otel":
        from gate.agents.traces.otel import read
    else:
        from gate.agents.traces.openagent import read
    return read


def _parse_text(data: Json, into: Builder) -> Json:
    """JSON and JSON Lines that are still text; a last line that was cut off is left out."""
    if not isinstance(data, str) or data.lstrip()[:1] not in ("{", "["):
        return data
    try:
        return parse_text(data)
    except ValueError:
        values = _values(data)
    parsed: list[Json] = []
    for n, (line, value) in enumerate(values, 1):
        try:
            parsed.append(parse_text(value))
        except ValueError:
            if n < len(values) or n == 1:
                raise AgentFailure(f"line {line} of the trace is not JSON") from None
            into.faults.tell("cut_off")
    return parsed


def _values(data: str) -> list[tuple[int, str]]:
    """Values and the lines where they begin: a value a line, or such as are written over several
    lines, one behind the other, each of which begins with an open bracket at a line's beginning.
    """
    lines = [(n, line) for n, line in enumerate(_lines(data), 1) if line.strip()]
    if len(lines) < 2 or lines[0][1].rstrip() not in ("{", "["):
        return [(n, line) for n, (_, line) in enumerate(lines, 1)]
    pieces: list[tuple[int, list[str]]] = []
    for n, line in lines:
        if line[0] in "{[" or not pieces:
            pieces.append((n, []))
        pieces[-1][1].append(line)
    return [(n, "\n".join(parts)) for n, parts in pieces]


def _lines(data: str) -> list[str]:
    """By line feeds alone: other signs that end a line may stand inside a text."""
    return data.split("\n")


def _choose_shape(data: Json, named: Shape | None) -> Shape:
    detected = shape_of(data)
    if detected is None and named is None:
        names = ", ".join(get_args(Shape))
        raise AgentFailure(f"the shape of the trace is unknown - known: {names}")
    if named is None:
        return detected[0] if detected else "openai"
    if detected and detected[0] != named and detected[1] and (named, detected[0]) not in _KIN:
        raise AgentFailure(
            f"the trace is declared as {named} but looks like {detected[0]} - write "
            f"`trace: {detected[0]}`, or auto"
        )
    return named
