"""The same work done by several processes: what goes in and comes out are plain values, and the
order stays, so that nothing depends on how many they are.
"""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import IO, Any, TypeVar, cast

from gate.errors import InfrastructureError
from gate.system.worker_process import put, take

S = TypeVar("S")
T = TypeVar("T")
_READY = "ready"


class Crew:
    """Processes that run `worker_main`, or none: then the work is done here."""

    def __init__(self, size: int) -> None:
        self._workers: list[subprocess.Popen[bytes]] = []
        # -I: what lies in the working directory, or in PYTHON*, cannot stand in for a module.
        begin = "from gate.importers.formats.otel.worker_main import work; work()"
        command = [sys.executable, "-I", "-c", begin]
        with suppress(OSError, ValueError):
            for _ in range(size):
                pipe = subprocess.PIPE
                found = subprocess.Popen(command, stdin=pipe, stdout=pipe)  # noqa: S603 - ours
                self._workers.append(found)
        if not all(_answers(worker) for worker in self._workers):
            self._end()

    def map(self, work: Callable[[S], T], requests: Iterable[S]) -> Iterator[T]:
        """`work` of each request, in order. Raises InfrastructureError if a process died."""
        if not self._workers:
            yield from map(work, requests)
            return
        busy: deque[subprocess.Popen[bytes]] = deque()
        idle = deque(self._workers)
        for request in requests:
            if not idle:
                yield _received(busy[0])
                idle.append(busy.popleft())
            _send(idle[0], (work.__name__, request))
            busy.append(idle.popleft())
        while busy:
            yield _received(busy.popleft())

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        for worker in self._workers:
            worker.kill()  # it keeps nothing
        for worker in self._workers:
            worker.communicate()
        self._workers.clear()


def serve(works: Iterable[Callable[..., object]], given: IO[bytes], back: IO[bytes]) -> None:
    """In the worker: answers requests until there are no more."""
    known = {work.__name__: work for work in works}
    put(back, _READY)
    while (message := take(given)) is not None:
        name, request = cast("tuple[str, object]", message)
        put(back, known[name](request))


def _answers(worker: subprocess.Popen[bytes]) -> bool:
    try:
        return worker.stdout is not None and take(worker.stdout) == _READY
    except (OSError, ValueError, EOFError, TypeError):
        return False


def _send(worker: subprocess.Popen[bytes], message: object) -> None:
    try:
        if worker.stdin is not None:
            put(worker.stdin, message)
    except OSError as error:
        raise _killed() from error


def _received(worker: subprocess.Popen[bytes]) -> Any:  # what `work` returned
    try:
        found = None if worker.stdout is None else take(worker.stdout)
    except (OSError, ValueError, EOFError, TypeError) as error:
        raise _killed() from error
    if found is None:
        raise _killed()
    return found


def _killed() -> InfrastructureError:
    return InfrastructureError(
        "a process that reads the spans was killed (out of memory?); import again, or "
        "split the files"
    )
