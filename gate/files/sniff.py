"""A first look at what is to be imported, so that a format can be recognised without reading it."""

from __future__ import annotations

import json
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from gate.records import Json

_HEAD = 256 << 10  # bytes
_NAMES = 2_000  # of a folder
_JSON = (".json", ".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLook:
    """`names`: what lies in a folder, two levels deep, as posix paths below it. `head`: the
    beginning of a file, empty of a folder; `first`: the JSON value that the file is or, of JSON
    Lines, begins with; None where it is none or longer than the head. `keys`: of an object at the
    top, those that the head shows, even where it is cut off. `inside`: of a folder, its first file
    of JSON by name.
    """

    path: Path
    is_folder: bool = False
    names: frozenset[str] = frozenset()
    head: bytes = field(default=b"", repr=False)
    first: Json = None
    keys: frozenset[str] = frozenset()
    inside: FirstLook | None = field(default=None, repr=False)

    @property
    def item(self) -> Json:
        """`first`, or of a list its first item."""
        return self.first[0] if isinstance(self.first, list) and self.first else self.first

    def has(self, *keys: str) -> bool:
        """Whether the file begins with an object, or a list of such, that has all these keys."""
        item = self.item
        return {*keys} <= ({*item} if isinstance(item, dict) else self.keys)

    def ends(self, *suffixes: str) -> bool:
        return self.path.name.lower().endswith(suffixes)


def look(path: Path) -> FirstLook:
    """Never raises: what cannot be looked at has no signs."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            names = _names(path)
            return FirstLook(path=path, is_folder=True, names=names, inside=_inside(path, names))
        if not stat.S_ISREG(mode):
            return FirstLook(path=path)
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except (OSError, ValueError):
        return FirstLook(path=path)
    text = head.decode("utf-8-sig", "replace").lstrip()
    first = _first(text)
    keys = frozenset(first) if isinstance(first, dict) else _keys(text)
    return FirstLook(path=path, head=head, first=first, keys=keys)


def _names(folder: Path) -> frozenset[str]:
    members: list[str] = []
    for entry in sorted(islice(folder.iterdir(), _NAMES)):
        members.append(entry.name)
        if entry.is_dir() and not entry.is_symlink() and len(members) < _NAMES:
            inner = islice(entry.iterdir(), _NAMES - len(members))
            members += [f"{entry.name}/{one.name}" for one in inner]
    return frozenset(members)


def _inside(folder: Path, names: frozenset[str]) -> FirstLook | None:
    own = sorted(name for name in names if "/" not in name and name.endswith(_JSON))
    file = folder / own[0] if own else None
    return look(file) if file and file.is_file() and not file.is_symlink() else None


def _first(text: str) -> Json:
    """The first value; of a list that is longer than the head its first item."""
    decoder = json.JSONDecoder()
    with suppress(ValueError, RecursionError):
        whole: Json = decoder.raw_decode(text)[0]
        return whole
    with suppress(ValueError, RecursionError):
        return [decoder.raw_decode(text[1:].lstrip())[0]] if text.startswith("[") else None
    return None


def _keys(text: str) -> frozenset[str]:
    """The keys of an object that is cut off, as far as their values are whole, and the next one."""
    decoder, at, keys = json.JSONDecoder(), 1, set()
    try:
        while text.startswith("{"):
            at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n,"))
            key, at = decoder.raw_decode(text, at)
            if not isinstance(key, str):
                break
            keys.add(key)
            at = text.index(":", at) + 1
            at += len(text[at:]) - len(text[at:].lstrip())
            at = decoder.raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        pass
    return frozenset(keys)
