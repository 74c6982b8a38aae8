"""What is appended to the audit folder: sessions that grow, and new ones."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gate.agents.server_logs.cursor import APPEARED, GONE, LogCursor, ReadAllowance
from gate.agents.server_logs.open_file import kind_of, reason

MOST_FILES = 10_000  # that are looked at
MOST_GROWN = 64  # that are read for one request
MANY = f"it has more than {MOST_FILES} sessions, of which not all were looked at: clear it"
BUSY = f"more than {MOST_GROWN} sessions grew, of which not all were read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The sessions by name. `there`: the folder is. `problem`: why it cannot be read."""

    files: Mapping[str, os.stat_result] = field(default_factory=dict)
    there: bool = True
    whole: bool = True
    problem: str = ""


def sessions_in(folder: Path) -> Listing:
    """Regular files `*.jsonl`; links are neither followed nor told."""
    try:
        mode = folder.lstat().st_mode
        if not stat.S_ISDIR(mode):
            return Listing(problem=kind_of(mode))
        return _list_folder(folder)
    except (FileNotFoundError, NotADirectoryError):
        return Listing(there=False)
    except (OSError, ValueError) as error:
        return Listing(problem=reason(error))


class FolderCursor:
    """A LogCursor over all sessions of a folder. `cut`: not everything was read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._allowance = ReadAllowance()
        self._grown: dict[str, LogCursor] = {}
        self._busy = False
        self._first = self._last = sessions_in(path)

    @property
    def there(self) -> bool:
        """Whether there is or was such a folder, readable or not."""
        return self._first.there or self._last.there

    @property
    def problem(self) -> str:
        return self._first.problem or self._last.problem

    @property
    def cut(self) -> bool:
        is_whole = self._first.whole and self._last.whole and not self._busy
        return not is_whole or any(one.cut or one.problem for one in self._grown.values())

    @property
    def pending(self) -> bool:
        """Whether the last line of a session has no end yet."""
        return any(cursor.pending for cursor in self._grown.values())

    @property
    def notes(self) -> tuple[str, ...]:
        gone = self._first.there and not self._last.there
        holds_by_note = {GONE: gone, MANY: not self._last.whole, BUSY: self._busy}
        notes = [note for note, holds in holds_by_note.items() if holds]
        # A session that appears is nothing to tell.
        return tuple(dict.fromkeys((*notes, *(n for n in self._sessions_say() if n != APPEARED))))

    def lines(self) -> list[str]:
        """Whole lines that were appended since the last time, session by session."""
        if self.problem:
            return []
        self._last = sessions_in(self.path)
        for name, now in self._last.files.items():
            if name not in self._grown:
                self._follow(name, self._first.files.get(name), now)
        return [line for cursor in self._grown.values() for line in cursor.lines()]

    def rest(self) -> list[str]:
        """The lines that never ended."""
        return [line for cursor in self._grown.values() for line in cursor.rest()]

    def close(self) -> None:
        """A second time does nothing."""
        for cursor in self._grown.values():
            cursor.close()

    def _follow(self, name: str, before: os.stat_result | None, now: os.stat_result) -> None:
        """From where it ended before; a file of the same name that is another one is new."""
        same = before is not None and os.path.samestat(before, now)
        since = before.st_size if before is not None and same else 0
        if same and now.st_size == since:
            return
        if len(self._grown) >= MOST_GROWN:
            self._busy = True
        else:
            file = self.path / name
            self._grown[name] = LogCursor(file, since=since, allowance=self._allowance)

    def _sessions_say(self) -> Iterator[str]:
        for cursor in self._grown.values():
            yield from cursor.notes
            if cursor.problem:
                yield f"a session cannot be read: {cursor.problem}"


def _list_folder(folder: Path) -> Listing:
    stats: dict[str, os.stat_result] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.endswith(".jsonl"):
                continue
            if len(stats) >= MOST_FILES:
                return Listing(files=stats, whole=False)
            try:
                at = entry.stat(follow_symlinks=False)
            except OSError:  # it went away meanwhile
                continue
            if stat.S_ISREG(at.st_mode):
                stats[entry.name] = at
    return Listing(files=stats)
