"""Anthropic's messages: turns of a conversation, whole responses, or both in turn."""

from __future__ import annotations

from functools import partial

from gate.agents.traces.building import Builder
from gate.agents.traces.detecting import ANTHROPIC_CALLS
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


def read(data: Json, into: Builder) -> None:
    """A response, or a list of messages and responses, or an object that has it as `messages`;
    `responses` beside them are the same turns as they came, with their usage.
    """
    if isinstance(data, dict) and "content" not in data:
        key = "responses" if data.get("messages") is None else "messages"
        each(as_list(data.get(key), key), key, partial(_message, into))
        if key == "messages" and data.get("responses") and not into.spending.has_usage:
            each(as_list(data["responses"], "responses"), "responses", partial(_response, into))
        into.add_envelope(data)
    else:
        each(data if isinstance(data, list) else [data], "messages", partial(_message, into))


def _message(into: Builder, value: Json) -> None:
    message = as_object(value, "it")
    role = message.get("role")
    if role in ("assistant", "model"):
        into.turn(message_text(message))
        _response(into, message)
    elif role not in ("user", "system", "developer"):
        into.faults.tell("unread", f"role {as_text(role)}")
    content = message.get("content")
    if isinstance(content, list):
        each(content, "content", partial(block, into))


def block(into: Builder, block: Json) -> None:
    """A block of a message's content: a call, a result, or neither."""
    if not isinstance(block, dict):
        return
    if block.get("type") in ANTHROPIC_CALLS:
        into.call(parse_call(block))
    elif block.get("tool_use_id") is not None:
        content = block.get("content")
        error = first(block, "is_error")
        if isinstance(content, dict) and "error_code" in content:  # of tools that the server runs
            error = content["error_code"]
        into.result(result_of(content), id=text(block["tool_use_id"], "tool_use_id"), error=error)


def _response(into: Builder, value: Json) -> None:
    """What a response says beyond its content."""
    response = as_object(value, "it")
    into.spending.add(response.get("usage"))
    into.add_model(response.get("model"))
    into.set_finish_reason(response.get("stop_reason"))
