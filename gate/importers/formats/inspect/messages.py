"""The conversation of a sample as OpenAI writes one, which is read like any other."""

from __future__ import annotations

import math
from collections.abc import Mapping

from gate.files.json_values import (
    as_object,
    as_objects,
    as_strings,
    string_or_none,
)
from gate.records import Json

_PROTOCOL = "attachment://"
MOST_ATTACHED = 32 << 20  # characters that a sample's references may come to


class Attachments:
    """Long texts that stand once in a sample and are referred to by their hash."""

    def __init__(self, found: Json) -> None:
        self._found: Mapping[str, Json] = as_object(found)
        self._left = MOST_ATTACHED
        self.missing = 0

    def resolve(self, value: Json) -> Json:
        """The same, with references replaced; NaN and Infinity, which no report can hold, are
        None. A reference that leads nowhere, or is one too many, stays as it is.
        """
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, list):
            return [self.resolve(one) for one in value]
        if isinstance(value, dict):
            return {key: self.resolve(one) for key, one in value.items()}
        return value

    def _text(self, value: str) -> str:
        if not value.startswith(_PROTOCOL):
            return value
        text = self._found.get(value.removeprefix(_PROTOCOL))
        if not isinstance(text, str) or len(text) > self._left:
            self.missing += 1
            return value
        self._left -= len(text)
        return text


def as_openai(messages: Json) -> list[Json]:
    """Those that are none are left out."""
    return [_message(message) for message in as_objects(messages)]


def text_of(content: Json) -> str:
    """A message's text: of parts those that are text, a line each."""
    if isinstance(content, str):
        return content
    parts = as_objects(content)
    return "\n".join(as_strings([part.get("text") for part in parts if part.get("type") == "text"]))


def _message(message: Mapping[str, Json]) -> Json:
    role, said = message.get("role"), text_of(message.get("content"))
    if role == "tool":
        return {
            "role": "tool",
            "tool_call_id": string_or_none(message.get("tool_call_id")),
            "name": string_or_none(message.get("function")),
            "content": said,
            "error": string_or_none(as_object(message.get("error")).get("message")),
        }
    calls = message.get("tool_calls") if role == "assistant" else None
    made = [_call(call) for call in as_objects(calls) if isinstance(call.get("function"), str)]
    return {
        "role": string_or_none(role) or "user",
        "content": said,
        **({"tool_calls": made} if made else {}),
    }


def _call(call: Mapping[str, Json]) -> Json:
    inner = {"name": call["function"] or "unnamed", "arguments": call.get("arguments")}
    return {"id": string_or_none(call.get("id")), "type": "function", "function": inner}
