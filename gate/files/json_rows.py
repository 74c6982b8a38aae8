"""The cases of a dataset in JSON, each with its line: JSON Lines, or one list."""

from __future__ import annotations

from collections.abc import Container
from itertools import chain
from typing import BinaryIO

from gate.errors import InvalidInput, Place, Problem
from gate.files.encoding import decode, foreign_mark
from gate.files.json_stream import decode_json, explain_error, iterate_items
from gate.files.source import DatasetRow, Rows


def read_cases(stream: BinaryIO, name: str, lines: Container[int] | None = None) -> Rows:
    """A list when the first sign is `[`, otherwise one case a line, whatever the suffix says.
    `lines`: the numbers of those that are wanted, which only JSON Lines heeds; None: all.
    """
    number = 0
    for line in stream:
        number += 1
        if line.strip(b"\xef\xbb\xbf \t\r\n"):
            break
    else:
        return
    if line.lstrip(b"\xef\xbb\xbf \t").startswith(b"["):
        yield from read_list(b"\n" * (number - 1) + line + stream.read(), name)
        return
    for at, content in enumerate(chain([line], stream), number):
        row = _read_line(content, name, at) if lines is None or at in lines else None
        if row is not None:
            yield row
        if at == 1 and foreign_mark(content):
            return


def read_list(content: bytes, name: str) -> Rows:
    """The items of the one list in it; what is wrong ends it as a problem."""
    try:
        text = decode(content, name)
        for item in iterate_items(text, text.index("["), name, alone=True):
            yield DatasetRow(line=item.line, data=item.data)
    except InvalidInput as error:
        yield from error.problems


def _read_line(line: bytes, name: str, number: int) -> DatasetRow | Problem | None:
    """None: there is nothing on it."""
    try:
        text = decode(line, name, line=number).strip()
        return DatasetRow(line=number, data=decode_json(text), mark=hash(line)) if text else None
    except InvalidInput as error:
        return error.problems[0]
    except (ValueError, RecursionError) as error:
        return Problem(Place(name, number), explain_error(error))
