"""Values of hostile JSON: texts, numbers, arguments inside JSON inside JSON.

What an agent, its libraries or its tracing wrote is read here with the same eyes, whatever shape
it came in: a wrong type is an AgentFailure that names the key, never a crash.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import NamedTuple, TypeGuard

from gate.errors import AgentFailure
from gate.records import Json
from gate.text.shortening import shorten

DEEPEST = 200  # levels of lists and objects; more would end in a RecursionError somewhere later
MOST_DIGITS = 400  # of a whole number; more are beyond any float
_MOST_KEYS, _KEY_LIMIT = 8, 40  # keys of an object that a message names, characters of each
LARGEST = 1e15  # of what counts as a number of tokens, dollars or milliseconds

_HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")
_TEXTS = ("text", "input_text", "output_text")  # types of parts that are nothing but text


class Called(NamedTuple):
    """A tool call as it was written: what is `given` is not parsed yet. A tuple, for its speed."""

    name: str
    given: Json
    custom: bool  # its input is a text, not JSON
    id: str | None


def parse(data: bytes) -> Json:
    """JSON whose text can be written as UTF-8: halves of characters become `?`. Raises
    ValueError.
    """
    try:
        value = loads(data)
        if _HALF_CHARACTER.search(data):
            text = json.dumps(value, ensure_ascii=False)
            value = json.loads(text.encode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if data.count(b"[") + data.count(b"{") > DEEPEST and too_deep(value):
        raise ValueError("nested too deeply")
    return value


def parse_text(value: str) -> Json:
    """`parse` of a text."""
    if "\\u" in value or _is_half(value):
        return parse(value.encode("utf-8", "replace"))
    try:
        parsed = loads(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if value.count("[") + value.count("{") > DEEPEST and too_deep(parsed):
        raise ValueError("nested too deeply")
    return parsed


def loads(data: bytes | str) -> Json:
    """`json.loads`, but a whole number with more digits than Python reads is infinite."""
    try:
        loaded: Json = json.loads(data)
    except json.JSONDecodeError:
        raise
    except ValueError:
        loaded = json.loads(data, parse_int=_parse_integer)
    return loaded


def _parse_integer(digits: str) -> float:
    return int(digits) if len(digits) < MOST_DIGITS else math.copysign(math.inf, int(digits[:2]))


def _is_half(value: str) -> bool:
    """Whether it has half a character, which no UTF-8 can hold."""
    try:
        return not value.isascii() and not value.encode()
    except UnicodeEncodeError:
        return True


def first(data: Mapping[str, Json], *keys: str) -> Json:
    """The value of the first key that is there and not null."""
    for key in keys:
        value = data.get(key)
        if value is not None:
            return value
    return None


def at(data: Json, *path: str) -> Json:
    """What stands under keys within keys; None where one of them is not there."""
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def text(value: Json, key: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise AgentFailure(f"{key} is not a text")


def as_list(value: Json, key: str) -> list[Json]:
    if isinstance(value, (list, tuple)):
        return list(value)
    raise AgentFailure(f"{key} is not a list")


def as_object(value: Json, key: str) -> dict[str, Json]:
    if isinstance(value, dict):
        return value
    raise AgentFailure(f"{key} is not an object")


def list_keys(item: Mapping[str, Json]) -> str:
    """`has the keys a, b`, for a message: the first ones, each cut, as an agent named them."""
    names = [shorten(name, _KEY_LIMIT) for name in islice(item, _MOST_KEYS)]
    if not names:
        return "has no keys"
    more = f" and {len(item) - len(names):,} more" if len(item) > len(names) else ""
    return f"has the key{'s' * (len(item) > 1)} {', '.join(names)}{more}"


def is_amount(value: object) -> TypeGuard[float]:
    """Whether it is a number from 0 to 1e15."""
    return type(value) is not bool and isinstance(value, (int, float)) and 0 <= value <= LARGEST


def cost_of(value: Json) -> float | None:
    """NaN, and so unknown, for what is no cost: a wrong bill is no wrong answer."""
    if value is None:
        return None
    return float(value) if is_amount(value) else math.nan


def each(items: Iterable[Json], key: str, read: Callable[[Json], None]) -> None:
    """Reads one after the other; an AgentFailure then says which one it was."""
    for n, item in enumerate(items):
        try:
            read(item)
        except AgentFailure as failure:
            raise AgentFailure(f"{key}[{n}]: {failure}") from None


def as_text(value: Json) -> str:
    """A string as it is, nothing as an empty one, anything else as its JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def content_text(content: Json) -> str | None:
    """A message's content as text: of a list of parts, those that are text; None: it is neither."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return None
    parts = (first(p, "text", "refusal") if isinstance(p, dict) else p for p in content)
    return "".join(part for part in parts if isinstance(part, str))


def message_text(message: Mapping[str, Json]) -> str:
    """What a message says; a refusal is an answer."""
    content = content_text(message.get("content"))
    if content is None:
        raise AgentFailure("content is not a text")
    return content or text(message.get("refusal"), "refusal") or ""


def result_of(content: Json) -> Json:
    """A tool's result: a list of nothing but parts of text is one text, all else as it is."""
    if isinstance(content, list) and content and all(map(_is_text, content)):
        return "".join(part["text"] for part in content)
    return content


def parse_call(value: Json, key: str = "it") -> Called:
    """OpenAI's, Anthropic's, LangChain's or a plain call. Raises AgentFailure."""
    item = as_object(value, key)
    inner, tool = item.get("function"), item.get("custom")
    custom = isinstance(tool, dict)
    call = inner if isinstance(inner, dict) else tool if isinstance(tool, dict) else item
    name = first(call, "name", "tool")
    if not isinstance(name, str) or not name:
        raise AgentFailure(f"{key} has no name")
    given = first(call, "arguments", "args", "input")
    return Called(name, given, custom, text(first(item, "id", "call_id"), f"{key}.id"))


def arguments_of(value: Json) -> tuple[Json, str | None]:
    """(arguments, raw text): a text is JSON inside JSON; one that is not is kept as it came."""
    if not isinstance(value, str):
        return {} if value is None else value, None
    if not value.strip():  # what some servers send for a call without arguments
        return {}, None
    try:
        arguments = parse_text(value)
    except ValueError:
        return None, value
    return {} if arguments is None else arguments, None


def error_of(value: Json, result: Json) -> str | None:
    if value is None or value is False:
        return None
    if value is True:  # a flag; what went wrong stands in the result
        return as_text(result) or "error"
    return as_text(value)


def json_inside(value: Json) -> Json:
    """What a text holds where it is a JSON object, list or string; else the value as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        try:
            return parse_text(value)
        except ValueError:
            return value
    return value


def _is_text(part: Json) -> bool:
    return (
        isinstance(part, dict) and part.get("type") in _TEXTS and isinstance(part.get("text"), str)
    )


def too_deep(data: Json) -> bool:
    """Whether there is anything below the deepest level that is read; level by level."""
    level = [data] if isinstance(data, (dict, list)) else []
    for _ in range(DEEPEST + 1):
        level = [
            inner
            for node in level
            for inner in (node.values() if isinstance(node, dict) else node)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True
