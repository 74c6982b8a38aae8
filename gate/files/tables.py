"""Tables of other tools, row by row: CSV, JSON Lines, or a JSON list, alone or in an object."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from gate.errors import InvalidInput, Place, Problem, UsageError
from gate.files.csv_rows import read_csv
from gate.files.encoding import decode
from gate.files.json_rows import read_list
from gate.files.json_stream import is_too_deep, iterate_members
from gate.files.plain import MOST_JSON, MOST_LINE, JsonLine, lines_in, plain
from gate.records import Json

WRAPPED = ("data", "events", "rows")  # lists of rows in the answer of an API
MOST_COLUMNS = 10_000
_SEPARATORS = ",;\t"
_HEAD = 64 << 10  # bytes that are looked at to tell CSV from JSON
_BINARY = {
    b"PAR1": "Parquet; export CSV or JSON Lines",
    b"\x1f\x8b": "compressed with gzip; unpack it first",
    b"PK\x03\x04": "a zip archive; unpack it first",
}


@dataclass(frozen=True, slots=True)
class TableRow:
    """`cells`: column -> value. Of CSV all are texts, and empty ones are left out."""

    place: Place
    cells: Mapping[str, Json]


def table_rows(path: Path) -> Iterator[TableRow | Problem]:
    """Every row in order; of JSON one at a time, of JSON Lines and CSV a line at a time. Raises
    UsageError for what is no plain file.
    """
    try:
        with plain(path).open("rb") as stream:
            yield from _read_format(stream, path)
    except InvalidInput as error:
        yield from error.problems
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error


def columns_of(row: bytes) -> tuple[str, ...]:
    """The names in the header row of CSV; those of something else are of no use."""
    line = row[:_HEAD].partition(b"\n")[0].decode("utf-8-sig", "replace").strip("\r")
    try:
        return tuple(cell.strip() for cell in _cells(line))
    except csv.Error:
        return ()


def _read_format(stream: BinaryIO, path: Path) -> Iterator[TableRow | Problem]:
    name = path.as_posix()
    head = stream.read(_HEAD)
    stream.seek(0)
    for mark, told in _BINARY.items():
        if head.startswith(mark):
            yield Problem(Place(name), told)
            return
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if not first:
        yield Problem(Place(name), "empty - export it again, or leave it out")
    elif first == b"[":
        for row in read_list(_read_all(stream, name), name):
            yield row if isinstance(row, Problem) else _row(row.data, Place(name, row.line))
    elif first == b"{":
        yield from _json(stream, path)
    else:
        yield from _csv(stream, name)


def _read_all(stream: BinaryIO, name: str) -> bytes:
    content = stream.read(MOST_JSON + 1)
    if len(content) > MOST_JSON:
        told = f"larger than {MOST_JSON >> 20} MB - export JSON Lines, which are read line by line"
        raise InvalidInput([Problem(Place(name), told)])
    return content


def _row(data: Json, place: Place) -> TableRow | Problem:
    if not isinstance(data, dict):
        return Problem(place, "not a JSON object - each row must be one, with a key per column")
    if is_too_deep(data):
        return Problem(place, "nested more than 200 deep - leave the row out")
    return TableRow(place, data)


def _json(stream: BinaryIO, path: Path) -> Iterator[TableRow | Problem]:
    """JSON Lines, unless all of the file is one object with a list of rows."""
    name = path.as_posix()
    lines = lines_in(stream, name)
    first = next(lines)
    if isinstance(first, JsonLine) and not _wraps(first.data):
        yield from _lines(chain([first], lines))
        return
    stream.seek(0)
    head = stream.read(_HEAD)
    stream.seek(0)
    if isinstance(first, Problem) and not any(f'"{key}"'.encode() in head for key in WRAPPED):
        yield from _lines(lines_in(stream, name))
        return
    for part in iterate_members(_read_all(stream, name), name, WRAPPED):
        if part.key in WRAPPED and isinstance(part.data, dict):
            yield _row(part.data, Place(name, part.line))


def _lines(lines: Iterable[JsonLine | Problem]) -> Iterator[TableRow | Problem]:
    return (line if isinstance(line, Problem) else _row(line.data, line.place) for line in lines)


def _wraps(data: Json) -> bool:
    """Whether it is an API's answer, not a row: lists of objects stand in it."""
    lists = (
        [data.get(key) for key in WRAPPED] if isinstance(data, dict) and "id" not in data else []
    )
    return any(isinstance(one, list) and all(isinstance(x, dict) for x in one) for one in lists)


# --------------------------------------------------------------------------------------------- CSV


def _csv(stream: BinaryIO, name: str) -> Iterator[TableRow | Problem]:
    """What is wrong with the form ends it: what stands behind is told wrongly."""
    csv.field_size_limit(max(csv.field_size_limit(), MOST_LINE))  # answers are longer than 131,072
    lines = _text_lines(stream, name)
    first = next(lines)
    columns = columns_of(first.encode())
    if len(columns) < 2:
        yield Problem(Place(name, 1), "not a table: neither CSV with a header row nor JSON")
        return
    if len(columns) > MOST_COLUMNS:
        yield Problem(Place(name, 1), f"more than {MOST_COLUMNS:,} columns - export fewer")
        return
    for row in read_csv(chain([first], lines), name, separator=_separator(first)):
        if isinstance(row, Problem):
            yield row
        else:
            yield TableRow(row[0], {key: cell for key, cell in row[1].items() if cell != ""})


def _text_lines(stream: BinaryIO, name: str) -> Iterator[str]:
    """Physical lines with their ends. Raises InvalidInput with the line."""
    number = 0
    while line := stream.readline(MOST_LINE + 1):
        number += 1
        if len(line) > MOST_LINE:
            told = f"longer than {MOST_LINE >> 20} MB - is a quote missing?"
            raise InvalidInput([Problem(Place(name, number), told)])
        yield decode(line, name, line=number)


def _cells(header: str) -> list[str]:
    return next(csv.reader([header], delimiter=_separator(header)), [])


def _separator(header: str) -> str:
    """The one that makes most columns of it."""

    def columns(sign: str) -> int:
        try:
            return len(next(csv.reader([header], delimiter=sign), []))
        except csv.Error:
            return 0

    return max(_SEPARATORS, key=columns)
