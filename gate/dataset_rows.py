"""The rows of a dataset file with their lines: JSON Lines, a JSON list, YAML and CSV.

JSON Lines is streamed; the others are read whole. What cannot be read is a Problem among the rows.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

from gate import yamlfile
from gate.encoding import decode, foreign_mark
from gate.errors import InvalidInput, Place, Problem
from gate.records import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A dataset: `name` is what messages call it (its suffix says the format); `open` reads it from
    the start, as often as wanted.
    """

    name: str
    open: Callable[[], BinaryIO]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One case as it is written. `texts`: it comes from CSV, where every plain cell is a text."""

    line: int
    data: Json
    texts: bool = False


Rows = Iterator[Row | Problem]


def rows(source: Source) -> Rows:
    """Every row of the file in order, unchecked but for its form."""
    reader = _reader(source.name)
    try:
        with source.open() as stream:
            yield from reader(stream, source.name)
    except FileNotFoundError:
        yield Problem(Place(source.name), "there is no such file")
    except OSError as error:
        yield Problem(Place(source.name), f"cannot be read: {error.strerror or error}")


def _reader(name: str) -> Callable[[BinaryIO, str], Rows]:
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in (".yaml", ".yml"):
        return _yaml
    return _csv if suffix == ".csv" else _json


# ------------------------------------------------------------------------------------------ JSON


def _json(stream: BinaryIO, name: str) -> Rows:
    """A list when the first sign is `[`, otherwise one case a line, whatever the suffix says."""
    number = 0
    for line in stream:
        number += 1
        if line.strip(b"\xef\xbb\xbf \t\r\n"):
            break
    else:
        return
    if line.lstrip(b"\xef\xbb\xbf \t").startswith(b"["):
        yield from _json_list(b"\n" * (number - 1) + line + stream.read(), name)
        return
    yield from _json_line(line, name, number)
    if foreign_mark(line) and number == 1:
        return
    for later, line in enumerate(stream, number + 1):
        yield from _json_line(line, name, later)


def _json_line(line: bytes, name: str, number: int) -> Rows:
    try:
        text = decode(line, name, line=number).strip()
        if text:
            yield Row(line=number, data=_whole(_one_line.decode(text), text))
    except InvalidInput as error:
        yield from error.problems
    except (ValueError, RecursionError) as error:
        yield Problem(Place(name, number), _json_message(error))


def _json_list(content: bytes, name: str) -> Rows:
    try:
        text = decode(content, name)
    except InvalidInput as error:
        yield from error.problems
        return
    seen = text.index("[") + 1
    line = text.count("\n", 0, seen) + 1
    start = _after_space(text, seen)
    while text[start : start + 1] != "]":
        line += text.count("\n", seen, start)
        try:
            data, seen = _one_line.raw_decode(text, start)
            yield Row(line=line, data=_whole(data, text[start:seen]))
            line += text.count("\n", start, seen)
            start = _next_item(text, seen)
        except json.JSONDecodeError as error:
            yield Problem(Place(name, error.lineno), _json_message(error))
            return
        except (ValueError, RecursionError) as error:
            yield Problem(Place(name, line), _json_message(error))
            return
    if text[start + 1 :].strip():
        yield Problem(Place(name, line), "something follows the end of the list")


def _next_item(text: str, position: int) -> int:
    """Where the next item or the closing bracket stands."""
    start = _after_space(text, position)
    sign = text[start : start + 1]
    if sign not in (",", "]"):
        raise json.JSONDecodeError("a ',' or the ']' of the list is missing", text, start)
    if sign == "]":
        return start
    following = _after_space(text, start + 1)
    if text[following : following + 1] == "]":
        raise json.JSONDecodeError("a ',' without a case behind it", text, start)
    return following


def _after_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _json_message(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} (column {error.colno})"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return str(error)


def _whole(data: Json, text: str) -> Json:
    """`data`, unless an escape such as \\ud83d stands without its pair, which no UTF-8 can hold."""
    if "\\ud" in text or "\\uD" in text:
        try:
            json.dumps(data, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("half a character: a \\ud... escape without its pair") from None
    return data


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key '{twice}' is here twice - remove one")
    return found


def _not_a_number(word: str) -> Json:
    raise ValueError(f"{word} is not JSON - leave the key out or write null")


_one_line = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_not_a_number)

# ------------------------------------------------------------------------------------ YAML, CSV


def _yaml(stream: BinaryIO, name: str) -> Rows:
    try:
        document = yamlfile.parse(stream.read(), name)
    except InvalidInput as error:
        yield from error.problems
        return
    if document.data is None:
        return
    if not isinstance(document.data, list):
        yield Problem(Place(name, 1), "the file must be a list of cases ('- id: ...')")
        return
    for index, data in enumerate(document.data):
        yield Row(line=document.place((index,)).line or 1, data=data)


def _csv(stream: BinaryIO, name: str) -> Rows:
    try:
        text = decode(stream.read(), name)
    except InvalidInput as error:
        yield from error.problems
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        wrong = _header_fault(header)
        if wrong:
            yield Problem(Place(name, 1), wrong)
            return
        line = reader.line_num + 1
        for cells in reader:
            if cells:
                yield _csv_row(cells, header, Place(name, line))
            line = reader.line_num + 1
    except csv.Error as error:
        yield Problem(Place(name, reader.line_num), f"not CSV: {error}")


def _header_fault(header: list[str]) -> str | None:
    names = [cell.strip() for cell in header]
    if header and not all(names):
        return "a column of the header row has no name"
    twice = next((name for name in names if names.count(name) > 1), None)
    return f"two columns are called '{twice}'" if twice else None


def _csv_row(cells: list[str], header: list[str], place: Place) -> Row | Problem:
    if len(cells) != len(header):
        message = f"{len(cells)} cells, but the header row has {len(header)} - is a quote missing?"
        return Problem(place, message)
    data: dict[str, Json] = {}
    for name, cell in zip(header, cells, strict=True):
        try:
            if cell != "":
                data[name.strip()] = _one_line.decode(cell) if cell[0] in "[{" else cell
        except (ValueError, RecursionError) as error:
            message = f"{_json_message(error)} - a cell that starts with [ or {{ is read as JSON"
            return Problem(Place(place.file, place.line, name.strip()), message)
    return Row(line=place.line or 1, data=data, texts=True)
