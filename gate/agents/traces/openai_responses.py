"""OpenAI's Responses: response objects, conversation items, or both in turn.

Types ending in `_call` are calls, those ending in `_call_output` their results, whichever tools
there will be.
"""

from __future__ import annotations

from collections.abc import Mapping

from gate.agents.traces.building import Builder
from gate.agents.traces.detecting import CALL, OUTPUT
from gate.agents.traces.values import (
    Called,
    as_list,
    as_object,
    as_text,
    at,
    each,
    first,
    message_text,
    parse_call,
    result_of,
    text,
)
from gate.records import Json

# Calls that the agent answers; all others are answered within the response, often unseen.
_OURS = ("function", "custom_tool", "local_shell", "shell", "computer", "apply_patch")
_TEXT_INPUT = ("custom_tool",)
_GIVEN = ("action", "queries", "code", "operation")  # where built-in tools have their arguments
_RESULTS = ("output", "results", "outputs", "result")
_SILENT = ("reasoning", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response")


def read(data: Json, into: Builder) -> None:
    """A response, or a list of responses and items, or an object that has it as `output`, `items`,
    `messages` or `input`.
    """
    if isinstance(data, dict) and data.get("object") != "response":
        key = next((k for k in ("output", "items", "messages") if data.get(k) is not None), "input")
        _Items(into).read(data.get(key), key)
        into.add_envelope(data)
    else:
        _Items(into).read(data if isinstance(data, list) else [data], "the trace")


class _Items:
    """Knows where a model call begins: at what the model made after something that it did not."""

    def __init__(self, into: Builder) -> None:
        self._into = into
        self._begun = False

    def read(self, items: Json, key: str) -> None:
        each(as_list(items, key), key, self._entry)

    def _entry(self, value: Json) -> None:
        item = as_object(value, "it")
        if item.get("object") == "response":
            self._response(item)
        else:
            self._item(item)

    def _response(self, response: Mapping[str, Json]) -> None:
        reason = at(response, "incomplete_details", "reason")
        self._into.turn(
            "",
            usage=response.get("usage"),
            model=response.get("model"),
            finish_reason=response.get("status") if reason is None else reason,
        )
        self._begun = True
        each(as_list(response.get("output") or [], "output"), "output", self._output)
        self._begun = False

    def _output(self, value: Json) -> None:
        self._item(as_object(value, "it"))

    def _item(self, item: Mapping[str, Json]) -> None:
        kind = item.get("type", "message")
        if not isinstance(kind, str):
            self._into.faults.tell("unread", f"type {as_text(kind)}")
        elif kind == "message" and item.get("role") == "assistant":
            self._begin()
            self._into.says(message_text(item))
        elif kind == "message":
            self._begun = False
        elif kind.endswith(OUTPUT):
            self._begun = False
            self._result(item)
        elif kind.endswith(CALL):
            self._begin()
            self._call(kind.removesuffix(CALL), item)
        elif kind in _SILENT:
            self._begin()
        else:
            self._into.faults.tell("unread", f"type {kind}")

    def _begin(self) -> None:
        if not self._begun:
            self._into.turn("")
            self._begun = True

    def _call(self, tool: str, item: Mapping[str, Json]) -> None:
        given = first(item, "arguments", "input", *_GIVEN)
        if given is not None and "arguments" not in item and not isinstance(given, (dict, str)):
            given = {"queries": given}  # of file_search
        named = {"name": first(item, "name") or tool, "id": first(item, "call_id", "id")}
        called = parse_call(named)
        step = self._into.call(
            Called(called.name, given, tool in _TEXT_INPUT or "code" in item, called.id),
            waits=tool in _OURS,
        )
        step.result = result_of(first(item, *_RESULTS))
        error = item.get("error")
        failed = item.get("status") == "failed"
        step.error = as_text(at(error, "message") or error) or ("failed" if failed else None)

    def _result(self, item: Mapping[str, Json]) -> None:
        failed = item.get("status") in ("failed", "incomplete")
        self._into.result(
            result_of(item.get("output")),
            id=text(first(item, "call_id", "id"), "call_id"),
            error=first(item, "error") or failed,
        )
