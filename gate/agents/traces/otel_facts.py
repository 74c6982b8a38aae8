"""What a span says of a model call, a tool, an agent or a retrieval: GenAI conventions old and new,
and OpenInference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from gate.agents.traces.values import (
    Called,
    as_list,
    as_object,
    at,
    content_text,
    first,
    json_inside,
    parse_call,
    text,
)
from gate.records import Json

Kind = Literal["llm", "tool", "mcp", "agent", "retrieval", "other"]
T = TypeVar("T")
Attributes = Mapping[str, Json]
Event = tuple[str, Attributes]

_MOST_ASKED = 20_000  # characters of a question
_QUESTIONS = ("input", "question", "query", "prompt")
_USERS = ("user", "human")
_DEEPEST = 12  # words of a dotted key that are taken apart
USAGE = (
    *("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "cost_usd"),
    "total_tokens",
)
_USAGE = (  # the same by their names, the newest first
    ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    ("gen_ai.usage.cache_read.input_tokens",),
    ("gen_ai.usage.reasoning.output_tokens",),
    ("gen_ai.usage.cost", "llm.cost.total"),
    ("gen_ai.usage.total_tokens", "llm.usage.total_tokens"),
)
_USAGE_OPENINFERENCE = (
    ("llm.token_count.prompt",),
    ("llm.token_count.completion",),
    ("llm.token_count.prompt_details.cache_read",),
    ("llm.token_count.completion_details.reasoning",),
    ("llm.cost.total",),
    ("llm.token_count.total",),
)


class ModelCall(NamedTuple):
    """`said` is None and `calls` is empty where content is not recorded. `asked`: the last message
    of a user. Tuples, for their speed.
    """

    said: str | None
    calls: tuple[Called, ...]
    results: tuple[tuple[str, Json], ...]  # call id -> result, since the model last spoke
    usage: tuple[Json, ...]  # of USAGE
    model: Json
    finish_reason: Json
    cut_off: bool  # messages are there, and are no JSON
    asked: str | None


class ExecutedCall(NamedTuple):
    """A call that ran; `given` is not parsed yet."""

    name: str | None
    id: str | None
    given: Json
    result: Json


class AgentCall(NamedTuple):
    answer: str | None
    asked: str | None


class RetrievalFacts(NamedTuple):
    documents: list[Json]  # ids or objects, best first


Facts = ModelCall | ExecutedCall | AgentCall | RetrievalFacts | None


def facts_of(kind: Kind, attributes: Attributes, events: Sequence[Event] = ()) -> Facts:
    """Raises AgentFailure for a wrong type."""
    if kind == "llm":
        return (
            _genai(attributes, events)
            if "gen_ai.operation.name" in attributes
            else _openinference(attributes)
        )
    if kind in ("tool", "mcp"):
        return _find_execution(attributes)
    if kind == "agent":
        given = _messages(json_inside(attributes.get("gen_ai.input.messages")))
        return AgentCall(_final_answer(attributes), _find_question(attributes, events, given))
    return RetrievalFacts(_documents(attributes)) if kind == "retrieval" else None


def fill_gaps(outer: Facts, inner: Facts) -> Facts:
    """The gaps of the one filled by what the other one knows of the same call."""
    if isinstance(outer, ModelCall) and isinstance(inner, ModelCall):
        content = inner if outer.said is None and not outer.calls else outer
        return ModelCall(
            said=content.said,
            calls=content.calls,
            results=outer.results or inner.results,
            usage=tuple(map(_either, outer.usage, inner.usage)),
            model=_either(outer.model, inner.model),
            finish_reason=_either(outer.finish_reason, inner.finish_reason),
            cut_off=content.cut_off,
            asked=_either(outer.asked, inner.asked),
        )
    if isinstance(outer, ExecutedCall) and isinstance(inner, ExecutedCall):
        return ExecutedCall._make(map(_either, outer, inner))
    return outer


def _either(first_value: T | None, second_value: T | None) -> T | None:
    return second_value if first_value is None else first_value


# ------------------------------------------------------------------------------- GenAI conventions


def _genai(attributes: Attributes, events: Sequence[Event]) -> ModelCall:
    output = json_inside(attributes.get("gen_ai.output.messages"))
    messages = _messages(output)
    if events:
        messages += _choices(events)
    parts = [part for message in messages for part in _parts(message)]
    reasons = attributes.get("gen_ai.response.finish_reasons")
    finish_reasons = [message.get("finish_reason") for message in messages]
    given = _messages(json_inside(attributes.get("gen_ai.input.messages")))
    return ModelCall(
        said=_text(parts) if messages else None,
        calls=tuple(parse_call(part) for part in parts if part.get("type") == "tool_call"),
        results=tuple(_results(given)),
        usage=_usage(attributes, _USAGE),
        model=first(attributes, "gen_ai.response.model", "gen_ai.request.model"),
        finish_reason=reasons[-1]
        if isinstance(reasons, list) and reasons
        else (finish_reasons or [None])[-1],
        cut_off=isinstance(output, str),
        asked=_find_question(attributes, events, given),
    )


def _find_question(
    attributes: Attributes, events: Sequence[Event], given: list[dict[str, Json]]
) -> str | None:
    """The last message of a user; None where content is not recorded."""
    questions = [content_text(first(e, "content")) for n, e in events if n == "gen_ai.user.message"]
    users = (message for message in reversed(given) if message.get("role") == "user")
    texts = (one for one in (*reversed(questions), *(_text(_parts(m)) for m in users)) if one)
    last = next(texts, None)
    return last[:_MOST_ASKED] if last else _find_input(attributes)


def _final_answer(attributes: Attributes) -> str | None:
    """What an agent's span says that the agent answered."""
    messages = _messages(json_inside(attributes.get("gen_ai.output.messages")))
    if messages:
        return _text([part for message in messages for part in _parts(message)])
    if "gen_ai.operation.name" in attributes:
        return None
    output = attributes.get("output.value")
    plain = attributes.get("output.mime_type") in (None, "text/plain")
    return output if plain and isinstance(output, str) else None


def _find_execution(attributes: Attributes) -> ExecutedCall:
    name = first(attributes, "gen_ai.tool.name", "tool.name")
    id = first(attributes, "gen_ai.tool.call.id", "tool_call.id", "tool.id")
    keys = ("gen_ai.tool.call.arguments", "input.value", "tool.parameters")
    called = parse_call({"name": "?" if name is None else name, "id": id})
    result = json_inside(first(attributes, "gen_ai.tool.call.result", "output.value"))
    return ExecutedCall(
        None if name is None else called.name, called.id, first(attributes, *keys), result
    )


def _documents(attributes: Attributes) -> list[Json]:
    documents = json_inside(attributes.get("gen_ai.retrieval.documents"))
    if documents is not None:
        return as_list(documents, "gen_ai.retrieval.documents")
    nested = _collect_indexed(attributes, "retrieval", "documents")
    return [item.get("document", item) for item in nested]


def _usage(attributes: Attributes, names: Sequence[tuple[str, ...]]) -> tuple[Json, ...]:
    return tuple([first(attributes, *theirs) for theirs in names])


def _messages(value: Json) -> list[dict[str, Json]]:
    """The messages in an attribute; none where it was cut off and is no JSON any more."""
    if not value or isinstance(value, str):
        return []
    return [as_object(message, "a message") for message in as_list(value, "messages")]


def _choices(events: Sequence[Event]) -> Iterator[dict[str, Json]]:
    """What conventions up to 1.36 have as events instead: OpenAI's messages."""
    for name, attributes in events:
        if name == "gen_ai.choice":
            inner = json_inside(first(attributes, "message"))
            message = inner if isinstance(inner, dict) else attributes
            calls = as_list(json_inside(message.get("tool_calls")) or [], "tool_calls")
            tool_calls = [{**as_object(call, "a tool call"), "type": "tool_call"} for call in calls]
            text_part = {"type": "text", "content": content_text(message.get("content"))}
            yield {
                "parts": [text_part, *tool_calls],
                "finish_reason": attributes.get("finish_reason"),
            }


def _parts(message: Attributes) -> list[dict[str, Json]]:
    content, part_list = message.get("content"), message.get("parts")
    parts = (
        [part for part in as_list(part_list, "parts") if isinstance(part, dict)]
        if part_list
        else []
    )
    if isinstance(content, str):
        parts.insert(0, {"type": "text", "content": content})
    return parts


def _text(parts: list[dict[str, Json]]) -> str:
    contents = (part.get("content") for part in parts if part.get("type") == "text")
    return "".join(content for content in contents if isinstance(content, str))


def _results(given: list[dict[str, Json]]) -> Iterator[tuple[str, Json]]:
    """The results of the calls that the model made last, as (id of the call, result). Earlier
    results were given to an earlier model call.
    """
    for message in given[_spoke(given) :]:
        for part in _parts(message):
            id = part.get("id")
            if part.get("type") == "tool_call_response" and isinstance(id, str):
                yield id, first(part, "response", "result")


def _spoke(messages: list[dict[str, Json]]) -> int:
    """Where what came after the model's last message begins."""
    places = range(len(messages), 0, -1)
    return next((n for n in places if messages[n - 1].get("role") in ("assistant", "model")), 0)


# ------------------------------------------------------------------------------------ OpenInference


def _openinference(attributes: Attributes) -> ModelCall:
    outputs = [
        _inside(m, "message") for m in _collect_indexed(attributes, "llm", "output_messages")
    ]
    inputs = [_inside(m, "message") for m in _collect_indexed(attributes, "llm", "input_messages")]
    tool_calls = [call for m in outputs for call in _items(m.get("tool_calls"))]
    calls = [parse_call(_inside(call, "tool_call")) for call in tool_calls]
    results = [
        (id, first(m, "content"))
        for m in inputs[_spoke(inputs) :]
        if m.get("role") == "tool" and isinstance(id := m.get("tool_call_id"), str)
    ]
    plain = attributes.get("output.value") if not outputs else None
    questions = [question for m in inputs if m.get("role") == "user" and (question := _contents(m))]
    return ModelCall(
        said="".join(map(_contents, outputs)) if outputs else text(plain, "output.value"),
        calls=tuple(calls),
        results=tuple(results),
        usage=_usage(attributes, _USAGE_OPENINFERENCE),
        model=first(attributes, "llm.model_name"),
        finish_reason=first(attributes, "llm.finish_reason"),
        cut_off=False,
        asked=questions[-1][:_MOST_ASKED] if questions else _find_input(attributes),
    )


def _inside(item: dict[str, Json], key: str) -> dict[str, Json]:
    """The object under the key; where there is none the item itself."""
    inner = item.get(key)
    return inner if isinstance(inner, dict) else item


def _contents(message: Attributes) -> str:
    text = content_text(message.get("content")) or ""
    texts = (at(part, "message_content", "text") for part in _items(message.get("contents")))
    return text + "".join(one for one in texts if isinstance(one, str))


def _find_input(attributes: Attributes) -> str | None:
    """The question in what an agent, a chain or a model was called with."""
    plain = attributes.get("input.value")
    if not isinstance(plain, str):
        return None
    inner = json_inside(plain) if attributes.get("input.mime_type") == "application/json" else plain
    given = first(inner, "messages", *_QUESTIONS) if isinstance(inner, dict) else inner
    if isinstance(given, list):
        users = [m for m in given if isinstance(m, dict) and first(m, "role", "type") in _USERS]
        given = content_text(users[-1].get("content")) if users else None
    return (given if isinstance(given, str) and given else plain)[:_MOST_ASKED]


def _collect_indexed(attributes: Attributes, *prefix: str) -> list[dict[str, Json]]:
    """`a.b.0.c.d`, `a.b.1.c.e`: a list of objects; numbers that are left out too."""
    tree: dict[str, Json] = {}
    start = ".".join(prefix) + "."
    for key, value in attributes.items():
        way = key.split(".", _DEEPEST) if key.startswith(start) else ()
        inner = tree
        for step in way[:-1]:
            deeper = inner.setdefault(step, {})
            inner = deeper if isinstance(deeper, dict) else {}
        if way:
            inner[way[-1]] = value
    return _items(at(tree, *prefix))


def _items(node: Json) -> list[dict[str, Json]]:
    """The objects of an object whose keys are positions."""
    if not isinstance(node, dict):
        return []
    places = sorted((key for key in node if key.isdecimal() and len(key) < 7), key=int)
    return [node[key] for key in places if isinstance(node[key], dict)]
