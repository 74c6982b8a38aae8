"""Tells which shape a trace has, by keys that only this shape writes. The readers of the shapes
take these keys from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeGuard

from gate.agents.traces.langgraph_stream import piece_of
from gate.agents.traces.otel_sdk import is_span
from gate.agents.traces.trace import Shape
from gate.agents.traces.values import as_text
from gate.records import Json

ANTHROPIC_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
LANGCHAIN_TYPES = ("human", "ai", "tool", "system", "function", "chat", "remove", "developer")
OPENAGENT_TYPES = ("tool_call", "llm_call", "message", "chat_title")  # of audit records
CALL, OUTPUT = "_call", "_call_output"  # what types of OpenAI's Responses end in

_OTLP = ("resourceSpans", "resource_spans", "scopeSpans", "spanId", "span_id")
_ANTHROPIC_BLOCKS = (*ANTHROPIC_CALLS, "tool_result", "thinking", "redacted_thinking")
_LANGCHAIN_CLASSES = ("Message", "MessageChunk")  # AIMessage, ToolMessageChunk
_RESPONSES_PARTS = ("output_text", "input_text")
_RESPONSES_ITEMS = ("reasoning", "item_reference")


def shape_of(data: Json) -> tuple[Shape, bool] | None:
    """The shape, and whether that is sure: messages without any calls look alike everywhere.

    None: it is of no shape that is known.
    """
    if isinstance(data, str):
        from gate.agents.traces.openagent_lines import is_console

        return ("openagent", True) if is_console(data) else None
    if isinstance(data, list):
        return _detect_list(data)
    return _detect_object(data) if isinstance(data, dict) else None


def is_whole(data: Json) -> TypeGuard[dict[str, Json]]:
    """Whether an object is what a model's interface or a tracer writes: none of its keys is meant
    as one of an answer object.
    """
    return isinstance(data, dict) and _detect_marker(data) is not None


def _detect_marker(data: Mapping[str, Json]) -> Shape | None:
    if any(key in data for key in _OTLP) or is_span(data):
        return "otel"
    if data.get("object") == "response":
        return "openai_responses"
    if data.get("object") == "chat.completion":
        return "openai"
    return "anthropic" if _is_response_of_anthropic(data) else None


def _detect_object(data: Mapping[str, Json]) -> tuple[Shape, bool] | None:
    marked = _detect_marker(data)
    if marked is not None:
        return marked, True
    if "choices" in data:
        return "openai", True
    for key in ("messages", "responses", "items", "output", "input"):
        if isinstance(listed := data.get(key), list):
            detected = _detect_list(listed)
            if key in ("messages", "responses") or (detected and detected[0] == "openai_responses"):
                return detected
    for key in ("spans", "data"):
        listed = data.get(key)
        if isinstance(listed, list) and _detect_list(listed) == ("otel", True):
            return "otel", True
    nodes = [inner for inner in data.values() if isinstance(inner, dict)]
    if any(_holds_messages(inner) for inner in nodes):
        return "langgraph", True
    return _detect_item(data)


def _detect_list(items: list[Json]) -> tuple[Shape, bool] | None:
    """The first item that is sure decides; else the first that is anything."""
    likely: tuple[Shape, bool] | None = None
    for item in items:
        detected = _detect_entry(item)
        if detected is not None and detected[1]:
            return detected
        likely = likely or detected
    return likely


def _detect_entry(item: Json) -> tuple[Shape, bool] | None:
    piece = piece_of(item)
    if piece.mode == "messages" and unwrap_message(piece.data) is not None:
        return "langgraph", True
    item = piece.data
    if not isinstance(item, dict):
        return None
    marked = _detect_marker(item)
    if marked is not None:
        return marked, True
    if "role" not in item and "type" not in item and "lc" not in item:
        listed = (one for told in item.values() if isinstance(told, list) for one in told[:1])
        if any(_holds_messages(one) for one in (item, *item.values(), *listed)):
            return "langgraph", True
    return _detect_item(item)


def _detect_item(item: Mapping[str, Json]) -> tuple[Shape, bool] | None:
    kind, content = item.get("type"), item.get("content")
    listed = content if isinstance(content, list) else []
    blocks = [block.get("type") for block in listed if isinstance(block, dict)]
    if (
        "role" not in item
        and (wrapped := unwrap_message(item)) is not None
        and wrapped[0] in LANGCHAIN_TYPES
    ):
        return "langchain", True
    if kind in OPENAGENT_TYPES and ("outcome" in item or "sessionId" in item):
        return "openagent", True
    if isinstance(kind, str) and (kind.endswith((CALL, OUTPUT)) or kind in _RESPONSES_ITEMS):
        return "openai_responses", True
    if any(block in _ANTHROPIC_BLOCKS for block in blocks):
        return "anthropic", True
    if any(block in _RESPONSES_PARTS for block in blocks):
        return "openai_responses", True
    if not isinstance(item.get("role"), str):
        return ("openai", True) if "choices" in item else None
    calls = item.get("tool_calls") or item.get("function_call")
    sure = bool(calls) or item["role"] in ("tool", "function")
    return "openai", sure


def _is_response_of_anthropic(data: Mapping[str, Json]) -> bool:
    listed = isinstance(data.get("content"), list)
    return listed and data.get("type") == "message" and "stop_reason" in data


def _holds_messages(value: Json) -> bool:
    """Whether it is a state or an update of LangGraph: messages of LangChain under `messages`."""
    if not isinstance(value, dict) or value.get("messages") is None:
        return False
    messages = value["messages"]
    first = messages[0] if isinstance(messages, list) and messages else messages
    return unwrap_message(first) is not None


def unwrap_message(value: Json) -> tuple[str, Mapping[str, Json]] | None:
    """A message of LangChain in any of its written forms: its type and its fields; None: it is
    none.
    """
    if not isinstance(value, dict):
        return None
    if value.get("lc") is not None and isinstance(value.get("kwargs"), dict):
        names = value.get("id")
        name = names[-1] if isinstance(names, list) and names else None
        return _type_of(value["kwargs"].get("type") or name), value["kwargs"]
    kind = value.get("type")
    inner = value.get("data")
    if isinstance(inner, dict) and "content" in inner:
        return _type_of(kind), inner
    return (_type_of(kind), value) if isinstance(kind, str) and "content" in value else None


def _type_of(name: Json) -> str:
    """`ai` for ai, AIMessage and AIMessageChunk."""
    type_name = as_text(name)
    for ending in _LANGCHAIN_CLASSES:
        type_name = type_name.removesuffix(ending)
    return type_name.lower()
