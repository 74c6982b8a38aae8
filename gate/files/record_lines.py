"""Files with a JSON object a line, read line by line: plain, packed with gzip or zstd, or Parquet,
whose rows become such lines. What a file is says its beginning, not its name.
"""

from __future__ import annotations

import gzip
import importlib
import io
import json
import zlib
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, cast

from gate.errors import UsageError
from gate.files.plain_file import open_plain
from gate.files.zstd import find_zstd, tell_no_zstd, zstd_errors

MOST_BYTES = 20_000_000  # of a line
_GZIP, _ZSTD, _PARQUET = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1"
_ROWS = 512  # of a Parquet file that are made Python values at once
_BUFFER = 1 << 20  # bytes of a column; without it, a whole row group is in memory

Line = tuple[int, bytes]  # its number from 1; an empty line has none


def check_records(path: Path, name: str) -> None:
    """Raises UsageError for a file that cannot be read here; `name` is what messages call it."""
    begin = read_begin(path, name, len(_ZSTD))
    if begin == _ZSTD and find_zstd() is None:
        raise UsageError(
            tell_no_zstd(name, f"Agent Gate with the extra zst, or unpack it: zstd -d {name}")
        )
    if begin == _PARQUET:
        _parquet(name)


def read_begin(path: Path, name: str, size: int) -> bytes:
    """The first bytes of the file. Raises UsageError where there is no such file."""
    try:
        with open_plain(path) as file:
            return file.read(size)
    except OSError as error:
        raise UsageError(
            f"{name}: {error.strerror or error}; give files of recorded answers"
        ) from error


def read_lines(path: Path, name: str, texts: Container[str] = ()) -> Iterator[Line]:
    """Every line that is not empty, with its number; a line of more than MOST_BYTES is cut off.
    `texts`: columns of Parquet that are no JSON, however they begin. Raises UsageError where the
    file cannot be read to its end.
    """
    number = 0
    try:
        with open_plain(path) as file:
            begin = file.read(len(_ZSTD))
            file.seek(0)
            if begin == _PARQUET:
                lines = _rows(file, name, texts)
            else:
                lines = _lines(_unpacked(file, begin, name))
            for number, line in lines:
                if line.strip():
                    yield number, line
    except (OSError, EOFError, zlib.error, *zstd_errors()) as error:  # type: ignore[misc]
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"{name}: cannot be read after line {number:,} ({why}); get the whole file"
        ) from error


def _unpacked(file: BinaryIO, begin: bytes, name: str) -> BinaryIO:
    if begin.startswith(_GZIP):
        return cast("BinaryIO", gzip.GzipFile(fileobj=file))
    if begin == _ZSTD:
        reader = find_zstd()
        if reader is None:
            raise UsageError(tell_no_zstd(name, "unpack it"))
        return io.BufferedReader(cast("io.RawIOBase", reader(file)))
    return file


def _lines(stream: BinaryIO) -> Iterator[Line]:
    number, rest = 0, False  # of a line that was too long
    while line := stream.readline(MOST_BYTES):
        if not rest:
            number += 1
            yield number, line
        rest = not line.endswith(b"\n")


def _rows(file: BinaryIO, name: str, texts: Container[str]) -> Iterator[Line]:
    parquet = _parquet(name)
    try:
        whole = parquet.ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False)
        batches = whole.iter_batches(batch_size=_ROWS)
        number = 0
        for batch in batches:
            for row in batch.to_pylist():
                number += 1
                yield number, _json(row, texts)
    except (ValueError, TypeError, NotImplementedError) as error:  # those of pyarrow are such
        raise UsageError(f"{name}: not readable as Parquet ({error}); write it again") from error


def _json(row: Mapping[str, object], texts: Container[str]) -> bytes:
    """A column that is null is not there. A text that is a list or an object in JSON is that: a
    column has one type, and arguments of tools have many.
    """
    there = {
        key: value if key in texts else _unwrapped(value)
        for key, value in row.items()
        if value is not None
    }
    return json.dumps(there, default=str).encode()


def _unwrapped(value: object) -> object:
    if not isinstance(value, str) or value[:1] not in ("[", "{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _parquet(name: str) -> ModuleType:
    try:
        return importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError(
            f"{name}: a Parquet file, which needs the package pyarrow; install Agent Gate with "
            "the extra parquet, or convert the file to JSON Lines"
        ) from error
