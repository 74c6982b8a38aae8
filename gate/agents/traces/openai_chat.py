"""OpenAI's chat completions: messages, whole completions, or both in turn."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from gate.agents.traces.building import Builder
from gate.agents.traces.values import (
    as_list,
    as_object,
    as_text,
    each,
    first,
    message_text,
    parse_call,
    result_of,
    text,
)
from gate.records import Json

_MODEL = ("assistant", "model")
_TOOL = ("tool", "function")  # the second one answered the legacy function_call
_OTHERS = ("system", "developer", "user")


def read(data: Json, into: Builder) -> None:
    """A list of messages and of chat.completion objects, or an object that has it as `messages`."""
    if isinstance(data, dict) and "choices" not in data:
        each(as_list(data.get("messages"), "messages"), "messages", partial(_item, into))
        into.add_envelope(data)
    else:
        each(data if isinstance(data, list) else [data], "messages", partial(_item, into))


def _item(into: Builder, value: Json) -> None:
    item = as_object(value, "it")
    if "choices" in item:
        _completion(item, into)
    else:
        _message(item, item, into)


def _completion(data: Mapping[str, Json], into: Builder) -> None:
    choices = as_list(data["choices"], "choices")
    choice = as_object(choices[0], "choices[0]") if choices else {}
    message = as_object(choice.get("message"), "choices[0].message")
    _message({"role": "assistant", **message}, {**data, **choice}, into)


def _message(message: Mapping[str, Json], beside: Mapping[str, Json], into: Builder) -> None:
    role = message.get("role")
    if role in _MODEL:
        _read_model_message(message, beside, into)
    elif role in _TOOL:
        name = text(message.get("name"), "name")
        given = text(first(message, "tool_call_id", "id"), "tool_call_id")
        result = result_of(message.get("content"))
        into.result(result, id=given, name=name, error=message.get("error"))
    elif role not in _OTHERS:
        into.faults.tell("unread", f"role {as_text(role)}")


def _read_model_message(
    message: Mapping[str, Json], beside: Mapping[str, Json], into: Builder
) -> None:
    into.turn(
        message_text(message),
        usage=_usage(beside),
        model=beside.get("model"),
        finish_reason=beside.get("finish_reason"),
    )
    calls = message.get("tool_calls")
    if calls:
        each(as_list(calls, "tool_calls"), "tool_calls", partial(_call, into))
    elif message.get("function_call"):
        each([message["function_call"]], "function_call", partial(_call, into))


def _call(into: Builder, call: Json) -> None:
    into.call(parse_call(call))


def _usage(beside: Mapping[str, Json]) -> Json:
    """Some write the cost beside the usage."""
    usage, cost = beside.get("usage"), beside.get("cost")
    if cost is None or not isinstance(usage, (dict, type(None))):
        return usage
    return {"cost": cost, **(usage or {})}
