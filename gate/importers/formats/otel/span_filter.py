"""The files of an export, and what is read of the spans and logged events in them.

It becomes records of plain bytes: they go through files and to other processes of ours, and nowhere
else. A file that is one value over several lines is read whole.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import marshal
import re
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from io import BytesIO
from itertools import count, pairwise
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

from gate.agents.traces import otel_facts
from gate.agents.traces.otel_sdk import is_span
from gate.agents.traces.otel_spans import DETAILS, TraceSpan, span_of
from gate.agents.traces.otel_values import decode_value, event_of
from gate.agents.traces.values import Called, as_list, as_object, as_text, first
from gate.errors import AgentFailure, InvalidInput
from gate.files.json_stream import explain_error, parse_json
from gate.files.json_values import as_string
from gate.files.plain import MOST_LINE, plain
from gate.records import CheckedJson, Json

PACKED = ".gz"
SUFFIXES = tuple(end + zipped for end in (".json", ".jsonl", ".ndjson") for zipped in ("", PACKED))
MOST_WHOLE = 256 << 20  # bytes of a file that is one value over several lines
MOST_BLANK = 1_000_000  # lines of a piece, or of a packed file
MOST_UNPACKED = 500  # times the size of the packed file; text packs to a tenth
PIECE = 4 << 20  # bytes that are read at once, and to the end of their last line
_SMALL = 1 << 20
# Half of a character whose other half is not beside it. An escaped backslash before it may fool it.
_HALF = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)


class ReadValue(NamedTuple):
    """A value and its line, from 1; `wrong` is what is wrong with one that is none."""

    line: int
    data: Json
    wrong: str = ""


def kind_of(path: Path) -> Literal["lines", "packed", "whole"]:
    """`whole` where the first line is no value, but the beginning of one. Raises UsageError."""
    if path.name.lower().endswith(PACKED):
        return "packed"
    with plain(path).open("rb") as stream:
        while line := stream.readline(MOST_LINE):
            if line.strip():
                return "whole" if line.rstrip().endswith((b"{", b"[", b",")) else "lines"
    return "lines"


def pieces(path: Path) -> Iterator[tuple[int, int]]:
    """Where each piece of a file of lines begins, and its bytes."""
    with plain(path).open("rb") as stream:
        start = 0
        while True:
            stream.seek(start + PIECE)
            while len(line := stream.readline(MOST_LINE)) == MOST_LINE and line[-1:] != b"\n":
                pass
            end = min(stream.tell(), path.stat().st_size)
            if end <= start:
                return
            yield start, end - start
            start = end


def lines_in(stream: BinaryIO | gzip.GzipFile, size: int) -> Iterator[ReadValue]:
    """What the lines of the next `size` bytes hold, those that are not empty."""
    blank = 0
    for number in count(1):
        line = stream.readline(min(size, MOST_LINE + 1))
        size -= len(line)
        if not line:
            return
        if len(line) > MOST_LINE:
            yield ReadValue(
                number,
                None,
                f"longer than {MOST_LINE >> 20} MB - write one export request per line",
            )
            return
        if line.strip():
            yield _line(number, line)
        elif (blank := blank + 1) > MOST_BLANK:
            yield ReadValue(number, None, f"more than {MOST_BLANK:,} empty lines - remove them")
            return


def read_packed(path: Path) -> Iterator[ReadValue]:
    """The lines of a packed file; one that is a bomb, or broken, ends with what is wrong."""
    most = path.stat().st_size * MOST_UNPACKED + _SMALL
    number = 0
    with gzip.GzipFile(plain(path)) as stream:
        try:
            for read in lines_in(stream, most):
                number = read.line
                yield read
            if stream.read(1):
                message = (
                    f"unpacks to more than {MOST_UNPACKED} times its size - unpack it "
                    "yourself and import the result"
                )
                yield ReadValue(number + 1, None, message)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            message = f"cannot be unpacked ({error}) - copy the file again"
            yield ReadValue(number + 1, None, message)


def read_whole(path: Path) -> ReadValue:
    if path.stat().st_size > MOST_WHOLE:
        message = (
            f"one JSON value of more than {MOST_WHOLE >> 20} MB - write JSON Lines, one batch "
            "per line"
        )
        return ReadValue(1, None, message)
    data = plain(path).read_bytes()
    if re.search(rb"^}\s*^{", data, re.MULTILINE):  # what the console exporter of the SDK writes
        return _one_behind_the_other(data, path.as_posix())
    try:
        return ReadValue(1, parse_json(data, path.as_posix()))
    except InvalidInput as error:
        problem = error.problems[0]
        return ReadValue(problem.place.line or 1, None, problem.message)


def _one_behind_the_other(data: bytes, name: str) -> ReadValue:
    """Objects over several lines, each of which begins at the beginning of a line."""
    values: list[Json] = []
    starts = [match.start() for match in re.finditer(rb"^{", data, re.MULTILINE)]
    for start, end in pairwise([*starts, len(data)]):
        try:
            values.append(parse_json(data[start:end], name))
        except InvalidInput as error:
            problem = error.problems[0]
            line = data.count(b"\n", 0, start) + (problem.place.line or 1)
            return ReadValue(line, None, problem.message)
    return ReadValue(1, values)


def _line(number: int, line: bytes) -> ReadValue:
    try:
        return ReadValue(number, _parse_line(line))
    except UnicodeDecodeError as error:
        return ReadValue(number, None, f"not UTF-8 (byte {error.start + 1}) - write it as UTF-8")
    except (ValueError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError) and not line.endswith(b"\n"):
            message = "cut off in the middle - copy the file again, or remove its last line"
            return ReadValue(number, None, message)
        return ReadValue(number, None, explain_error(error))


def _parse_line(line: bytes) -> Json:
    """JSON whose text can be written as UTF-8: halves of characters become `?`."""
    data: Json = json.loads(line.decode("utf-8-sig" if line[:3] == BOM_UTF8 else "utf-8"))
    if b"\\u" in line and (b"\\ud" in line or b"\\uD" in line) and _HALF.search(line):
        text = json.dumps(data, ensure_ascii=False)
        data = json.loads(text.encode("utf-8", "replace"))
    return data


# -------------------------------------------------------------------------------------------- spans


CONVERSATION = ("gen_ai.conversation.id", "session.id")
EVALUATION = "gen_ai.evaluation.result"
_OF_ANY = (*CONVERSATION, "error.type")  # attributes that are read of every span
_HEX = re.compile(r"[0-9a-fA-F]{32}")
_BASE64 = re.compile(r"[0-9A-Za-z+/_-]{22}==")  # how protobuf's own JSON writes 16 bytes
_NONE = "0" * 32


class KeptSpans(NamedTuple):
    """A span, or an event that was logged beside one: then `span` has its ids, and what it adds."""

    service: str
    span: TraceSpan
    logged: bool = False


class SpanRecord(NamedTuple):
    """`counts`: its trace is one of an agent. `data`: a Kept."""

    line: int
    trace: str
    counts: bool
    conversation: str
    data: bytes


class TakenSpans(NamedTuple):
    """What some lines hold. `wrong`: lines, counted as in the records, with what is wrong."""

    records: list[SpanRecord]
    counted: Counter[str]  # what is worth a note -> how often
    wrong: list[tuple[int, str]]


def filter_spans(lines: Iterable[ReadValue], also: Set[str]) -> TakenSpans:
    """`also`: attributes to keep beside those that are read."""
    taken = TakenSpans([], Counter(), [])
    for read in lines:
        if read.wrong:
            taken.wrong.append((read.line, read.wrong))
            continue
        try:
            _take(read, taken, also)
        except AgentFailure as failure:
            taken.wrong.append((read.line, f"{failure} - export it again as OTLP JSON"))
    return taken


# Records, what is worth a note, wrong lines, and how many lines there are.
FilteredPiece = tuple[list[tuple[object, ...]], dict[str, int], list[tuple[int, str]], int]


def filter_piece(request: tuple[str, int, int, list[str]]) -> FilteredPiece:
    """The spans in a piece of a file of lines, as plain values, and how many lines it has."""
    path, start, size, also = request
    with Path(path).open("rb") as stream:
        stream.seek(start)
        piece = stream.read(size)
    records, counted, wrong = filter_spans(lines_in(BytesIO(piece), size), frozenset(also))
    return [tuple(record) for record in records], dict(counted), wrong, piece.count(b"\n")


def keep_spans(data: bytes) -> KeptSpans:
    service, logged, told, own = marshal.loads(data)  # noqa: S302 - written here
    span = TraceSpan._make(own)
    if told is not None:
        span = span._replace(facts=_facts(span.kind, told))
    return KeptSpans(service, span, logged)


def _take(read: ReadValue, into: TakenSpans, also: Set[str]) -> None:
    number = 0
    for resource, items in _below(read.data, NOBODY, _BELOW, "spans", _DEEPEST):
        number += len(items)
        beside = {k: v for k, v in resource.attributes.items() if k in also}
        for item in items:
            span = span_of(item, also)
            told = {**beside, **span.attributes} if beside else span.attributes
            _take_span(read.line, resource.service, span, told, into, also)
    for _, items in logs_in(read.data):
        number += len(items)
        for item in items:
            _take_log(read.line, item, into)
    into.counted["spans"] += number
    into.counted["lines without spans"] += not number


def _take_span(
    line: int,
    service: str,
    span: TraceSpan,
    told: Mapping[str, Json],
    into: TakenSpans,
    also: Set[str],
) -> None:
    """Adds the record of a span, with only what is read of it."""
    counts = span.kind != "other"
    attributes = {k: told[k] for k in (*_OF_ANY, *also) if k in told} if told else told
    events = tuple(e for e in span.events if e[0] == EVALUATION) if span.events else ()
    trace = _trace_id(span.trace, into.counted, counts=counts or bool(events))
    if trace:
        conversation = first(attributes, *CONVERSATION) if attributes else None
        data = _data(service, span, trace, attributes, events)
        into.records.append(SpanRecord(line, trace, counts, as_text(conversation), data))


def _take_log(line: int, item: dict[str, Json], into: TakenSpans) -> None:
    """A log record that is an event of the conventions: a judgement, or the content of a call."""
    named = first(item, "eventName", "event_name")
    name, attributes = event_of({"name": named, "attributes": item.get("attributes")})
    name = name or as_text(attributes.get("event.name"))
    if name not in (EVALUATION, DETAILS):
        return
    told = span_of({**item, "attributes": [], "events": [], "status": {}})
    trace = _trace_id(told.trace, into.counted, counts=False)
    if not trace:
        into.counted["events without a trace"] += 1
        return
    events: tuple[otel_facts.Event, ...] = ()
    if name == EVALUATION:
        events = ((name, attributes),)
    else:
        facts = otel_facts.facts_of("llm", {"gen_ai.operation.name": "chat", **attributes})
        told = told._replace(kind="llm", facts=facts)
    data = _data("", told, trace, {}, events, logged=True)
    into.records.append(SpanRecord(line, trace, False, "", data))


def _trace_id(written: str, counted: Counter[str], *, counts: bool) -> str:
    """32 hexadecimal digits, or the odd id. Raises AgentFailure if none, where it counts."""
    if _HEX.fullmatch(written) and written != _NONE:
        return written.lower()
    if _BASE64.fullmatch(written):
        try:
            return base64.b64decode(written.replace("-", "+").replace("_", "/")).hex()
        except binascii.Error:
            pass
    if written in ("", _NONE) or len(written) > 200:
        if counts:
            raise AgentFailure("a span has no traceId")
        return ""
    counted["odd ids"] += 1
    return written


def _data(
    service: str,
    span: TraceSpan,
    trace: str,
    attributes: Mapping[str, Json],
    events: tuple[otel_facts.Event, ...],
    *,
    logged: bool = False,
) -> bytes:
    """Raises AgentFailure for what is nested over a thousand times."""
    facts = span.facts
    told: list[Any] | None = None if facts is None else [*facts]
    if isinstance(facts, otel_facts.ModelCall):
        told = [*facts[:1], [[*call] for call in facts.calls], *facts[2:]]
    own = (span.id, span.parent, trace, span.kind, None, attributes, events, *span[-3:])
    record: Any = (service, logged, told, own)
    try:
        return marshal.dumps(record)
    except ValueError:
        raise AgentFailure("an attribute is nested too deeply") from None


def _facts(kind: otel_facts.Kind, told: Sequence[CheckedJson]) -> otel_facts.Facts:
    if kind == "llm":
        return otel_facts.ModelCall._make([*told[:1], tuple(map(Called._make, told[1])), *told[2:]])
    if kind in ("tool", "mcp"):
        return otel_facts.ExecutedCall._make(told)
    return (
        otel_facts.AgentCall._make(told)
        if kind == "agent"
        else otel_facts.RetrievalFacts._make(told)
    )


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
    """A resource with its attributes; those of a wrong type say nothing."""
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
