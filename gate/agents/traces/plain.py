"""Steps and documents as an answer object lists them itself."""

from __future__ import annotations

from gate.agents.traces.faults import TraceFaults
from gate.agents.traces.values import (
    LARGEST,
    arguments_of,
    as_object,
    error_of,
    first,
    parse_call,
    text,
)
from gate.errors import AgentFailure
from gate.records import Document, Json, ToolCall


def step(value: Json, key: str, faults: TraceFaults | None = None) -> ToolCall:
    """{name, arguments, result, error, id, turn, latency_ms, correction}, or a call as OpenAI,
    Anthropic or LangChain writes it. `faults` are told of numbers that can be none.
    """
    made, told = parse_call(value, key), faults or TraceFaults()
    turn = told.number(value.get("turn"), f"{key}.turn")
    arguments, raw = (made.given, None) if made.custom else arguments_of(made.given)
    result = first(value, "result", "output")
    return ToolCall(
        name=made.name,
        arguments=arguments,
        raw_arguments=raw,
        result=result,
        error=error_of(value.get("error"), result),
        id=made.id,
        turn=None if turn is None else int(turn),
        latency_ms=told.number(value.get("latency_ms"), f"{key}.latency_ms"),
        correction=bool(value.get("correction")),
    )


def document(value: Json, key: str) -> Document:
    """An id, or {id, score, text}."""
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return Document(id=str(value))
    item = as_object(value, key)
    found = first(item, "id", "doc_id", "document_id")
    if not isinstance(found, (str, int)) or isinstance(found, bool):
        raise AgentFailure(f"{key} has no id")
    return Document(
        id=str(found),
        score=_score(item.get("score"), f"{key}.score"),
        text=text(first(item, "text", "content"), f"{key}.text"),
    )


def _score(value: Json, key: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= LARGEST:
        raise AgentFailure(f"{key} is not a number")
    return float(value)
