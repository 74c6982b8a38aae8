"""Spans gathered by trace, whatever lines and files they are spread over: what is read of each is
put aside, and memory holds a few numbers a trace.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from gate.errors import InfrastructureError, Place, UsageError
from gate.files.json_values import as_string
from gate.files.problems import Findings
from gate.importers.formats.otel import span_filter
from gate.importers.formats.otel.worker_pool import Crew

MOST_TRACES = 2_000_000
MOST_SPANS = 100_000  # of one result; those beyond are counted
MOST_BYTES = 64 << 20  # of what is kept of one result
_HEAD = Struct("<qll")  # where the record before it of its trace begins; its file and line
_LENGTH = 4  # bytes of a record's length


class Spool:
    """Records found by where they begin. Raises InfrastructureError if the disk is full."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - open as long as the spool is used
        self._at_end = True
        self._size = 0

    def put(self, record: bytes) -> int:
        """Where it begins."""
        start = self._size
        try:
            if not self._at_end:
                self._file.seek(start)
                self._at_end = True
            self._file.write(len(record).to_bytes(_LENGTH, "little") + record)
        except OSError as error:
            raise _full(error) from error
        self._size = start + _LENGTH + len(record)
        return start

    def get(self, start: int) -> bytes:
        self._at_end = False
        try:
            self._file.seek(start)
            return self._file.read(int.from_bytes(self._file.read(_LENGTH), "little"))
        except OSError as error:
            raise _full(error) from error

    def close(self) -> None:
        self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


def _full(error: OSError) -> InfrastructureError:
    return InfrastructureError(
        f"cannot write a temporary file ({error.strerror}); set the environment variable "
        "TMPDIR to a folder with as much free space as the size of the source"
    )


class Group(NamedTuple):
    """What is kept of one result: (file, line, a Kept) each, in the order in which it was read.
    `conversation` is empty where it is one trace; `beyond`: how many spans more it has.
    """

    conversation: str
    beyond: int
    kept: list[tuple[int, int, bytes]]


@dataclass(slots=True, kw_only=True)
class Traces:
    """Numbered in the order in which they were met."""

    files: tuple[Path, ...]
    by_conversation: bool = False
    findings: Findings = field(default_factory=Findings)
    counted: Counter[str] = field(default_factory=Counter)  # what is worth a note -> how often
    _spool: Spool = field(default_factory=Spool)
    _numbers: dict[str, int] = field(default_factory=dict)
    _last: array[int] = field(default_factory=lambda: array("q"))  # where the last record begins
    _spans: array[int] = field(default_factory=lambda: array("l"))
    _bytes: array[int] = field(default_factory=lambda: array("q"))
    _of_agents: bytearray = field(default_factory=bytearray)  # 1: it has a span that counts
    _beyond: Counter[int] = field(default_factory=Counter)  # trace -> spans that are not kept
    _conversations: dict[int, str] = field(default_factory=dict)  # as the first span tells it

    def take(self, taken: span_filter.TakenSpans, file: int, lines: int = 0) -> None:
        """Adds what the lines after line `lines` of a file hold. Raises UsageError for too many."""
        self.counted.update(taken.counted)
        for line, message in taken.wrong:
            self.findings.add(self.place(file, lines + line), message)
        for record in taken.records:
            self._add(record, file, lines + record.line)

    def _add(self, record: span_filter.SpanRecord, file: int, line: int) -> None:
        number = self._numbers.setdefault(record.trace, len(self._last))
        if number == len(self._last):
            if number >= MOST_TRACES:
                raise UsageError(f"more than {MOST_TRACES:,} traces; import them in parts")
            self._last.append(-1)
            self._spans.append(0)
            self._bytes.append(0)
            self._of_agents.append(0)
        self._of_agents[number] |= record.counts
        if self.by_conversation and (told := record.conversation):
            self.counted["two conversations"] += (
                self._conversations.setdefault(number, told) != told
            )
        if self._spans[number] >= MOST_SPANS or self._bytes[number] >= MOST_BYTES:
            self._beyond[number] += 1
            return
        head = _HEAD.pack(self._last[number], file, line)
        self._last[number] = self._spool.put(head + record.data)
        self._spans[number] += 1
        self._bytes[number] += len(record.data)

    @property
    def others(self) -> int:
        """Traces that are of no agent."""
        return len(self._of_agents) - sum(self._of_agents)

    def groups(self) -> Iterator[Group]:
        """What each result is made of: a trace of an agent, or all those of a conversation."""
        by: dict[str | int, list[int]] = {}
        for number, counts in enumerate(self._of_agents):
            if counts and not self.by_conversation:
                yield self._group("", (number,))
            elif counts:
                by.setdefault(self._conversations.get(number, number), []).append(number)
        for key, numbers in by.items():
            yield self._group(as_string(key), numbers)

    def _group(self, conversation: str, numbers: Iterable[int]) -> Group:
        kept: list[tuple[int, int, bytes]] = []
        beyond = size = 0
        for number in numbers:
            beyond += self._beyond[number]
            spans, size = self._spans[number], size + self._bytes[number]
            if kept and (len(kept) + spans > MOST_SPANS or size > MOST_BYTES):
                beyond += spans
            else:
                kept += self._records(number)
        return Group(conversation, beyond, kept)

    def _records(self, number: int) -> list[tuple[int, int, bytes]]:
        records: list[tuple[int, int, bytes]] = []
        at = self._last[number]
        while at >= 0:
            record = self._spool.get(at)
            at, file, line = _HEAD.unpack_from(record)
            records.append((file, line, record[_HEAD.size :]))
        return records[::-1]

    def place(self, file: int, line: int) -> Place:
        return Place(self.files[file].as_posix(), line)

    def close(self) -> None:
        """After that nothing can be taken out any more."""
        self._spool.close()


def group_spans(traces: Traces, also: Set[str], crew: Crew) -> None:
    """Reads the files. `also`: attributes to keep beside those that are read."""
    for number, path in enumerate(traces.files):
        kind = span_filter.kind_of(path)
        if kind == "lines":
            _by_piece(traces, number, sorted(also), crew)
        else:
            for read in (
                span_filter.read_packed(path)
                if kind == "packed"
                else (span_filter.read_whole(path),)
            ):
                traces.take(span_filter.filter_spans((read,), also), number)


def _by_piece(traces: Traces, number: int, also: list[str], crew: Crew) -> None:
    path = traces.files[number]
    requests = ((str(path), start, size, also) for start, size in span_filter.pieces(path))
    before = 0
    answer: tuple[Any, ...]
    for answer in crew.map(span_filter.filter_piece, requests):
        records, counted, wrong, lines = answer
        taken = span_filter.TakenSpans(
            [span_filter.SpanRecord._make(record) for record in records], Counter(counted), wrong
        )
        traces.take(taken, number, before)
        before += lines
