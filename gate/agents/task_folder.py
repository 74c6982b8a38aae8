"""The folder that a task's relative paths lead to: made for one request, below the session."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import Path

from gate.records import Json
from gate.text.shortening import tidy

# In the session; no suite has a name like it. Hidden, so that it stays out of artifacts: what the
# server writes may have any name, any size and any secret in it.
FOLDER = ".tasks"
SCRATCH, LOGS = "scratch", "openagent/logs"

MOST_FILES = 200  # that are told of
_MOST_SEEN = 5_000  # entries of folders that are looked at
_NAME = 200  # characters of a file's path
_ID = 60  # characters of a case id

_PATH = re.compile(  # not where it is the end of a longer path
    r"(?<![\w./\\~-])\./"
    rf"(?:(?P<log>{LOGS}/openagent\.log(?![\w-]|\.\w))|(?P<folder>{SCRATCH}|{LOGS})/)"
)


def has_paths(messages: Sequence[Json]) -> bool:
    """Whether messages hold paths that `rewritten` would change."""
    return any(_PATH.search(text) for message in messages for text in _texts(message))


def make_folder(session: Path, case_id: str) -> Path:
    """A new folder for one request, absolute. Raises OSError."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", case_id[: 4 * _ID])[:_ID].strip("-") or "task"
    parent = session.resolve() / FOLDER
    folder = next(path for n in count(1) if _make_folder(path := parent / f"{name}-{n}"))
    (folder / SCRATCH).mkdir()
    (folder / LOGS).mkdir(parents=True)
    return folder


def rewritten(messages: Sequence[Json], folder: Path, access_log: Path | None) -> list[Json]:
    """The messages with their relative paths led into `folder`; `./openagent/logs/openagent.log` is
    the server's own log where that is known.
    """

    def absolute(match: re.Match[str]) -> str:
        if match["log"]:
            return (access_log or folder / match["log"]).as_posix()
        return f"{(folder / match['folder']).as_posix()}/"

    return [
        _map_message_texts(message, lambda text: _PATH.sub(absolute, text)) for message in messages
    ]


def files_in(folder: Path) -> tuple[str, ...]:
    """Names of the files below the task's `./scratch/`, sorted; links are neither followed nor
    told, and what cannot be read is left out.
    """
    top = folder / SCRATCH
    files = islice(_files(top), MOST_FILES)
    names = (file.relative_to(top).as_posix() for file in files)
    return tuple(sorted(tidy(name, _NAME) for name in names))


def _make_folder(path: Path) -> bool:
    try:
        path.mkdir(parents=True)
    except FileExistsError:
        return False
    return True


def _files(top: Path) -> Iterator[Path]:
    left = _MOST_SEEN
    folders = [] if top.is_symlink() else [top]
    while folders and left:
        try:
            with os.scandir(folders.pop()) as entries:
                some = list(islice(entries, left))
        except OSError:
            continue
        left -= len(some)
        for entry in sorted(some, key=lambda one: one.name):
            if entry.is_dir(follow_symlinks=False):
                folders.append(Path(entry.path))
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def _texts(message: Json) -> Iterator[str]:
    content = message.get("content") if isinstance(message, Mapping) else None
    for part in content if isinstance(content, list) else [{"text": content}]:
        text = part.get("text") if isinstance(part, Mapping) else None
        if isinstance(text, str):
            yield text


def _map_message_texts(message: Json, change: Callable[[str], str]) -> Json:
    """A message with the texts of its content changed: itself, or those of its parts."""
    if not isinstance(message, Mapping):
        return message
    content = message.get("content")
    if isinstance(content, list):
        parts = [
            {**part, "text": change(part["text"])}
            if isinstance(part, Mapping) and isinstance(part.get("text"), str)
            else part
            for part in content
        ]
        return {**message, "content": parts}
    return {**message, "content": change(content)} if isinstance(content, str) else message
