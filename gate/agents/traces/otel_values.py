"""OTLP's AnyValues, attributes and events as plain JSON values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import lru_cache

from gate.agents.traces.values import DEEPEST, as_list, as_object, as_text, first, too_deep
from gate.errors import AgentFailure
from gate.records import CheckedJson, Json

# Attributes that are read, and of them those that are large and not.
_READ = (
    *("gen_ai.", "openinference.", "llm.", "tool", "retrieval.", "input.", "output."),
    *("mcp.", "error.", "session."),
)
_UNREAD = (
    *("gen_ai.system_instructions", "gen_ai.tool.definitions"),
    *("llm.invocation_parameters", "llm.tools."),
)


def decode_value(value: Json, depth: int = 0) -> Json:
    """An AnyValue as plain JSON. Raises AgentFailure."""
    if not isinstance(value, dict):
        return _plain(value)  # written by an exporter that does not wrap its values
    if depth > DEEPEST:
        raise AgentFailure("an attribute is nested too deeply")
    for key, inner in value.items():
        if key in ("stringValue", "boolValue", "bytesValue"):
            return _plain(inner)
        if key in ("intValue", "doubleValue"):
            return _plain(number(inner))
        if key == "arrayValue":
            items = as_list(_values(inner), "arrayValue.values")
            return [decode_value(item, depth + 1) for item in items]
        if key == "kvlistValue":
            return {as_text(k): decode_value(one, depth + 1) for k, one in _pairs(_values(inner))}
    return None


def attributes_of(value: Json, also: Set[str] = frozenset()) -> dict[str, Json]:
    """[{key, value}], or an object: what is read of them, and `also` these keys. Raises
    AgentFailure.
    """
    values: dict[str, Json] = {}
    for written, inner in _pairs(value):
        key = written if isinstance(written, str) else as_text(written)
        if _is_read(key) or key in also:
            plain = inner.get("stringValue") if isinstance(inner, dict) else None
            values[key] = plain if isinstance(plain, str) else decode_value(inner)
    return values


def event_of(value: Json) -> tuple[str, Mapping[str, Json]]:
    """Its name and attributes, of which all are read. Raises AgentFailure."""
    event = as_object(value, "an event")
    pairs = _pairs(event.get("attributes"))
    return as_text(event.get("name")), {as_text(key): decode_value(inner) for key, inner in pairs}


def number(value: Json) -> Json:
    """int64 is written as a text; NaN and infinities are too."""
    if not isinstance(value, str):
        return value
    if len(value) <= 20 and value.lstrip("-").isdecimal():
        return int(value)
    try:
        return float(value[:40])
    except ValueError:
        return value


@lru_cache(maxsize=4_096)
def _is_read(key: str) -> bool:
    return key.startswith(_READ) and not key.startswith(_UNREAD)


def _pairs(value: Json) -> Iterable[tuple[Json, Json]]:
    written: CheckedJson = value  # as it should be, mostly
    try:
        return [(pair["key"], pair["value"]) for pair in written]
    except (TypeError, KeyError):
        pass
    if isinstance(value, dict):
        return value.items()
    pairs = [as_object(pair, "an attribute") for pair in as_list(value or [], "attributes")]
    return [(pair.get("key"), pair.get("value")) for pair in pairs]


def _values(inner: Json) -> Json:
    return first(inner, "values") or [] if isinstance(inner, dict) else inner


def _plain(value: Json) -> Json:
    if isinstance(value, (list, dict)) and too_deep(value):
        raise AgentFailure("an attribute is nested too deeply")
    return value
