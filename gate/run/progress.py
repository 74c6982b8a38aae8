"""What a run prints while it runs: plain lines here, a bar on a terminal (progress_bar.py)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from gate.records import TrialRow
from gate.text import figures
from gate.text.escaping import plain
from gate.verdict.course import Course

EVERY_S = 10.0  # seconds between two plain lines


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressListener:
    """Is called with each finished row, and with the course after each look."""

    row: Callable[[TrialRow], None] = lambda row: None
    beside: Callable[[TrialRow], None] = lambda row: None  # of the control agent
    look: Callable[[Course], None] = lambda course: None


@contextmanager
def progress(
    stream: TextIO,
    *,
    planned: int,
    quiet: bool,
    verbose: bool,
    color: bool,
    redact: Callable[[str], str] = str,
    warnings: Iterable[str] = (),
    describe_pace: Callable[[], str] = str,
) -> Iterator[ProgressListener]:
    """The listener for this output. rich is imported only for a terminal. `warnings` are printed
    before the first row. `describe_pace` says what a provider's limits do to the run.
    """
    if quiet or planned == 0:
        yield ProgressListener()
        return
    for warning in warnings:
        stream.write(f"warning: {plain(redact(warning))}\n")
    if stream.isatty() and color and not verbose:
        from gate.run.progress_bar import bar

        with bar(stream, planned, describe_pace) as advance:
            yield ProgressListener(row=advance, beside=lambda row: advance({**row, "passed": None}))
    else:
        lines = Lines(stream, planned, verbose=verbose, redact=redact, describe_pace=describe_pace)
        yield ProgressListener(row=lines.row, beside=lines.beside, look=lines.look)
        lines.end()


class Lines:
    """Prints a line every ten seconds and at the end; with `verbose` one for each trial and
    look.
    """

    def __init__(
        self,
        stream: TextIO,
        planned: int,
        *,
        verbose: bool,
        redact: Callable[[str], str] = str,
        seconds: Callable[[], float] = time.monotonic,
        describe_pace: Callable[[], str] = str,
    ) -> None:
        self._stream, self._planned, self._verbose = stream, planned, verbose
        self._redact, self._seconds, self._describe_pace = redact, seconds, describe_pace
        self._said_at = seconds()
        self._done = self._failed = self._errors = self._said = 0

    def row(self, row: TrialRow) -> None:
        self._failed += row["passed"] is False
        self._take(row, trial_line(row))

    def beside(self, row: TrialRow) -> None:
        """Ignores a row of the control: its failure says nothing about the change."""
        self._take(row, trial_line(row, who=" of the control"))

    def _take(self, row: TrialRow, line: str) -> None:
        self._done += 1
        self._errors += row["status"] == "infra_error"
        if self._verbose:
            self._say(self._redact(line))
        if self._seconds() - self._said_at >= EVERY_S:
            self._count()

    def look(self, course: Course) -> None:
        for line in look_lines(course) if self._verbose else ():
            self._say(line)

    def end(self) -> None:
        """Prints the last count, unless it was printed already."""
        if self._said < self._done:
            self._count()

    def _count(self) -> None:
        self._said, self._said_at = self._done, self._seconds()
        counts = (
            f"{self._done}/{max(self._planned, self._done)} trials, {self._failed} failed, "
            f"{self._errors} not answered"
        )
        self._say("; ".join(filter(None, [counts, self._describe_pace()])))

    def _say(self, text: str) -> None:
        self._stream.write(text + "\n")
        self._stream.flush()


def look_lines(course: Course) -> Iterator[str]:
    """A line for each suite that continues or has ended."""
    for name, looks in course.plans.items():
        word = "goes on" if name in course.going else course.ended.get(name, "")
        yield plain(f"[{name}] look {course.made[name]} of {len(looks.calls)}: {word}")


def trial_line(row: TrialRow, *, who: str = "") -> str:
    """One trial in one line; texts of agents and datasets are made harmless."""
    word = {"infra_error": "not answered", "agent_error": "agent error"}.get(row["status"])
    word = word or {True: "passed", False: "failed", None: "unscored"}[row["passed"]]
    unanswered = row["status"] == "infra_error"  # a code says less than the error
    codes = ("" if unanswered else ", ".join(row["failures"])) or row["error"] or ""
    latency = "" if row["latency_ms"] is None else f" {figures.value(row['latency_ms'], 'ms')}"
    name = f"[{row['suite']}] {row['case_id']} round {row['round']}{who}"
    return plain(f"{name}: {word}{latency}{' - ' + codes if codes else ''}")
