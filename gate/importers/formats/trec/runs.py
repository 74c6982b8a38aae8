"""A run, query by query: TREC text is read where it lies, JSON as a whole."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path

from gate.agents.recordings.retrieval_run import (
    TWICE,
    Documents,
    best_first,
    parse_retrieval_run,
    trec_line,
)
from gate.errors import InvalidInput, Place, Problem
from gate.files.encoding import decode
from gate.files.plain import MOST_JSON, plain
from gate.files.problems import Findings
from gate.importers.trials.build import MOST_TRIALS, check_number

MOST_DOCUMENTS = 100_000  # of one query; runs usually have 1,000
_MOST_LINE = 64 << 10  # bytes
_NO_DOCUMENTS: Documents = ()


def run_of(path: Path, findings: Findings, most: int = MOST_TRIALS) -> RankedRun:
    """Every line is checked. Raises UsageError for what is no plain file or has more queries than
    that, InvalidInput for JSON that is no run.
    """
    with plain(path).open("rb") as stream:
        first = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return _json_run(path) if first in (b"{", b"[") else _text_run(path, findings, most)


# ---------------------------------------------------------------------------------------- TREC text


@dataclass(slots=True)
class _TextRun:
    """`name`: what the run calls itself, empty where it does not. `spans`: query -> beginning and
    end, in bytes, of each block of its lines.
    """

    path: Path
    name: str = ""
    spans: dict[str, array[int]] = field(default_factory=dict)

    @property
    def queries(self) -> Collection[str]:
        return self.spans.keys()

    def of(self, query: str) -> Documents:
        """What was retrieved, best first; nothing for a query that the run does not have. Raises
        InvalidInput for a document that is there twice.
        """
        scores: dict[str, float] = {}
        for line in self._lines(query):
            read = trec_line(line)
            if isinstance(read, str) or read[1] in scores:
                message = f"query {query[:80]}: {read if isinstance(read, str) else TWICE}"
                raise InvalidInput([Problem(Place(self.path.as_posix()), message)])
            scores[read[1]] = read[2]
        return best_first(scores)

    def _lines(self, query: str) -> Iterator[str]:
        places = self.spans.get(query)
        if not places:
            return
        with plain(self.path).open("rb") as stream:
            for start, end in list(pairwise(places))[::2]:
                stream.seek(start)
                first = 1 if start == 0 else 2  # a byte order mark stands on the first line only
                block = decode(stream.read(end - start), self.path.as_posix(), line=first)
                yield from (line for line in block.split("\n") if line.strip())


@dataclass(slots=True)
class _Block:
    """Lines that follow each other and are of one query."""

    query: str | None = None
    start: int = 0
    documents: set[str] = field(default_factory=set)


def _text_run(path: Path, findings: Findings, most: int) -> _TextRun:
    run, block, at, name = _TextRun(path), _Block(), 0, path.as_posix()
    sizes: dict[str, int] = {}
    with path.open("rb") as stream:
        for number in count(1):
            line = stream.readline(_MOST_LINE + 1)
            place = Place(name, number)
            read = _parse_line(line, place) if line.strip() else None
            if isinstance(read, Problem):
                findings.take(read)
            elif read is not None:
                query, document, _ = read
                if query != block.query:
                    _close(run, block, at)
                    check_number(len(run.spans), name, most)
                    block = _Block(query, at)
                    run.name = run.name or _tag(line)
                if document in block.documents:
                    findings.add(place, TWICE)
                if not line.endswith(b"\n") and _tag(line) != run.name:
                    findings.add(place, "cut off in the middle - copy the file again")
                block.documents.add(document)
                sizes[query] = sizes.get(query, 0) + 1
                if sizes[query] > MOST_DOCUMENTS:
                    findings.add(place, f"more than {MOST_DOCUMENTS:,} documents of one query")
                    break
            if not line or len(line) > _MOST_LINE:
                break
            at += len(line)
    _close(run, block, at)
    if not run.spans and not findings:
        findings.add(Place(name), "has no line of a run - give a run file")
    _check_scattered(run, findings)
    return run


def _parse_line(line: bytes, place: Place) -> tuple[str, str, float] | Problem:
    if len(line) > _MOST_LINE:
        return Problem(place, f"longer than {_MOST_LINE >> 10} kB - not a run file")
    try:
        read = trec_line(decode(line, place.file, line=place.line or 1))
    except InvalidInput as error:
        return error.problems[0]
    return Problem(place, read) if isinstance(read, str) else read


def _close(run: _TextRun, block: _Block, end: int) -> None:
    if block.query is not None:
        run.spans.setdefault(block.query, array("q")).extend((block.start, end))


def _tag(line: bytes) -> str:
    return line.decode(errors="replace").split()[5][:100]


def _check_scattered(run: _TextRun, findings: Findings) -> None:
    """Queries whose lines do not stand together may have a document in two places."""
    for query in [] if findings else [one for one, at in run.spans.items() if len(at) > 2]:
        try:
            run.of(query)
        except InvalidInput as error:
            findings.take(*error.problems)


# --------------------------------------------------------------------------------------------- JSON


@dataclass(frozen=True, slots=True)
class _JsonRun:
    found: Mapping[str, Documents]
    name: str = ""

    @property
    def queries(self) -> Collection[str]:
        return self.found.keys()

    def of(self, query: str) -> Documents:
        return self.found.get(query, _NO_DOCUMENTS)


RankedRun = _TextRun | _JsonRun


def _json_run(path: Path) -> _JsonRun:
    file = path.as_posix()
    if path.stat().st_size > MOST_JSON:
        message = f"larger than {MOST_JSON >> 20} MB - use TREC text"
        raise InvalidInput([Problem(Place(file), message)])
    run = parse_retrieval_run(path.read_bytes(), file)
    found = {**run.by_question, **run.by_id}
    large = next((query for query, given in found.items() if len(given) > MOST_DOCUMENTS), None)
    if large is not None:
        message = f"query {large[:80]}: more than {MOST_DOCUMENTS:,} documents"
        raise InvalidInput([Problem(Place(file), message)])
    return _JsonRun(found)
