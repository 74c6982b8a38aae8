"""Bytes to text: UTF-8 with or without a byte order mark; anything else is named with its place."""

from __future__ import annotations

from typing import NoReturn

from gate.errors import InvalidInput, Place, Problem

# UTF-32 before UTF-16: the mark of one begins with the mark of the other.
_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


def foreign_mark(data: bytes) -> str | None:
    """`UTF-16` or `UTF-32` when the data begin with that byte order mark."""
    return next((name for mark, name in _MARKS if data.startswith(mark)), None)


def decode(data: bytes, file: str, *, line: int = 1) -> str:
    """The text of a file, or of its piece from `line` on. Raises InvalidInput with line and
    byte.
    """
    mark = foreign_mark(data) if line == 1 else None
    if mark:
        _refuse(file, line, f"the file is {mark} - save it as UTF-8")
    try:
        text = data.decode("utf-8-sig" if line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        column = error.start - (before.rfind(b"\n") + 1) + 1
        _refuse(
            file,
            line + before.count(b"\n"),
            f"byte 0x{data[error.start]:02X} at column {column} is not UTF-8 (Latin-1 or "
            "Windows-1252?) - save the file as UTF-8",
        )
    if "\0" in text:
        before = data[: data.index(b"\0")]
        hint = " (UTF-16 without a byte order mark?)" if data.count(b"\0") > len(data) // 3 else ""
        _refuse(file, line + before.count(b"\n"), f"a NUL byte{hint} - not a UTF-8 text file")
    return text


def _refuse(file: str, line: int, message: str) -> NoReturn:
    is_table = file.lower().endswith((".csv", ".tsv"))
    how = " (in Excel: save as CSV UTF-8)" if is_table else ""
    raise InvalidInput([Problem(Place(file, line), f"{message}{how}")])
