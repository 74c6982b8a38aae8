"""OpenTelemetry's spans as OTLP and the SDK write them in JSON, in the order of their beginning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from gate.agents.traces.otel_facts import Event, ExecutedCall, Facts, Kind, facts_of, fill_gaps
from gate.agents.traces.otel_sdk import as_otlp, flat, is_span
from gate.agents.traces.otel_values import attributes_of, event_of, number
from gate.agents.traces.values import as_list, as_object, as_text, first, text
from gate.errors import AgentFailure
from gate.files.json_values import is_number
from gate.records import Json

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("chat", "generate_content", "text_completion"), "llm"),
    "execute_tool": "tool",
    **dict.fromkeys(("invoke_agent", "create_agent", "invoke_workflow"), "agent"),
    "retrieval": "retrieval",
    # OpenInference's openinference.span.kind
    **{"LLM": "llm", "TOOL": "tool", "RETRIEVER": "retrieval"},
    **dict.fromkeys(("AGENT", "CHAIN"), "agent"),
}
_FURTHEST = 20  # spans of other kinds between one that counts and its parent that counts
DETAILS = "gen_ai.client.inference.operation.details"  # an event with the span's own attributes
_FAILED = (2, "STATUS_CODE_ERROR")


class TraceSpan(NamedTuple):
    """`facts`: what it says of what it is. `attributes` are plain JSON values; times in ns, None
    where there is none. A tuple, for its speed.
    """

    id: str
    parent: str
    trace: str
    kind: Kind
    facts: Facts
    attributes: Mapping[str, Json]
    events: tuple[Event, ...]
    error: str | None
    start: int | None
    end: int | None


def spans(data: Json) -> list[TraceSpan]:
    """`in_order`, of OTLP's JSON. Raises AgentFailure."""
    span_list: list[TraceSpan] = []
    for n, item in enumerate(_iter_spans(data)):
        try:
            span_list.append(span_of(as_object(item, "it")))
        except AgentFailure as failure:
            raise AgentFailure(f"spans[{n}]: {failure}") from None
    return in_order(span_list)


def in_order(span_list: list[TraceSpan]) -> list[TraceSpan]:
    """The spans by their start; one without a start stays behind the one before it. A span within
    one of the same call (an MCP request within execute_tool, an LLM client within another) is part
    of that. Those of no kind that counts are left out.
    """
    last, order = 0, []
    for span in span_list:
        last = last if span.start is None else span.start
        order.append(last)
    ranked = sorted(range(len(span_list)), key=order.__getitem__)
    return _merge_nested([span_list[n] for n in ranked])


def _iter_spans(data: Json) -> Iterator[Json]:
    """Every span of an export, of several of them, or of a bare list."""
    for item in data if isinstance(data, list) else [data]:
        if not isinstance(item, dict):
            raise AgentFailure("the trace has an entry that is not an object")
        below = ("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans")
        inner = first(item, *below)
        if inner is None and isinstance(item.get("data"), list):
            inner = item["data"]  # a page of a store's interface
        if inner is None:
            yield item
        else:
            yield from _iter_spans(as_list(inner, "spans"))


def span_of(item: Mapping[str, Json], also: Set[str] = frozenset()) -> TraceSpan:
    """A span as it is written; `also`: further attributes to keep. Raises AgentFailure."""
    if "spanId" not in item and is_span(item):
        item = as_otlp(item)
    elif isinstance(attributes := item.get("attributes"), dict):
        item = {**item, "attributes": flat(attributes)}
    id = text(first(item, "spanId", "span_id"), "spanId") or ""
    attributes = attributes_of(item.get("attributes"), also)
    listing = item.get("events")
    events = tuple(map(event_of, as_list(listing, "events"))) if listing else ()
    for name, more in events:
        if name == DETAILS:
            attributes = {**more, **attributes}
    kind = _kind(attributes)
    try:
        facts = facts_of(kind, attributes, events)
    except AgentFailure as failure:
        raise AgentFailure(f"span {id}: {failure}") from None
    return TraceSpan(
        id=id,
        parent=text(first(item, "parentSpanId", "parent_span_id"), "parentSpanId") or "",
        trace=text(first(item, "traceId", "trace_id"), "traceId") or "",
        kind=kind,
        facts=facts,
        attributes=attributes,
        events=events,
        error=_error(item.get("status"), attributes),
        start=_time(first(item, "startTimeUnixNano", "start_time_unix_nano")),
        end=_time(first(item, "endTimeUnixNano", "end_time_unix_nano")),
    )


def _kind(attributes: Mapping[str, Json]) -> Kind:
    method = attributes.get("mcp.method.name")
    if method is not None:
        return "mcp" if method == "tools/call" else "other"
    named = first(attributes, "gen_ai.operation.name", "openinference.span.kind")
    return _KINDS.get(named, "other") if isinstance(named, str) else "other"


def _error(value: Json, attributes: Mapping[str, Json]) -> str | None:
    kind, status = attributes.get("error.type"), as_object(value or {}, "status")
    if status.get("code") in _FAILED or kind is not None:
        return as_text(first(status, "message") or kind) or "error"
    return None


def _time(value: Json) -> int | None:
    if isinstance(value, str) and len(value) < 20 and value.isdecimal():
        return int(value) or None
    value_ns = number(value)
    return int(value_ns) if is_number(value_ns) and 0 < value_ns < 1e19 else None


def _merge_nested(span_list: list[TraceSpan]) -> list[TraceSpan]:
    """Without the spans that are part of another one's call, whose attributes fill its gaps."""
    places = {(span.trace, span.id): n for n, span in enumerate(span_list) if span.id}
    calls = {
        id: n
        for n, span in reversed([*enumerate(span_list)])
        if span.kind == "tool" and (id := _call_id(span))
    }
    remaining: list[TraceSpan | None] = [*span_list]
    for n in reversed(range(len(span_list))):  # inner ones first: they began later
        outer = _part_of(span_list, n, places, calls)
        kept = remaining[n]
        target = None if outer is None else remaining[outer]
        if kept is not None and target is not None and outer is not None:
            remaining[outer] = target._replace(
                facts=fill_gaps(target.facts, kept.facts),
                attributes={**kept.attributes, **target.attributes},
                events=(*target.events, *kept.events),
                error=target.error or kept.error,
            )
            remaining[n] = None
    return [span for span in remaining if span is not None and span.kind != "other"]


def _part_of(
    span_list: list[TraceSpan],
    n: int,
    places: Mapping[tuple[str, str], int],
    calls: Mapping[str, int],
) -> int | None:
    """The place of the span whose call it is part of."""
    span = span_list[n]
    if span.kind == "mcp" and (same := calls.get(_call_id(span))) is not None:
        return same
    outer = _outer(span_list, n, places)
    if outer is None:
        return None
    pair = (span_list[outer].kind, span.kind)
    within = pair in (("tool", "mcp"), ("mcp", "mcp"), ("mcp", "tool"), ("llm", "llm"))
    return outer if within else None


def _outer(span_list: list[TraceSpan], n: int, places: Mapping[tuple[str, str], int]) -> int | None:
    """The nearest span around it that counts."""
    span = span_list[n]
    for _ in range(_FURTHEST):
        place = places.get((span.trace, span.parent))
        if place is None or place == n:
            return None
        span = span_list[place]
        if span.kind != "other":
            return place
    return None


def _call_id(span: TraceSpan) -> str:
    return (span.facts.id if isinstance(span.facts, ExecutedCall) else None) or ""
