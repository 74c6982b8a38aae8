"""Has a model's provider keep the form of a reply, where its endpoint takes `response_format`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gate.records import Json, Question

KEY = "response_format"
_ODD = re.compile(r"[^a-zA-Z0-9_-]+")
_NAME = 64  # characters


class ReplyForm:
    """For one run: an endpoint that refuses it once is asked without it from then on. Every method
    may be called from any thread.
    """

    def __init__(self, *, offered: bool) -> None:
        self._offered = offered

    def request(self, question: Question) -> dict[str, Json]:
        """What to add to the body of a request; nothing where it is not offered."""
        if not self._offered:
            return {}
        schema = dict(question.schema)
        named = _ODD.sub("_", question.name)[:_NAME].strip("_") or "reply"
        form = {"name": named, "schema": schema, "strict": _is_strict(schema)}
        return {KEY: {"type": "json_schema", "json_schema": form}}

    def refuse(self) -> None:
        """The endpoint does not take it."""
        self._offered = False


def _is_strict(schema: Json) -> bool:
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
