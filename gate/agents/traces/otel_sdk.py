"""Spans as OpenTelemetry's SDK and stores of OpenInference write them, turned into OTLP's words:
`span.to_json()` with its `context`, rows whose keys are flat (`context.span_id`), bare attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from gate.agents.traces.values import as_list, as_object, as_text, first
from gate.errors import AgentFailure
from gate.files.json_values import is_number
from gate.records import Json

BARE = ("openinference.span.kind", "gen_ai.operation.name")  # each makes attributes a span
_ANY_VALUE = frozenset(
    (
        *("stringValue", "boolValue", "bytesValue", "intValue", "doubleValue"),
        *("arrayValue", "kvlistValue"),
    )
)
# What is one value however it is built; the rest of OpenInference is flat.
_WHOLE = (
    *("input.value", "output.value", "tool.parameters", "metadata", "tool.json_schema"),
    *("llm.invocation_parameters", "llm.prompt_template.variables"),
)
_ARGUMENTS = ("tool_call.function.arguments", "document.metadata")
_DEEPEST = 12  # dots of a key
_MOST = 100_000  # attributes of one span
_PREFIX = "attributes."


def is_span(item: Mapping[str, Json]) -> bool:
    """Whether it is a span in one of these forms."""
    context = item.get("context")
    if isinstance(context, dict) and "span_id" in context:
        return True
    if "context.span_id" in item or any(key in item for key in BARE):
        return True
    inner = item.get("attributes")
    return isinstance(inner, dict) and _kind_told(inner)


def as_otlp(item: Mapping[str, Json]) -> dict[str, Json]:
    """The span with OTLP's keys. Raises AgentFailure for a wrong type."""
    context = as_object(item.get("context") or {}, "context")
    status = item.get("status")
    status_object = status if isinstance(status, dict) else {}
    code = first(status_object, "status_code", "code") or first(item, "status_code")
    about = first(status_object, "description", "message") or item.get("status_message")
    failed = as_text(code).upper().removeprefix("STATUSCODE.") in ("ERROR", "STATUS_CODE_ERROR")
    attributes = _attributes(item)
    kind = item.get("span_kind")
    if isinstance(kind, str) and not any(key in attributes for key in BARE):
        attributes["openinference.span.kind"] = kind.upper()
    events = as_list(item.get("events") or [], "events")
    return {
        "spanId": _id(first(context, "span_id") or first(item, "context.span_id", "span_id")),
        "traceId": _id(first(context, "trace_id") or first(item, "context.trace_id", "trace_id")),
        "parentSpanId": _id(first(item, "parent_id", "parent_span_id")),
        "startTimeUnixNano": _nanoseconds(item.get("start_time")),
        "endTimeUnixNano": _nanoseconds(item.get("end_time")),
        "status": {"code": 2, "message": about or _exception(events)} if failed else {},
        "attributes": attributes,
        "events": events,
    }


def flat(attributes: Mapping[str, Json]) -> dict[str, Json]:
    """Attributes with dotted keys, of such as are objects in objects and lists of objects."""
    values: dict[str, Json] = {}
    for key, value in _leaves(attributes, "", _DEEPEST):
        if len(values) >= _MOST:
            raise AgentFailure(f"a span has more than {_MOST:,} attributes")
        values[key] = value
    return values


def _attributes(item: Mapping[str, Json]) -> dict[str, Json]:
    given = item.get("attributes")
    if isinstance(given, dict):
        return flat(given)
    if given is not None:
        raise AgentFailure("attributes is not an object")
    rows = {k.removeprefix(_PREFIX): v for k, v in item.items() if k.startswith(_PREFIX)}
    return flat(rows or {k: v for k, v in item.items() if "." in k or isinstance(v, dict)})


def _kind_told(attributes: Mapping[str, Json]) -> bool:
    """`openinference.span.kind` or `gen_ai.operation.name`, as a key or as keys in keys."""
    if any(key in attributes for key in BARE):
        return True
    for key in BARE:
        node: Json = attributes
        for part in key.split("."):
            node = node.get(part) if isinstance(node, dict) else None
        if isinstance(node, str):
            return True
    return False


def _leaves(value: Json, key: str, depth: int) -> Iterator[tuple[str, Json]]:
    """(key, value) for each; what is one value by its name, or too deep, is told as JSON."""
    if isinstance(value, dict) and not _is_value(value) and not _is_whole(key):
        if depth:
            for name, inner in value.items():
                yield from _leaves(inner, f"{key}.{name}" if key else str(name), depth - 1)
            return
    elif depth and isinstance(value, list) and _is_objects(value) and not _is_whole(key):
        for n, inner in enumerate(value):
            yield from _leaves(inner, f"{key}.{n}", depth - 1)
        return
    if value is not None:
        yield key, as_text(value) if isinstance(value, dict) and not _is_value(value) else value


def _is_whole(key: str) -> bool:
    """Messages of the GenAI conventions are lists; they stay what they are."""
    genai = key.startswith("gen_ai.") and key.count(".") > 1
    return genai or key in _WHOLE or key.endswith(_ARGUMENTS)


def _is_value(value: Mapping[str, Json]) -> bool:
    return len(value) == 1 and not value.keys().isdisjoint(_ANY_VALUE)


def _is_objects(value: list[Json]) -> bool:
    return bool(value) and all(isinstance(one, dict) and not _is_value(one) for one in value)


def _exception(events: list[Json]) -> str | None:
    """What an event says went wrong, where the status does not."""
    for event in reversed(events):
        inner = event.get("attributes") if isinstance(event, dict) else None
        if isinstance(inner, dict) and isinstance(inner.get("exception.message"), str):
            return str(inner["exception.message"]) or None
    return None


def _id(value: Json) -> str:
    """Without the `0x` that the SDK writes before it."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise AgentFailure("an id of a span is not a text")
    return value.removeprefix("0x")


def _nanoseconds(value: Json) -> int | None:
    """Nanoseconds since 1970, from a time in ISO 8601 (UTC where it names no zone) or from a
    number in seconds, milliseconds, microseconds or nanoseconds: the unit that gives a plausible
    year. None for anything else.
    """
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value[:40])
        except ValueError:
            return None
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        since = aware - datetime(1970, 1, 1, tzinfo=UTC)
        return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1_000
    if not is_number(value) or not 0 < value < 1e19:
        return None
    for below, scale in ((1e11, 10**9), (1e14, 10**6), (1e17, 10**3)):
        if value < below:
            return int(value * scale)
    return int(value)
