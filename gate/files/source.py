"""Where a dataset is read from: a file, or a folder with one of the known names, here or at a
commit; and its rows as they are written.
"""

from __future__ import annotations

import io
import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from gate.errors import InvalidInput, Place, Problem
from gate.files.plain_file import open_plain
from gate.records import Json
from gate.records.forge import Forge

INDEX = "tasks_index.json"  # of a folder `tasks` with a file a case
NAMES = ("dataset.jsonl", "tasks.jsonl", "tasks.yaml", "tasks.yml", INDEX)  # the first one counts
ROOTS = ("", "benchmark-tool", "openagenttool")  # of a folder: itself, then these inside it
_FILES = (".jsonl", ".json", ".yaml", ".yml", ".csv")  # no folder is called like that


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSource:
    """A dataset: `name` is what messages call it; `open` reads it from the start, as often as
    wanted.

    `file`: its own name where `name` says more; the suffix tells the format. `beside` opens a file
    by its path from the folder of this one; None: there is nothing beside it. Both raise OSError.
    `any_keys`: somebody reads those that no grader knows. `named_at`: file and line, or the
    option, that name it.
    """

    name: str
    open: Callable[[], BinaryIO]
    file: str = ""
    beside: Callable[[str], BinaryIO] | None = None
    any_keys: bool = False
    named_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRow:
    """One case as it is written. `texts`: it comes from CSV, where every plain cell is a text.
    `file`: where it stands, if that is not the source itself. `mark`: equal lines of JSON have the
    same, in one process; 0: it does not stand on a line of its own.
    """

    line: int
    data: Json
    texts: bool = False
    file: str = ""
    mark: int = 0


Rows = Iterator[DatasetRow | Problem]


def locate_dataset(path: Path) -> Path | None:
    """The file itself, or the one that is read of a folder; None: the folder has none."""
    if not path.is_dir():
        return path
    inside = (path / root / name for root in ROOTS for name in NAMES)
    return next((file for file in inside if file.is_file()), None)


def on_disk(path: Path, name: str) -> DatasetSource:
    """The dataset at `path`, a file or a folder, which messages call `name`."""
    file = locate_dataset(path)
    if file is None:
        return DatasetSource(name=name, open=lambda: _nothing_in(name))
    if file != path:
        name = posixpath.join(name, file.relative_to(path).as_posix())
    return DatasetSource(
        name=name,
        file=file.name,
        open=lambda: open_plain(file),
        beside=lambda part: open_plain(file.parent / part),
    )


def at_commit(path: str, sha: str, forge: Forge) -> DatasetSource | None:
    """The same as a commit has it; None where it has none, or the path leads elsewhere."""
    if Path(path).is_absolute():
        return None
    file, data = path, forge.read(path, sha)
    if data is None:
        file = _find_listed(path, sha, forge)
        data = forge.read(file, sha) if file else None
    if data is None:
        return None
    linked, folder = data, posixpath.dirname(file.replace("\\", "/"))

    @cache
    def part(name: str) -> bytes:
        content = forge.read(posixpath.join(folder, name), sha)
        if content is None:
            raise FileNotFoundError(name)
        return content

    return DatasetSource(
        name=f"{file}@{sha[:7]}",
        file=PurePosixPath(file).name,
        open=lambda: io.BytesIO(linked),
        beside=lambda name: io.BytesIO(part(name)),
    )


def _find_listed(path: str, sha: str, forge: Forge) -> str:
    if PurePosixPath(path).suffix.lower() in _FILES:
        return ""
    for root in ROOTS:
        folder = posixpath.join(path.replace("\\", "/"), root) if root else path
        there = frozenset(forge.listing(folder, sha))
        for name in NAMES:
            if name in there:
                return posixpath.join(folder, name)
    return ""


def _nothing_in(folder: str) -> BinaryIO:
    message = f"the folder has none of {', '.join(NAMES)} - name the file itself"
    raise InvalidInput([Problem(Place(folder), message)])
