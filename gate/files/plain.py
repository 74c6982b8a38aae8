"""Files and folders of other tools: plain ones only, in a fixed order, of bounded size."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from itertools import count
from pathlib import Path
from typing import BinaryIO

from gate.errors import InvalidInput, Place, Problem, UsageError
from gate.files.encoding import decode
from gate.files.json_stream import decode_json, explain_error, parse_json
from gate.files.plain_file import kind_of
from gate.files.timestamps import after
from gate.records import Json

MOST_JSON = 512 << 20  # bytes of a file that is one JSON value
MOST_LINE = 64 << 20  # bytes of a line
MOST_FILES = 200_000  # of a folder
PICKLES = (".pkl", ".pickle", ".pkl.gz", ".pt", ".pth", ".joblib")


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One JSON value of a JSON Lines file."""

    place: Place
    data: Json


def plain(path: Path) -> Path:
    """The same path. Raises UsageError for what is not there, no plain file, or a pickle, which
    would run code of its own.
    """
    try:
        mode = path.lstat().st_mode
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{path}: {why}; give an existing file") from error
    if stat.S_ISLNK(mode):
        raise UsageError(f"{path}: a symbolic link, which is not followed; give the file itself")
    if kind := kind_of(mode):
        raise UsageError(f"{path}: {kind}; give a file")
    if path.name.lower().endswith(PICKLES):
        raise UsageError(
            f"{path}: pickle files are not read because loading one runs code; export JSON"
        )
    return path


def files_below(folder: Path, pattern: str = "*", *, deep: bool = True) -> tuple[Path, ...]:
    """The plain files whose name fits, sorted by path; links are not followed. Raises UsageError
    for a folder that is none or has more than 200,000 files.
    """
    if not folder.is_dir() or folder.is_symlink():
        kind = "a link" if folder.is_symlink() else "no folder"
        raise UsageError(f"{folder}: {kind}; give an existing folder")
    files: list[Path] = []
    seen = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(folders) if deep else []
        seen += len(names)
        if seen > MOST_FILES:
            raise UsageError(f"{folder}: more than {MOST_FILES} files; give the folder of one run")
        here = Path(parent)
        fitting = (here / name for name in names if fnmatchcase(name, pattern))
        files += [path for path in fitting if stat.S_ISREG(path.lstat().st_mode)]
    return tuple(sorted(files))


def source_files(path: Path, endings: tuple[str, ...]) -> tuple[Path, ...]:
    """The file itself, or those of a folder with one of these endings. Raises UsageError."""
    if path.is_symlink() or not path.is_dir():
        return (plain(path),)
    files = tuple(file for file in files_below(path) if file.name.lower().endswith(endings))
    if not files:
        raise UsageError(f"{path}: has no file that ends in {', '.join(endings)}")
    return files


def json_of(path: Path, most: int = MOST_JSON, decoder: json.JSONDecoder | None = None) -> Json:
    """The one JSON value of a file; without a `decoder` STRICT reads it. Raises UsageError (no
    plain file), InvalidInput (file:line).
    """
    if plain(path).stat().st_size > most:
        message = f"larger than {most >> 20} MB - split it"
        raise InvalidInput([Problem(Place(path.as_posix()), message)])
    return parse_json(path.read_bytes(), path.as_posix(), decoder)


def json_lines(path: Path) -> Iterator[JsonLine | Problem]:
    """Every value of a JSON Lines file with its place; a line that is none as a problem. Raises
    UsageError for what is no plain file.
    """
    with plain(path).open("rb") as stream:
        yield from lines_in(stream, path.as_posix())


def lines_in(stream: BinaryIO, name: str) -> Iterator[JsonLine | Problem]:
    """The same of an open file."""
    for number in count(1):
        line = stream.readline(MOST_LINE + 1)
        if not line:
            return
        place = Place(name, number)
        if len(line) > MOST_LINE:
            yield Problem(place, f"longer than {MOST_LINE >> 20} MB - not a line of this format")
            return
        if line.strip():
            yield _line(line, place)


def _line(line: bytes, place: Place) -> JsonLine | Problem:
    try:
        return JsonLine(place, decode_json(decode(line, place.file, line=place.line or 1).strip()))
    except InvalidInput as error:
        return error.problems[0]
    except (ValueError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError) and not line.endswith(b"\n"):
            return Problem(place, "cut off in the middle - the file is incomplete; copy it again")
        return Problem(place, explain_error(error))


def digest_of(files: Iterable[Path]) -> str:
    """sha256, hex, of what the files hold, in this order; their names and places do not count."""
    whole = hashlib.sha256()
    for path in files:
        with plain(path).open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def newest(files: Iterable[Path]) -> datetime | None:
    """When the last of the files was written, to the second, UTC; None for a time that no clock
    shows.
    """
    return after(max((int(path.stat().st_mtime) for path in files), default=0))
