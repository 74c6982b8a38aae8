"""`--record FILE`: stores every answer of the agent, and finally how the run was planned and ended,
for a later replay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from gate.errors import InfrastructureError
from gate.files.plain_file import check_folder, check_target
from gate.records import Case, Response
from gate.run.prepare import SuitePlan
from gate.store.session import Meta

Recorder = Callable[[Case, int, Response | Exception, float], None]


@contextmanager
def recorder(file: str | None, redact: Callable[[str], str]) -> Iterator[Recorder | None]:
    """A function that appends a line for each answer, from any thread; None if nothing is recorded.
    Raises UsageError as `check_record` does.
    """
    if file is None:
        yield None
        return
    path = check_record(file)
    make_folder(path.parent, f"--record {file}")
    with path.open("ab", buffering=0) as out:
        yield _appending(out, redact)


def record_end(
    file: str | None,
    plans: Iterable[SuitePlan],
    meta: Meta,
    trials_made: Mapping[str, int],
    redact: Callable[[str], str],
) -> None:
    """Appends how the run was planned, and how many trials of each suite were made, so that a
    replay has the same looks. Does nothing if nothing is recorded.
    """
    if file is None:
        return
    from gate.agents.recordings.run_end import RunEnd, SuiteEnd, digest_of_cases, run_end_line

    suites = {
        plan.name: SuiteEnd(
            cases=digest_of_cases(plan.chosen),
            planned=plan.planned,
            made=min(trials_made[plan.name], _most(plan)),
            looks=plan.looks,
        )
        for plan in plans
    }
    end = RunEnd(session=meta.session_id, seed=meta.order_seed, suites=suites)
    try:
        with Path(file).open("ab", buffering=0) as out:
            out.write(f"{redact(run_end_line(end))}\n".encode())
    except OSError as error:
        raise InfrastructureError(
            f"--record {file}: {error.strerror}; the session is kept: continue with --resume"
        ) from error


def _most(plan: SuitePlan) -> int:
    return plan.looks.cap if plan.looks else plan.planned


def check_record(file: str) -> Path:
    """The path of the recording. Raises UsageError if nothing can be recorded there."""
    path = Path(file)
    check_target(path, "--record")
    check_folder(path.parent, "--record")
    return path


def make_folder(folder: Path, what: str) -> None:
    """Creates a folder and those above it. Raises InfrastructureError if the disk refuses it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InfrastructureError(
            f"{what}: the folder {folder} cannot be created: {error.strerror}; choose another path"
        ) from error


def _appending(out: BinaryIO, redact: Callable[[str], str]) -> Recorder:
    from gate.agents.recordings.answers import recording_line

    lock = Lock()

    def keep(case: Case, number: int, answer: Response | Exception, latency_ms: float) -> None:
        line = redact(recording_line(case, number, answer, latency_ms)) + "\n"
        with lock:
            out.write(line.encode())

    return keep
