"""What is appended to a log from now on, whatever its owner does with the file meanwhile.

A log that is renamed is read to its end and then its successor from the beginning; one that is
emptied (copytruncate) is read from the beginning; one that appears, too.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from gate.agents.server_logs.open_file import Unreadable, open_log, reason
from gate.agents.traces.openagent_lines import strip_colours

MOST_BYTES = 12 * 1024 * 1024  # that are read of one log for one request
LONGEST_LINE = 1_000_000  # characters; the rest of a longer one is dropped
_KNOWN = 64  # bytes before the offset, by which a file is known again

APPEARED = "it appeared while the request ran"
ROTATED = "it was rotated while the request ran"
TRUNCATED = "it was truncated while the request ran, and read from its beginning"
GONE = "it was removed while the request ran"
CUT = f"more than {MOST_BYTES // 1024 // 1024} MB were appended: only the last of it was read"


@dataclass(slots=True)
class ReadAllowance:
    """Bytes that may still be read; files that count as one log share it."""

    left: int = MOST_BYTES


class LogCursor:
    """Opened at the end of the file, at `since`, or `back` bytes before its end.

    `problem`: why it cannot be read. `cut`: not everything was read. `whole`: from the first byte.
    No method raises or blocks. The handle stays open until `close`: a renamed file is still read.
    """

    def __init__(
        self,
        path: Path,
        *,
        since: int | None = None,
        back: int = 0,
        allowance: ReadAllowance | None = None,
    ) -> None:
        self.path = path
        self.problem = ""
        self.cut = False
        self.whole = False
        self._notes: dict[str, None] = {}
        self._gone = False
        self._allowance = allowance or ReadAllowance()
        self._rest = b""
        self._file: FileIO | None = None
        self._at = 0
        self._known = b""
        try:
            file = self._open_file()
            if file is not None:
                size = os.fstat(file.fileno()).st_size
                self._at = max(0, size - back) if since is None else since
                self.whole = self._at == 0
                self._known = self._before(file)
        except OSError as error:
            self._fail(reason(error))

    @property
    def there(self) -> bool:
        """Whether there is or was such a file, readable or not."""
        return self._file is not None or bool(self.problem)

    @property
    def pending(self) -> bool:
        """Whether the last line has no end yet."""
        return bool(self._rest)

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self._notes, *((GONE,) if self._gone else ()), *((CUT,) if self.cut else ()))

    def lines(self) -> list[str]:
        """Whole lines since the last time, without colours; empty ones are left out."""
        try:
            appended = self._read_appended()  # it can end, or drop, the rest
        except OSError as error:
            self._fail(reason(error))
            return []
        data = self._rest + appended
        complete, newline, self._rest = data.rpartition(b"\n")
        return _texts(complete) if newline else []

    def rest(self) -> list[str]:
        """The line that never ended, if there is one."""
        data, self._rest = self._rest, b""
        return _texts(data)

    def close(self) -> None:
        """A second time does nothing."""
        if self._file is not None:
            self._file.close()

    def _open_file(self) -> FileIO | None:
        """The file that has the name now, to be read from its beginning."""
        try:
            file = open_log(self.path)
        except Unreadable as why:
            self._fail(str(why))
            return None
        if file is not None:
            self.close()
            self._file, self._at, self._known = file, 0, b""
        return file

    def _fail(self, why: str) -> None:
        self.problem = self.problem or why

    def _read_appended(self) -> bytes:
        if self.problem:
            return b""
        file = self._file
        if file is None:
            file = self._open_file()
            if file is None:
                return b""
            self._notes[APPEARED] = None
        # First whether it was replaced, then what it holds: after that nothing is added to it.
        replaced = self._is_replaced(file)
        data = self._read_file(file)
        if replaced and (successor := self._open_file()):
            self._notes[ROTATED] = None
            data = (data if data.endswith(b"\n") else data + b"\n") + self._read_file(successor)
        return data

    def _is_replaced(self, file: FileIO) -> bool:
        try:
            named = self.path.lstat()
        except OSError:
            self._gone = True
            return False
        self._gone = False
        return not os.path.samestat(named, os.fstat(file.fileno()))

    def _read_file(self, file: FileIO) -> bytes:
        size = os.fstat(file.fileno()).st_size
        begun = b""
        if size < self._at or self._before(file) != self._known:
            self._notes[TRUNCATED] = None
            begun, self._at = (b"\n" if self._rest else b""), 0
        skipped = max(0, size - self._at - self._allowance.left)
        self._at += skipped
        data = _exactly(file, self._at, size - self._at)
        self._at += len(data)
        self._allowance.left -= len(data)
        self._known = self._before(file)
        if skipped:
            self.cut = True
            self._rest = b""
            data = data.partition(b"\n")[2]  # it begins in the middle of a line
        return begun + data

    def _before(self, file: FileIO) -> bytes:
        start = max(0, self._at - _KNOWN)
        return _exactly(file, start, self._at - start)


def _exactly(file: FileIO, start: int, size: int) -> bytes:
    """Fewer only where the file ends before."""
    file.seek(start)
    parts = []
    while size > 0 and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _texts(data: bytes) -> list[str]:
    # A log that is truncated under a writer that does not append has a hole of NULs.
    text = strip_colours(data.replace(b"\0", b"").decode("utf-8", "replace"))
    return [line[:LONGEST_LINE].rstrip("\r") for line in text.split("\n") if line]
