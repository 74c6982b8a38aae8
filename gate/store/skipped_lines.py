"""not_graded.jsonl: the lines of recorded answers that no trial was made of, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from gate.records.codec import json_line
from gate.store.event_log import SURROGATES, disk

NAME = "not_graded.jsonl"


class SkippedLines:
    """The file while it is written, anew each time: it is not there where every line was graded.
    `counts`: of each kind; `first`: the first line of each kind and why.
    """

    def __init__(self, session: Path, redact: Callable[[str], str]) -> None:
        self._path, self._redact = session / NAME, redact
        self._file: BinaryIO | None = None
        self.counts: Counter[str] = Counter()
        self.first: dict[str, str] = {}

    def add(self, file: str, line: int, kind: str, why: str) -> None:
        """Writes one line of the file `file`."""
        text = self._redact(json_line({"file": file, "line": line, "kind": kind, "why": why}))
        with disk(self._path):
            if self._file is None:
                self._file = self._path.open("xb")
            self._file.write(text.encode("utf-8", SURROGATES) + b"\n")
        self.counts[kind] += 1
        self.first.setdefault(kind, self._redact(f"{file}:{line}: {why}"))

    def __enter__(self) -> SkippedLines:
        with disk(self._path):
            self._path.unlink(missing_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            with disk(self._path):
                self._file.close()
