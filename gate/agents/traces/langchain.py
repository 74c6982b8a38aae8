"""LangChain's messages in their three written forms, and what LangGraph returns and streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gate.agents.traces.building import Builder
from gate.agents.traces.detecting import LANGCHAIN_TYPES, unwrap_message
from gate.agents.traces.langgraph_stream import Piece, piece_of
from gate.agents.traces.values import (
    Called,
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
from gate.errors import AgentFailure
from gate.records import Json


def read(data: Json, into: Builder) -> None:
    """A list of messages, or an object that has it as `messages`."""
    if isinstance(data, dict) and data.get("messages") is not None:
        each(as_list(data["messages"], "messages"), "messages", _Messages(into))
        into.add_envelope(data)
    else:
        each(as_list(data, "the trace"), "messages", _Messages(into))


def read_graph(data: Json, into: Builder) -> None:
    """A state or its messages, a list of states (the last one has it all), or a list of updates,
    each of which has new messages under the name of a node. A message that comes twice counts once.
    """
    given = data if isinstance(data, list) else [data]
    if any(unwrap_message(one) for one in given) or (isinstance(data, dict) and "messages" in data):
        read(data, into)
        return
    pieces = [piece_of(one) for one in given]
    states = [piece.data for piece in pieces if _is_state(piece)]
    updates = [one.data for one in pieces if one.mode in ("", "updates") and not _is_state(one)]
    read_one = _Messages(into, once=True)
    if states and not any(_holds(update) for update in updates):
        read(states[-1], into)
    elif updates:
        each(updates, "the trace", lambda one: each(_update_messages(one), "messages", read_one))
    else:
        streamed = [one.data for one in pieces if one.mode == "messages"]
        each(streamed, "the trace", read_one)


def _is_state(piece: Piece) -> bool:
    data = piece.data
    return piece.mode in ("", "values") and isinstance(data, dict) and "messages" in data


def _holds(update: Json) -> bool:
    return next(_update_messages(update), None) is not None


def _update_messages(update: Json) -> Iterator[Json]:
    """The messages of an update; of a node that gave several changes, those of each."""
    for node_update in update.values() if isinstance(update, dict) else ():
        for change in node_update if isinstance(node_update, list) else [node_update]:
            if isinstance(change, dict) and change.get("messages") is not None:
                messages = change["messages"]
                yield from messages if isinstance(messages, list) else [messages]


class _Messages:
    """Reads one message; `once`: one whose id was read before is left out."""

    def __init__(self, into: Builder, *, once: bool = False) -> None:
        self._into = into
        self._seen: set[str] | None = set() if once else None

    def __call__(self, value: Json) -> None:
        unwrapped = unwrap_message(value)
        if unwrapped is None:
            raise AgentFailure("it is not a message of LangChain")
        kind, message = unwrapped
        if self._again(message.get("id")):
            return
        if self._seen is not None and as_text(first(message, "type")).endswith("Chunk"):
            raise AgentFailure("it is a chunk - stream `updates`, or join the chunks first")
        if kind == "ai":
            self._add_model_message(message)
        elif kind in ("tool", "function"):
            result = result_of(message.get("content"))
            given = text(message.get("tool_call_id"), "tool_call_id")
            name = text(message.get("name"), "name")
            failed = message.get("status") == "error"
            self._into.result(result, id=given, name=name, error=failed)
        elif kind not in LANGCHAIN_TYPES:
            self._into.faults.tell("unread", f"type {kind}")

    def _again(self, id: Json) -> bool:
        if self._seen is None or not isinstance(id, str):
            return False
        is_known = id in self._seen
        self._seen.add(id)
        return is_known

    def _add_model_message(self, message: Mapping[str, Json]) -> None:
        metadata = as_object(message.get("response_metadata") or {}, "response_metadata")
        self._into.turn(
            message_text(message),
            usage=message.get("usage_metadata"),
            model=first(metadata, "model_name", "model"),
            finish_reason=first(metadata, "finish_reason", "stop_reason"),
        )
        for key, calls in _calls(message):
            invalid = key == "invalid_tool_calls"
            each(calls, key, self._invalid if invalid else self._call)

    def _call(self, call: Json) -> None:
        self._into.call(parse_call(call))

    def _invalid(self, value: Json) -> None:
        """A call whose arguments LangChain could not read; they stay as they came."""
        call = as_object(value, "it")
        called = parse_call({**call, "name": first(call, "name") or "(no name)"})
        step = self._into.call(Called(called.name, called.given, called.custom, called.id))
        step.error = text(call.get("error"), "error")


def _calls(message: Mapping[str, Json]) -> Iterable[tuple[str, list[Json]]]:
    """Under `additional_kwargs` stand the same calls as the model wrote them."""
    keys = ("tool_calls", "invalid_tool_calls")
    calls = [(key, as_list(message[key], key)) for key in keys if message.get(key)]
    if calls:
        return calls
    raw = as_object(message.get("additional_kwargs") or {}, "additional_kwargs")
    if raw.get("tool_calls"):
        return [("tool_calls", as_list(raw["tool_calls"], "tool_calls"))]
    return [("function_call", [raw["function_call"]])] if raw.get("function_call") else []
