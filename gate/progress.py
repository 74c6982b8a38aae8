"""What a run says while it goes on: plain lines here, a bar on a terminal (progress_bar.py)."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

from gate.records import Json
from gate.text import plain

Row = Mapping[str, Json]
EVERY_S = 10.0  # seconds between two plain lines


@contextmanager
def progress(
    stream: TextIO,
    *,
    planned: int,
    quiet: bool,
    verbose: bool,
    color: bool,
    redact: Callable[[str], str] = str,
) -> Iterator[Callable[[Row], None]]:
    """Takes each row as it is finished. rich is imported only for a terminal to draw on."""
    if quiet or planned == 0:
        yield lambda row: None
    elif stream.isatty() and color and not verbose:
        module = importlib.import_module("gate.progress_bar")
        with module.bar(stream, planned) as advance:
            yield advance
    else:
        yield Lines(stream, planned, verbose=verbose, redact=redact).take


class Lines:
    """One line every ten seconds and at the end; with `verbose` one a trial."""

    def __init__(
        self,
        stream: TextIO,
        planned: int,
        *,
        verbose: bool,
        redact: Callable[[str], str] = str,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream, self._planned, self._verbose = stream, planned, verbose
        self._redact, self._seconds = redact, seconds
        self._said = seconds()
        self._done = self._failed = self._errors = 0

    def take(self, row: Row) -> None:
        self._done += 1
        self._failed += row["passed"] is False
        self._errors += row["status"] == "infra_error"
        if self._verbose:
            self._say(self._redact(trial_line(row)))
        now = self._seconds()
        if self._done == self._planned or now - self._said >= EVERY_S:
            self._said = now
            self._say(
                f"{self._done}/{self._planned} trials, {self._failed} failed, "
                f"{self._errors} not answered"
            )

    def _say(self, text: str) -> None:
        self._stream.write(text + "\n")
        self._stream.flush()


def trial_line(row: Row) -> str:
    """One trial in one line; texts of agents and datasets are made harmless."""
    word = {"infra_error": "not answered", "agent_error": "agent error"}.get(row["status"])
    word = word or {True: "passed", False: "failed", None: "unscored"}[row["passed"]]
    codes = ", ".join(row["failures"]) or row["error"] or ""
    latency = "" if row["latency_ms"] is None else f" {row['latency_ms']:.0f} ms"
    name = f"[{row['suite']}] {row['case_id']} round {row['round']}"
    return plain(f"{name}: {word}{latency}{' - ' + codes if codes else ''}")


def wants_color(stream: TextIO, env: Mapping[str, str], *, no_color: bool) -> bool:
    """NO_COLOR and --no-color win; otherwise colour is for terminals."""
    return not no_color and not env.get("NO_COLOR") and stream.isatty()
