"""A conversation as a trial: what was asked first, what was answered last, and all between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gate.agents.traces.detecting import shape_of, unwrap_message
from gate.agents.traces.reading import read_trace
from gate.agents.traces.trace import Trace
from gate.agents.traces.values import content_text
from gate.errors import AgentFailure
from gate.importers.formats.messages.conversations import HELD
from gate.records import Json

TOOL = "messages"
_USERS = ("user", "human")


def trace_in(data: Json) -> Trace:
    """Raises AgentFailure, also for what is no messages."""
    found = shape_of(data)
    if found is not None and found[0] in ("otel", "openagent"):
        named = "`gate import otel`" if found[0] == "otel" else "`trace: openagent`"
        raise AgentFailure(f"a trace of another kind, which {named} reads")
    return read_trace(data)


def question_in(data: Json) -> str:
    """The first message of a user; empty where there is none."""
    if isinstance(data, dict) and isinstance(data.get("input"), str):
        return str(data["input"])
    texts = (content_text(one.get("content")) for one in _messages(data, 4) if _is_users(one))
    return next(filter(None, texts), "")


def _is_users(message: Mapping[str, Any]) -> bool:
    return message.get("role") in _USERS or message.get("type") in _USERS


def _messages(data: Json, depth: int) -> Iterator[Mapping[str, Any]]:
    """Every message in it, in order, whichever shape holds it."""
    for one in data if isinstance(data, list) else [data]:
        if isinstance(one, list) and depth:
            yield from _messages(one, depth - 1)
        if not isinstance(one, dict):
            continue
        found = unwrap_message(one)
        if found is not None and "role" not in one:
            yield {"type": found[0], "content": found[1].get("content")}
        elif isinstance(one.get("role"), str):
            yield one
        elif depth:
            held = [one[key] for key in HELD if isinstance(one.get(key), list)]
            nodes = [inner for inner in one.values() if isinstance(inner, dict)]
            for inner in held[:1] or nodes:
                yield from _messages(inner, depth - 1)
