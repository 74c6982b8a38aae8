"""OpenTelemetry's spans as OTLP writes them in JSON, in the order in which they began."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from gate.errors import AgentFailure
from gate.records import Json
from gate.traces.values import as_text, first, listed, mapped, text

Kind = Literal["llm", "tool", "mcp", "agent", "retrieval", "other"]

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
_DETAILS = "gen_ai.client.inference.operation.details"  # an event with the span's own attributes
_FAILED = (2, "STATUS_CODE_ERROR")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """`attributes` are plain JSON values; times in ns, None where there is none."""

    id: str
    parent: str
    trace: str
    kind: Kind
    attributes: Mapping[str, Json]
    events: tuple[tuple[str, Mapping[str, Json]], ...]
    error: str | None
    start: int | None
    end: int | None


def spans(data: Json) -> list[Span]:
    """By start; one without a start stays behind the one before it. A span within one of the same
    call (an MCP request within execute_tool, an LLM client within another) is part of that.
    """
    found: list[Span] = []
    for n, item in enumerate(_written(data)):
        try:
            found.append(_span(mapped(item, "it")))
        except AgentFailure as failure:
            raise AgentFailure(f"spans[{n}]: {failure}") from None
    last, order = 0, []
    for span in found:
        last = last if span.start is None else span.start
        order.append(last)
    ranked = sorted(range(len(found)), key=order.__getitem__)
    return _whole([found[n] for n in ranked])


def decoded(value: Json) -> Json:
    """An AnyValue as plain JSON. Raises AgentFailure, RecursionError."""
    if not isinstance(value, dict):
        return value  # written by an exporter that does not wrap its values
    for key, inner in value.items():
        if key in ("stringValue", "boolValue", "bytesValue"):
            return inner
        if key in ("intValue", "doubleValue"):
            return _number(inner)
        if key == "arrayValue":
            return [decoded(one) for one in listed(_values(inner), "arrayValue.values")]
        if key == "kvlistValue":
            return attributes_of(_values(inner))
    return None


def attributes_of(value: Json) -> dict[str, Json]:
    """[{key, value}], or an object."""
    if isinstance(value, dict):
        return {key: decoded(inner) for key, inner in value.items()}
    pairs = (mapped(pair, "an attribute") for pair in listed(value or [], "attributes"))
    return {as_text(pair.get("key")): decoded(pair.get("value")) for pair in pairs}


def _written(data: Json) -> Iterator[Json]:
    """Every span of an export, of several of them, or of a bare list."""
    for item in data if isinstance(data, list) else [data]:
        if not isinstance(item, dict):
            raise AgentFailure("the trace has an entry that is not an object")
        below = ("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "spans")
        inner = first(item, *below)
        if inner is None:
            yield item
        else:
            yield from _written(listed(inner, "spans"))


def _span(item: Mapping[str, Json]) -> Span:
    attributes = attributes_of(item.get("attributes"))
    listing = listed(item.get("events") or [], "events")
    events = tuple(_event(mapped(event, "an event")) for event in listing)
    for name, more in events:
        if name == _DETAILS:
            attributes = {**more, **attributes}
    return Span(
        id=text(first(item, "spanId", "span_id"), "spanId") or "",
        parent=text(first(item, "parentSpanId", "parent_span_id"), "parentSpanId") or "",
        trace=text(first(item, "traceId", "trace_id"), "traceId") or "",
        kind=_kind(attributes),
        attributes=attributes,
        events=events,
        error=_error(mapped(item.get("status") or {}, "status"), attributes),
        start=_time(first(item, "startTimeUnixNano", "start_time_unix_nano")),
        end=_time(first(item, "endTimeUnixNano", "end_time_unix_nano")),
    )


def _kind(attributes: Mapping[str, Json]) -> Kind:
    method = attributes.get("mcp.method.name")
    if method is not None:
        return "mcp" if method == "tools/call" else "other"
    named = first(attributes, "gen_ai.operation.name", "openinference.span.kind")
    return _KINDS.get(named, "other") if isinstance(named, str) else "other"


def _event(event: Mapping[str, Json]) -> tuple[str, Mapping[str, Json]]:
    return as_text(event.get("name")), attributes_of(event.get("attributes"))


def _error(status: Mapping[str, Json], attributes: Mapping[str, Json]) -> str | None:
    kind = attributes.get("error.type")
    if status.get("code") in _FAILED or kind is not None:
        return as_text(first(status, "message") or kind) or "error"
    return None


def _time(value: Json) -> int | None:
    found = _number(value)
    usable = isinstance(found, (int, float)) and 0 < found < 1e19
    return int(found) if usable else None


def _number(value: Json) -> Json:
    """int64 is written as a text; NaN and infinities are too."""
    if not isinstance(value, str):
        return value
    if len(value) <= 20 and value.lstrip("-").isdecimal():
        return int(value)
    try:
        return float(value[:40])
    except ValueError:
        return value


def _values(inner: Json) -> Json:
    return first(inner, "values") or [] if isinstance(inner, dict) else inner


def _whole(found: list[Span]) -> list[Span]:
    """Without the spans that are part of another one's call, whose attributes fill its gaps."""
    places = {(span.trace, span.id): n for n, span in enumerate(found) if span.id}
    calls = {
        id: n
        for n, span in reversed([*enumerate(found)])
        if span.kind == "tool" and (id := _call_id(span))
    }
    whole: list[Span | None] = [*found]
    for n in reversed(range(len(found))):  # inner ones first: they began later
        outer = _part_of(found, n, places, calls)
        kept = whole[n]
        target = None if outer is None else whole[outer]
        if kept is not None and target is not None and outer is not None:
            whole[outer] = _filled(target, kept)
            whole[n] = None
    return [span for span in whole if span is not None and span.kind != "other"]


def _part_of(
    found: list[Span],
    n: int,
    places: Mapping[tuple[str, str], int],
    calls: Mapping[str, int],
) -> int | None:
    """The place of the span whose call it is part of."""
    span = found[n]
    if span.kind == "mcp" and (same := calls.get(_call_id(span))) is not None:
        return same
    outer = _outer(found, n, places)
    if outer is None:
        return None
    pair = (found[outer].kind, span.kind)
    within = pair in (("tool", "mcp"), ("mcp", "mcp"), ("mcp", "tool"), ("llm", "llm"))
    return outer if within else None


def _outer(found: list[Span], n: int, places: Mapping[tuple[str, str], int]) -> int | None:
    """The nearest span around it that counts."""
    span = found[n]
    for _ in range(_FURTHEST):
        place = places.get((span.trace, span.parent))
        if place is None or place == n:
            return None
        span = found[place]
        if span.kind != "other":
            return place
    return None


def _filled(outer: Span, inner: Span) -> Span:
    told = {key: value for key, value in outer.attributes.items() if value is not None}
    return replace(
        outer,
        attributes={**inner.attributes, **told},
        events=(*outer.events, *inner.events),
        error=outer.error or inner.error,
    )


def _call_id(span: Span) -> str:
    found = span.attributes.get("gen_ai.tool.call.id")
    return found if isinstance(found, str) else ""
