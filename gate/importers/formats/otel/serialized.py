"""Where spans, and events that are logged beside them, stand in what exporters and stores write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gate.agents.traces.otel_sdk import is_span
from gate.agents.traces.otel_values import decode_value
from gate.agents.traces.values import as_list, as_object, first
from gate.errors import AgentFailure
from gate.files.json_values import as_string
from gate.records import Json

# A list under one of these has things in it that are looked into in turn.
_BELOW = (
    *("resourceSpans", "resource_spans", "batches", "scopeSpans", "scope_spans"),
    *("instrumentationLibrarySpans", "spans", "data"),
)
_LOGS = ("resourceLogs", "resource_logs", "scopeLogs", "scope_logs", "logRecords", "log_records")
_OWN = frozenset(("traceId", "trace_id", "spanId", "span_id", "startTimeUnixNano"))  # of a span
_DEEPEST = 6  # of lists in lists that begin with an export


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """What is said of all spans of a batch at once."""

    service: str = ""
    attributes: Mapping[str, Json] = field(default_factory=dict)


NOBODY = Resource()
Batch = tuple[Resource, list[dict[str, Json]]]


def spans_in(data: Json) -> Iterator[Batch]:
    """Spans with their resource. Raises AgentFailure for a wrong type."""
    return _below(data, NOBODY, _BELOW, "spans", _DEEPEST)


def logs_in(data: Json) -> Iterator[Batch]:
    """Log records, in which newer instrumentations write events."""
    for item in data if isinstance(data, list) else [data]:
        if isinstance(item, dict) and first(item, *_LOGS[:2]) is not None:
            yield from _below(item, NOBODY, _LOGS, "log records", _DEEPEST)


def _below(
    data: Json, resource: Resource, keys: tuple[str, ...], what: str, depth: int
) -> Iterator[Batch]:
    batch: list[dict[str, Json]] = []
    for item in data if isinstance(data, list) else [data]:
        if isinstance(item, list) and depth:
            yield from _below(item, resource, keys, what, depth - 1)
            continue
        found = as_object(item, "an entry")
        if not found.keys().isdisjoint(_OWN):
            batch.append(found)
            continue
        if is_span(found):  # the SDK's, which has its resource within
            yield (_resource(found.get("resource")) if "resource" in found else resource), [found]
            continue
        own = _resource(found["resource"]) if "resource" in found else resource
        inner = first(found, *keys)
        if inner is not None and depth:
            yield from _below(as_list(inner, what), own, keys, what, depth - 1)
    if batch:
        yield resource, batch


def _resource(value: Json) -> Resource:
    """Its attributes; one of a wrong type says nothing."""
    pairs = value.get("attributes") if isinstance(value, dict) else None
    if isinstance(pairs, list):
        named = (p for p in pairs if isinstance(p, dict) and isinstance(p.get("key"), str))
        pairs = {p["key"]: p.get("value") for p in named}
    if not isinstance(pairs, dict):
        return NOBODY
    try:
        found = {key: decode_value(one) for key, one in pairs.items()}
    except AgentFailure:
        return NOBODY
    return Resource(service=as_string(found.get("service.name")), attributes=found)
