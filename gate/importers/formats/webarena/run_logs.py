"""What the logs of WebArena's own runner say: which tasks passed, failed or crashed, and when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from gate.errors import Place
from gate.files.plain import MOST_LINE, plain
from gate.files.problems import Findings
from gate.files.timestamps import moment_of

_STAMP = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:[,.](\d{1,6}))? - ")
_TASK = re.compile(r"(\d{1,9})\.json\s*$")
_ROUNDED = 1e-9
_WORDS: dict[str, Literal["passed", "failed", "crashed"]] = {
    "[Result] (PASS)": "passed",
    "[Result] (FAIL)": "failed",
    "[Unhandled Error]": "crashed",
    "[OpenAI Error]": "crashed",
}
_MESSAGE = 500  # characters of an error


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedTask:
    """How one try of a task ended; None: the log breaks off."""

    task: str
    end: Literal["passed", "failed", "crashed"] | None
    place: Place
    error: str = ""
    started: datetime | None = None
    ended: datetime | None = None

    @property
    def latency_ms(self) -> float | None:
        if self.started is None or self.ended is None or self.ended < self.started:
            return None
        return (self.ended - self.started).total_seconds() * 1000.0


def log_files(names: tuple[Path, ...]) -> tuple[Path, ...]:
    """The files of a folder that are logs; a merged one only where there are no others."""
    own = tuple(path for path in names if path.suffix == ".log")
    merged = {path.name: path for path in names}
    for name in ("merged_log.txt", "tmp_merged_log.txt"):
        if not own and name in merged:
            own = (merged[name],)
    return own


def read_logs(files: tuple[Path, ...], found: Findings) -> dict[str, LoggedTask]:
    """By task, in the order of the logs: the last try of a task that says how it ended counts."""
    tries: dict[str, LoggedTask] = {}
    for path in files:
        for one in _read_file(path, found):
            if one.end is not None or one.task not in tries:
                tries.pop(one.task, None)
                tries[one.task] = one
    return tries


@dataclass(slots=True)
class _Reading:
    """One log, line by line."""

    path: Path
    task: str = ""
    started: datetime | None = None
    at: Place = field(default_factory=lambda: Place(""))
    scores: list[float] = field(default_factory=list)

    def open_try(self) -> Iterator[LoggedTask]:
        if self.task:
            yield LoggedTask(task=self.task, end=None, place=self.at, started=self.started)
        self.task = ""


def _read_file(path: Path, found: Findings) -> Iterator[LoggedTask]:
    reading = _Reading(path)
    for number, line in enumerate(_lines(path), 1):
        place = Place(path.as_posix(), number)
        if "[Config file]" in line:
            yield from reading.open_try()
            named = _TASK.search(line)
            reading.task = str(int(named[1])) if named else ""
            reading.started, reading.at = _moment(line), place
        elif word := next((word for word in _WORDS if word in line), None):
            yield from _end_task(reading, word, line, place, found)
        elif "Average score:" in line:
            _average(reading, line, place, found)
    yield from reading.open_try()


def _end_task(
    reading: _Reading, word: str, line: str, place: Place, found: Findings
) -> Iterator[LoggedTask]:
    end = _WORDS[word]
    named = _TASK.search(line) if end != "crashed" else None
    task = str(int(named[1])) if named else reading.task
    if not task:
        return
    if reading.task and task != reading.task:
        found.add(place, f"the result of task {task} within task {reading.task} - was it cut?")
    if end != "crashed":
        reading.scores.append(float(end == "passed"))
    yield LoggedTask(
        task=task,
        end=end,
        place=place,
        error=line[line.find(word) :].strip()[:_MESSAGE] if end == "crashed" else "",
        started=reading.started,
        ended=_moment(line),
    )
    reading.task = ""


def _average(reading: _Reading, line: str, place: Place, found: Findings) -> None:
    """What the runner says that its scores came to is what the log has."""
    try:
        stated = float(line.rpartition(":")[2])
    except ValueError:
        found.add(place, "an average score that is no number")
        return
    scores, reading.scores = reading.scores, []
    own = sum(scores) / len(scores) if scores else 0.0
    if not abs(stated - own) <= _ROUNDED:
        counts = f"{int(sum(scores))} of {len(scores)} results above it passed, {own:.4f}"
        found.add(place, f"says {stated:g}, but {counts} - the log was changed or cut off")


def _lines(path: Path) -> Iterator[str]:
    with plain(path).open("rb") as file:
        while line := file.readline(MOST_LINE):
            yield line.decode("utf-8", "replace")


def _moment(line: str) -> datetime | None:
    found = _STAMP.match(line)
    return moment_of(f"{found[1]}.{(found[2] or '').ljust(6, '0')}") if found else None
