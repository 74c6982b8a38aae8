"""`--record FILE`: every answer of the agent, so that a later run can replay it without the agent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from gate.errors import UsageError
from gate.recording import recording_line
from gate.records import Case, Response

Recorder = Callable[[Case, int, Response | Exception, float], None]


@contextmanager
def recorder(file: str | None, redact: Callable[[str], str]) -> Iterator[Recorder | None]:
    """Appends a line an answer, from any thread; None when nothing is to be recorded.

    Raises UsageError when the file cannot be opened.
    """
    if file is None:
        yield None
        return
    try:
        out = Path(file).open("ab", buffering=0)
    except OSError as error:
        raise UsageError(f"--record {file}: {error.strerror}") from error
    lock = Lock()

    def keep(case: Case, number: int, answer: Response | Exception, latency_ms: float) -> None:
        line = redact(recording_line(case, number, answer, latency_ms)) + "\n"
        with lock:
            out.write(line.encode())

    with out:
        yield keep
