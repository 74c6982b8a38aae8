"""Has a model's provider keep the form of a reply: by `response_format` where a protocol has it,
else by a tool that the model must call and whose input is the reply.

Anthropic has a form of its own too, which newer models take, and only for a part of JSON Schema
(without the bounds of a scale). Each of its models takes the tool.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from gate.records import CheckedJson, Question, Response

FORMAT, TOOL = "response_format", "tool_choice"
Way = Literal["response_format", "tool_choice", ""]
_ODD = re.compile(r"[^a-zA-Z0-9_-]+")
_NAME = 64  # characters
_TOOL_IS = "Takes the reply that the instructions ask for. Call it once."


class ReplyForm:
    """For one run: an endpoint that refuses it once is asked without it from then on. Every method
    may be called from any thread.
    """

    def __init__(self, way: Way = "") -> None:
        """`way`: the key of the request that asks for it; empty: the form is not sent."""
        self._way = way

    def request(self, question: Question) -> dict[str, CheckedJson]:
        """What to add to the body of a request; nothing where it is not offered."""
        schema, named = dict(question.schema), _make_name(question)
        if self._way == FORMAT:
            form = {"name": named, "schema": schema, "strict": _is_strict(schema)}
            return {FORMAT: {"type": "json_schema", "json_schema": form}}
        if self._way == TOOL and schema.get("type") == "object":
            tool = {"name": named, "description": _TOOL_IS, "input_schema": schema}
            chosen = {"type": "tool", "name": named, "disable_parallel_tool_use": True}
            return {"tools": [tool], TOOL: chosen}
        return {}

    def refuse(self) -> None:
        """The endpoint does not take it."""
        self._way = ""


def read_reply_text(response: Response, question: Question) -> str:
    """What the model replied: the input of the question's tool where it called that, else its
    words. One that called it twice gave two replies.
    """
    named = _make_name(question)
    return "\n".join(_find_inputs(response, named)) or response.answer


def _find_inputs(response: Response, tool: str) -> Iterator[str]:
    for call in response.steps or ():
        if call.name == tool:
            given = call.raw_arguments
            yield json.dumps(call.arguments, ensure_ascii=False) if given is None else given


def _make_name(question: Question) -> str:
    return _ODD.sub("_", question.name)[:_NAME].strip("_") or "reply"


def _is_strict(schema: CheckedJson) -> bool:
    """Whether each object requires all that it may have: else providers refuse `strict`."""
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties", {})
    if schema.get("type") == "object" and (
        schema.get("additionalProperties") is not False
        or set(schema.get("required", ())) != set(properties)
    ):
        return False
    inner = [*properties.values(), schema.get("items")]
    return all(_is_strict(one) for one in inner)
