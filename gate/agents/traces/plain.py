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
from gate.files.json_values import is_number
from gate.records import Document, Json, ToolCall


def step(value: Json, key: str, faults: TraceFaults | None = None) -> ToolCall:
    """{name, arguments, result, error, id, turn, latency_ms, correction}, or a call as OpenAI,
    Anthropic or LangChain writes it. `faults` are told of numbers that can be none.
    """
    item, called, faults_seen = (
        as_object(value, key),
        parse_call(value, key),
        faults or TraceFaults(),
    )
    turn = faults_seen.number(item.get("turn"), f"{key}.turn")
    arguments, raw = (called.given, None) if called.custom else arguments_of(called.given)
    result = first(item, "result", "output")
    return ToolCall(
        name=called.name,
        arguments=arguments,
        raw_arguments=raw,
        result=result,
        error=error_of(item.get("error"), result),
        id=called.id,
        turn=None if turn is None else int(turn),
        latency_ms=faults_seen.number(item.get("latency_ms"), f"{key}.latency_ms"),
        correction=bool(item.get("correction")),
    )


def document(value: Json, key: str) -> Document:
    """An id, or {id, score, text}."""
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return Document(id=str(value))
    item = as_object(value, key)
    document_id = first(item, "id", "doc_id", "document_id")
    if not isinstance(document_id, (str, int)) or isinstance(document_id, bool):
        raise AgentFailure(f"{key} has no id")
    return Document(
        id=str(document_id),
        score=_score(item.get("score"), f"{key}.score"),
        text=text(first(item, "text", "content"), f"{key}.text"),
    )


def _score(value: Json, key: str) -> float | None:
    if value is None:
        return None
    if not is_number(value) or not abs(value) <= LARGEST:
        raise AgentFailure(f"{key} is not a number")
    return float(value)
