"""Text files below one folder: the only place on disk that the sample agent may write to."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gate.errors import UsageError

_RELATIVE = "scratch"  # "./scratch/note.md" means the file note.md of the folder
_SUFFIXES = (".md", ".txt", ".json", ".csv")
_LONGEST = 64_000  # characters of a text


class Refused(Exception):
    """A path or text that must not be written; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    bytes: int
    overwrote: bool


class Scratch:
    """The folder `--scratch` names. `./scratch/...` and absolute paths inside it can be written;
    in a folder of another name, only files below a folder `scratch` of it: what else is in there
    is not the agent's.
    """

    def __init__(self, folder: Path) -> None:
        """Makes the folder. Raises UsageError when that cannot be done."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._root = folder.resolve(strict=True)
        except OSError as error:
            raise UsageError(f"--scratch {folder}: cannot be made ({error.strerror})") from error
        self._given = Path(os.path.abspath(folder))  # noqa: PTH100 - as callers write it, unresolved

    def write(self, path: str, text: str, *, overwrite: bool) -> Receipt:
        """Raises Refused, and OSError where the disk does not take it."""
        if len(text) > _LONGEST:
            raise Refused(f"the text is longer than {_LONGEST} characters")
        target = self._place(path)
        self._make_way(target.parent)
        there = _kind(target)
        if there not in (None, stat.S_IFREG):
            raise Refused(f"{path} is no plain file")
        if there and not overwrite:
            raise Refused(f"{path} is already there, and overwrite is not set")
        data = text.encode("utf-8", "replace")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(target, flags, 0o644), "wb") as file:
            file.write(data)
        return Receipt(bytes=len(data), overwrote=there is not None)

    def _place(self, path: str) -> Path:
        """The place on disk, below the folder. Raises Refused."""
        if not path.isprintable() or len(path) > 1000 or ".." in PurePosixPath(path).parts:
            raise Refused(f"{path!r} is no path that can be written")
        if PurePosixPath(path).suffix.lower() not in _SUFFIXES:
            raise Refused(f"{path!r} must end in {', '.join(_SUFFIXES)}")
        inner = self._inner(Path(path))
        if inner is None or ".." in inner.parts:
            raise Refused(f"{path!r} is outside the folder that may be written to")
        if self._root.name != _RELATIVE and _RELATIVE not in inner.parts[:-1]:
            raise Refused(f"{path!r} is not below a folder named {_RELATIVE!r}")
        return self._root / inner

    def _inner(self, path: Path) -> Path | None:
        if not path.is_absolute():
            if path.parts[:1] != (_RELATIVE,):
                return None
            return path.relative_to(_RELATIVE) if self._root.name == _RELATIVE else path
        for root in (self._given, self._root):
            if path.is_relative_to(root):
                return path.relative_to(root)
        return None

    def _make_way(self, folder: Path) -> None:
        """Makes the folders between the root and a file; none of them may be a link."""
        way = self._root
        for part in folder.relative_to(self._root).parts:
            way = way / part
            kind = _kind(way)
            if kind is None:
                way.mkdir()
            elif kind != stat.S_IFDIR:
                raise Refused(f"{way.relative_to(self._root)} is no folder")


def _kind(path: Path) -> int | None:
    """The type of what is there, a link not followed; None: nothing."""
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except FileNotFoundError:
        return None
