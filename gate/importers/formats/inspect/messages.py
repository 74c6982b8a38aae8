"""The conversation of a sample as OpenAI writes one, which is read like any other."""

from __future__ import annotations

import math
from collections.abc import Mapping

from gate.records import Json

_PROTOCOL = "attachment://"
MOST_ATTACHED = 32 << 20  # characters that a sample's references may come to


class Attachments:
    """Long texts that stand once in a sample and are referred to by their hash."""

    def __init__(self, found: Json) -> None:
        self._found: Mapping[str, Json] = found if isinstance(found, dict) else {}
        self._left = MOST_ATTACHED
        self.missing = 0

    def resolved(self, value: Json) -> Json:
        """The same, with references replaced; NaN and Infinity, which no report can hold, are
        None. A reference that leads nowhere, or is one too many, stays as it is.
        """
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, list):
            return [self.resolved(one) for one in value]
        if isinstance(value, dict):
            return {key: self.resolved(one) for key, one in value.items()}
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
    found = messages if isinstance(messages, list) else []
    return [_message(one) for one in found if isinstance(one, dict)]


def text_of(content: Json) -> str:
    """A message's text: of parts those that are text, a line each."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (
        one.get("text") for one in parts if isinstance(one, dict) and one.get("type") == "text"
    )
    return "\n".join(text for text in texts if isinstance(text, str))


def _message(message: Mapping[str, Json]) -> Json:
    role, said = message.get("role"), text_of(message.get("content"))
    if role == "tool":
        error = message.get("error")
        return {
            "role": "tool",
            "tool_call_id": _name(message.get("tool_call_id")),
            "name": _name(message.get("function")),
            "content": said,
            "error": _name(error.get("message")) if isinstance(error, dict) else None,
        }
    calls = message.get("tool_calls") if role == "assistant" else None
    made = [_call(one) for one in calls if _is_call(one)] if isinstance(calls, list) else []
    return {
        "role": _name(role) or "user",
        "content": said,
        **({"tool_calls": made} if made else {}),
    }


def _is_call(call: Json) -> bool:
    return isinstance(call, dict) and isinstance(call.get("function"), str)


def _call(call: Mapping[str, Json]) -> Json:
    inner = {"name": call["function"] or "unnamed", "arguments": call.get("arguments")}
    return {"id": _name(call.get("id")), "type": "function", "function": inner}


def _name(value: Json) -> str | None:
    return value if isinstance(value, str) else None
