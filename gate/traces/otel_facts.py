"""What a span says of a model call, a tool or a retrieval: GenAI conventions, old and new, and
OpenInference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gate.records import Json
from gate.traces.otel_spans import Span
from gate.traces.values import Called, at, called, first, json_inside, listed, mapped, said, text

Attributes = Mapping[str, Json]
_DEEPEST = 12  # words of a dotted key that are taken apart
_USAGE = {  # our name -> theirs, the newest first
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    "cached_tokens": ("gen_ai.usage.cache_read.input_tokens",),
    "reasoning_tokens": ("gen_ai.usage.reasoning.output_tokens",),
    "cost_usd": ("gen_ai.usage.cost",),
}
_USAGE_OPENINFERENCE = {
    "input_tokens": ("llm.token_count.prompt",),
    "output_tokens": ("llm.token_count.completion",),
    "cached_tokens": ("llm.token_count.prompt_details.cache_read",),
    "reasoning_tokens": ("llm.token_count.completion_details.reasoning",),
    "cost_usd": ("llm.cost.total",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """`said` is None and `calls` is empty where content is not recorded."""

    said: str | None
    calls: tuple[Called, ...]
    results: tuple[tuple[str, Json], ...]  # call id -> result, of the calls before
    usage: Mapping[str, Json]
    model: Json
    finish_reason: Json


def model_call(span: Span) -> ModelCall:
    """Of a span of kind llm. Raises AgentFailure."""
    found = span.attributes
    if "gen_ai.operation.name" not in found:
        return _openinference(found)
    messages = [*_messages(found.get("gen_ai.output.messages")), *_choices(span)]
    parts = [part for message in messages for part in _parts(message)]
    reasons = found.get("gen_ai.response.finish_reasons")
    told = [message.get("finish_reason") for message in messages]
    return ModelCall(
        said=_text(parts) if messages else None,
        calls=tuple(called(part) for part in parts if part.get("type") == "tool_call"),
        results=tuple(_results(found.get("gen_ai.input.messages"))),
        usage=_usage(found, _USAGE),
        model=first(found, "gen_ai.response.model", "gen_ai.request.model"),
        finish_reason=reasons[-1]
        if isinstance(reasons, list) and reasons
        else (told or [None])[-1],
    )


def final_answer(span: Span) -> str | None:
    """What an agent's span says that the agent answered."""
    found = span.attributes
    messages = list(_messages(found.get("gen_ai.output.messages")))
    if messages:
        return _text([part for message in messages for part in _parts(message)])
    if "gen_ai.operation.name" in found:
        return None
    output = found.get("output.value")
    plain = found.get("output.mime_type") in (None, "text/plain")
    return output if plain and isinstance(output, str) else None


def executed(span: Span) -> tuple[Called, Json]:
    """The call and its result, of a span of kind tool or mcp. Raises AgentFailure."""
    found = span.attributes
    name = first(found, "gen_ai.tool.name", "tool.name") or "(no name)"
    id = first(found, "gen_ai.tool.call.id", "tool_call.id", "tool.id")
    keys = ("gen_ai.tool.call.arguments", "input.value", "tool.parameters")
    made = called({"name": name, "id": id, "arguments": first(found, *keys)})
    return made, json_inside(first(found, "gen_ai.tool.call.result", "output.value"))


def documents(span: Span) -> list[Json]:
    """Of a span of kind retrieval: ids or objects, best first."""
    found = json_inside(span.attributes.get("gen_ai.retrieval.documents"))
    if found is not None:
        return listed(found, "gen_ai.retrieval.documents")
    nested = _nested(span.attributes, "retrieval", "documents")
    return [item.get("document", item) for item in nested]


def _openinference(found: Attributes) -> ModelCall:
    outputs = [m.get("message", m) for m in _nested(found, "llm", "output_messages")]
    inputs = [m.get("message", m) for m in _nested(found, "llm", "input_messages")]
    made = [call for m in outputs for call in _items(m.get("tool_calls"))]
    calls = [called(call.get("tool_call", call)) for call in made]
    results = [
        (id, first(m, "content"))
        for m in inputs
        if m.get("role") == "tool" and isinstance(id := m.get("tool_call_id"), str)
    ]
    plain = found.get("output.value") if not outputs else None
    return ModelCall(
        said="".join(map(_contents, outputs)) if outputs else text(plain, "output.value"),
        calls=tuple(calls),
        results=tuple(results),
        usage=_usage(found, _USAGE_OPENINFERENCE),
        model=first(found, "llm.model_name"),
        finish_reason=first(found, "llm.finish_reason"),
    )


def _contents(message: Attributes) -> str:
    own = said(message.get("content")) or ""
    texts = (at(part, "message_content", "text") for part in _items(message.get("contents")))
    return own + "".join(one for one in texts if isinstance(one, str))


def _usage(found: Attributes, names: Mapping[str, tuple[str, ...]]) -> dict[str, Json]:
    return {ours: first(found, *theirs) for ours, theirs in names.items()}


def _messages(value: Json) -> Iterator[dict[str, Json]]:
    """Structured, or as a JSON text."""
    for message in listed(json_inside(value) or [], "messages"):
        yield mapped(message, "a message")


def _choices(span: Span) -> Iterator[dict[str, Json]]:
    """What conventions up to 1.36 have as events instead: OpenAI's messages."""
    for name, found in span.events:
        if name == "gen_ai.choice":
            inner = json_inside(first(found, "message"))
            message = inner if isinstance(inner, dict) else found
            calls = listed(json_inside(message.get("tool_calls")) or [], "tool_calls")
            made = [{**mapped(call, "a tool call"), "type": "tool_call"} for call in calls]
            told = {"type": "text", "content": said(message.get("content"))}
            yield {"parts": [told, *made], "finish_reason": found.get("finish_reason")}


def _parts(message: Attributes) -> list[dict[str, Any]]:
    found = listed(message.get("parts") or [], "parts")
    content = message.get("content")
    plain = [{"type": "text", "content": content}] if isinstance(content, str) else []
    return [part for part in (*plain, *found) if isinstance(part, dict)]


def _text(parts: list[dict[str, Any]]) -> str:
    found = (part.get("content") for part in parts if part.get("type") == "text")
    return "".join(one for one in found if isinstance(one, str))


def _results(value: Json) -> Iterator[tuple[str, Json]]:
    """Results of earlier calls, which the next model call is shown."""
    for message in _messages(value):
        for part in _parts(message):
            id = part.get("id")
            if part.get("type") == "tool_call_response" and isinstance(id, str):
                yield id, first(part, "response", "result")


def _nested(found: Attributes, *prefix: str) -> list[dict[str, Any]]:
    """`a.b.0.c.d`, `a.b.1.c.e`: a list of objects; numbers that are left out too."""
    tree: dict[str, Any] = {}
    start = ".".join(prefix) + "."
    for key, value in found.items():
        way = key.split(".", _DEEPEST) if key.startswith(start) else ()
        inner = tree
        for step in way[:-1]:
            deeper = inner.setdefault(step, {})
            inner = deeper if isinstance(deeper, dict) else {}
        if way:
            inner[way[-1]] = value
    return _items(at(tree, *prefix))


def _items(node: Json) -> list[dict[str, Any]]:
    """The objects of an object whose keys are positions."""
    if not isinstance(node, dict):
        return []
    places = sorted((key for key in node if key.isdecimal() and len(key) < 7), key=int)
    return [node[key] for key in places if isinstance(node[key], dict)]
