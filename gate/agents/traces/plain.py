"""Steps and documents as an answer object lists them itself."""

from __future__ import annotations

from collections.abc import Mapping

from gate.agents.traces.faults import TraceFaults
from gate.agents.traces.values import (
    LARGEST,
    arguments_of,
    as_object,
    error_of,
    first,
    list_keys,
    parse_call,
    text,
)
from gate.errors import AgentFailure
from gate.files.json_values import is_number
from gate.records import Document, Json, ToolCall

_IDS = ("id", "doc_id", "document_id")


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
    document_id = first(item, *_IDS)
    if not isinstance(document_id, (str, int)) or isinstance(document_id, bool):
        raise AgentFailure(_explain_no_id(item, key))
    return Document(
        id=str(document_id),
        score=_score(item.get("score"), f"{key}.score"),
        text=text(first(item, "text", "content"), f"{key}.text"),
    )


def _explain_no_id(item: Mapping[str, Json], key: str) -> str:
    """The keys that are there: which of them is the id is known to whoever wrote the agent."""
    named = next((name for name in _IDS if name in item), None)
    if named is not None:
        what = "is null" if item[named] is None else "is neither a text nor a whole number"
        return f"{key}.{named} {what}; an id is needed"
    return f"{key} {list_keys(item)}; an id, doc_id or document_id is needed"


def _score(value: Json, key: str) -> float | None:
    if value is None:
        return None
    if not is_number(value) or not abs(value) <= LARGEST:
        raise AgentFailure(f"{key} is not a number")
    return float(value)
