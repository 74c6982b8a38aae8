"""The files of an export: which they are, their pieces, and what a line of them holds. A file that
is one value over several lines is read whole.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import count, pairwise
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from gate.errors import InvalidInput
from gate.files.json_stream import explain_error, parse_json
from gate.files.plain import MOST_LINE, plain
from gate.records import Json

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
                number, None, f"longer than {MOST_LINE >> 20} MB - write one batch per line"
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
    found: list[Json] = []
    starts = [match.start() for match in re.finditer(rb"^{", data, re.MULTILINE)]
    for start, end in pairwise([*starts, len(data)]):
        try:
            found.append(parse_json(data[start:end], name))
        except InvalidInput as error:
            problem = error.problems[0]
            line = data.count(b"\n", 0, start) + (problem.place.line or 1)
            return ReadValue(line, None, problem.message)
    return ReadValue(1, found)


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
    found: Json = json.loads(line.decode("utf-8-sig" if line[:3] == BOM_UTF8 else "utf-8"))
    if b"\\u" in line and (b"\\ud" in line or b"\\uD" in line) and _HALF.search(line):
        text = json.dumps(found, ensure_ascii=False)
        found = json.loads(text.encode("utf-8", "replace"))
    return found
