"""`--record FILE`: every answer of the agent, for a later run that replays it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from gate.errors import UsageError
from gate.files.plain_file import check_target
from gate.records import Case, Response

Recorder = Callable[[Case, int, Response | Exception, float], None]


@contextmanager
def recorder(file: str | None, redact: Callable[[str], str]) -> Iterator[Recorder | None]:
    """Appends a line an answer, from any thread; None when nothing is to be recorded.

    Raises UsageError as `check_record` does.
    """
    if file is None:
        yield None
        return
    path = check_record(file)
    with path.open("ab", buffering=0) as out:
        yield _appending(out, redact)


def check_record(file: str) -> Path:
    """Raises UsageError when nothing can be recorded there."""
    path = Path(file)
    check_target(path, "--record")
    if not path.parent.is_dir():
        raise UsageError(f"--record {file}: there is no folder {path.parent}; make it first")
    return path


def _appending(out: BinaryIO, redact: Callable[[str], str]) -> Recorder:
    from gate.agents.recordings.answers import recording_line

    lock = Lock()

    def keep(case: Case, number: int, answer: Response | Exception, latency_ms: float) -> None:
        line = redact(recording_line(case, number, answer, latency_ms)) + "\n"
        with lock:
            out.write(line.encode())

    return keep
