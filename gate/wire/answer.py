"""What agents send, made into a Response: one place for the key names and types that are accepted.

Everything here is hostile: a wrong type is an AgentFailure that names the key, never a crash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

from gate.errors import AgentFailure
from gate.http import Reply
from gate.records import Document, Json, Response, Role, ToolCall, Usage

ANSWERS = ("answer", "output", "text")
_BESIDE = {  # what else an answer object may have
    *("retrieved", "context", "steps", "tool_calls", "usage", "cost_usd", "cost", "model"),
    *("finish_reason", "safety_violations"),
}

_HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")
_INPUT = ("input_tokens", "prompt_tokens")
_OUTPUT = ("output_tokens", "completion_tokens")
_CACHED = (
    *(("cached_tokens",), ("prompt_tokens_details", "cached_tokens")),
    *(("input_tokens_details", "cached_tokens"), ("prompt_cache_hit_tokens",)),
)
_REASONING = (
    *(("reasoning_tokens",), ("completion_tokens_details", "reasoning_tokens")),
    ("output_tokens_details", "reasoning_tokens"),
)


def json_of(reply: Reply) -> Json:
    """The body as JSON. Raises AgentFailure that shows how the body begins."""
    try:
        return parse(reply.body)
    except ValueError:
        kind = reply.headers.get("content-type", "").partition(";")[0].strip()
        found = f"{reply.masked(kind)}, not JSON" if kind and "json" not in kind else "not JSON"
        said = reply.excerpt() or "(nothing)"
        raise AgentFailure(f"{reply.address} answered with {found}: {said}") from None


def parse(data: bytes) -> Json:
    """JSON whose text can be written as UTF-8: halves of characters become `?`. Raises
    ValueError.
    """
    try:
        found = json.loads(data)
        if _HALF_CHARACTER.search(data):
            text = json.dumps(found, ensure_ascii=False)
            found = json.loads(text.encode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return found


def response(data: Json, *, model: str | None = None, section: str = "agent") -> Response:
    """An answer object of a plain agent (docs/agents.md). Raises AgentFailure.

    `model` is used where the object names none. Of a judge (`section` of gate.yml) an object that
    has other keys is the judgement itself.
    """
    if section in get_args(Role) and isinstance(data, dict) and not _is_answer(data):
        data = {ANSWERS[0]: data}
    _object(data, "the answer")
    key = next((name for name in ANSWERS if name in data), None)
    if key is None:
        raise AgentFailure("the answer has none of the keys answer, output, text")
    usage = usage_of(data.get("usage"))
    cost = number(first(data, "cost_usd", "cost"), "cost_usd")
    return Response(
        answer=answer_text(data[key]),
        retrieved=documents(data.get("retrieved"), "retrieved"),
        context=context_text(data.get("context"), "context"),
        steps=tool_calls(first(data, "steps", "tool_calls"), "steps"),
        usage=usage if cost is None else replace(usage, cost_usd=cost),
        model=text(data.get("model"), "model") or model,
        finish_reason=text(data.get("finish_reason"), "finish_reason"),
        safety_violations=violations(data.get("safety_violations")),
    )


def _is_answer(data: Mapping[str, Json]) -> bool:
    named = [key for key in ANSWERS if key in data]
    return bool(named) and _BESIDE.issuperset(data.keys() - named)


def answer_text(value: Json) -> str:
    """A string as it is, nothing as an empty one, anything else as its JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def documents(value: Json, key: str) -> tuple[Document, ...] | None:
    """`retrieved`: ids, or objects {id, score, text}, best first."""
    if value is None:
        return None
    return tuple(_document(item, f"{key}[{n}]") for n, item in enumerate(_list(value, key)))


def context_text(value: Json, key: str) -> str | None:
    """A text, or a list of texts or of objects with `text`, joined by empty lines."""
    if value is None or isinstance(value, str):
        return value
    parts = [item.get("text") if isinstance(item, dict) else item for item in _list(value, key)]
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) < len(parts):
        raise AgentFailure(f"{key} is not a text or a list of texts")
    return "\n\n".join(texts)


def tool_calls(value: Json, key: str) -> tuple[ToolCall, ...] | None:
    """`steps`: objects {name, arguments, result, error, id}, or OpenAI's and Anthropic's calls."""
    if value is None:
        return None
    return tuple(tool_call(item, f"{key}[{n}]") for n, item in enumerate(_list(value, key)))


def tool_call(value: Json, key: str) -> ToolCall:
    item = _object(value, key)
    inner = [item[word] for word in ("function", "custom") if isinstance(item.get(word), dict)]
    call = inner[0] if inner else item
    name = first(call, "name", "tool")
    if not isinstance(name, str) or not name:
        raise AgentFailure(f"{key} has no name")
    given = first(call, "arguments", "args", "input")
    arguments, raw = _arguments(given) if "custom" not in item else (given, None)
    result = first(item, "result", "output")
    return ToolCall(
        name=name,
        arguments=arguments,
        raw_arguments=raw,
        result=result,
        error=_error(item.get("error"), result),
        id=text(first(item, "id", "call_id"), f"{key}.id"),
    )


def usage_of(value: Json) -> Usage:
    """Token counts under OpenAI's or our names; what is not said stays unknown."""
    if value is None:
        return Usage()
    data = _object(value, "usage")
    return Usage(
        input_tokens=count(first(data, *_INPUT), "usage.input_tokens"),
        cached_tokens=count(_deep(data, _CACHED), "usage.cached_tokens"),
        output_tokens=count(first(data, *_OUTPUT), "usage.output_tokens"),
        reasoning_tokens=count(_deep(data, _REASONING), "usage.reasoning_tokens"),
        cost_usd=number(first(data, "cost_usd", "cost"), "usage.cost_usd"),
    )


def violations(value: Json, key: str = "safety_violations") -> tuple[str, ...] | None:
    """Texts, or objects with a `type`, `name` or `message`."""
    if value is None:
        return None
    found = [
        first(item, "type", "name", "message") if isinstance(item, dict) else item
        for item in _list(value, key)
    ]
    if not all(isinstance(item, str) for item in found):
        raise AgentFailure(f"{key} is not a list of texts")
    return tuple(found)


def text(value: Json, key: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise AgentFailure(f"{key} is not a text")


def number(value: Json, key: str) -> float | None:
    """A number from 0 to 1e15."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1e15:
        raise AgentFailure(f"{key} is not a number of 0 or more")
    return float(value)


def count(value: Json, key: str) -> int | None:
    found = number(value, key)
    return None if found is None else int(found)


def first(data: Mapping[str, Json], *keys: str) -> Json:
    """The value of the first key that is there and not null."""
    for key in keys:
        value = data.get(key)
        if value is not None:
            return value
    return None


def _deep(data: Mapping[str, Json], paths: tuple[tuple[str, ...], ...]) -> Json:
    for path in paths:
        value: Any = data
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            return value
    return None


def _document(value: Json, key: str) -> Document:
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return Document(id=str(value))
    item = _object(value, key)
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
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= 1e15:
        raise AgentFailure(f"{key} is not a number")
    return float(value)


def _arguments(value: Json) -> tuple[Json, str | None]:
    """(arguments, raw text): a text is JSON inside JSON; one that is not is kept as it came."""
    if not isinstance(value, str):
        return {} if value is None else value, None
    if not value.strip():  # what some servers send for a call without arguments
        return {}, None
    try:
        return parse(value.encode("utf-8", "replace")), None
    except ValueError:
        return None, value


def _error(value: Json, result: Json) -> str | None:
    if value is None or value is False:
        return None
    if value is True:  # a flag; what went wrong stands in the result
        return answer_text(result) or "error"
    return answer_text(value)


def _list(value: Json, key: str) -> list[Json]:
    if isinstance(value, (list, tuple)):
        return list(value)
    raise AgentFailure(f"{key} is not a list")


def _object(value: Json, key: str) -> dict[str, Json]:
    if isinstance(value, dict):
        return value
    raise AgentFailure(f"{key} is not an object")
