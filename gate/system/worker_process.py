"""A process of our own that answers one request at a time: plain values go in and come out. One
that dies is started again, and asked again.
"""

from __future__ import annotations

import json
import marshal
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO, Any, TypeVar, cast

from gate.system.process_group import OWN_GROUP

T = TypeVar("T")
_LENGTH = 8  # bytes of a message's length
TRIES = 3  # of a request whose process dies
# The paths first: where modules are found must not depend on the folder that the process runs in.
_BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv.pop()); from {} import main; main()"


class WorkerDied(Exception):
    """The process died each time that it was asked this; the text says how."""


class WorkerProcess:
    """Runs `main` of `module`, which serves requests with `serve`; started with the first request.
    `given`: the first message that it gets, as bytes.
    """

    def __init__(self, module: str, given: bytes) -> None:
        path = [one for one in sys.path if one and Path(one) != Path.cwd()]
        home = str(Path(__file__).parents[2])
        if home not in path:
            path.insert(0, home)
        boot = _BOOT.format(module)
        self._words = [sys.executable, "-I", "-c", boot, json.dumps(path)]
        self._given = given
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._busy = Lock()

    def work(self, request: object) -> object:
        """The reply to a request that marshal can hold; one thread at a time. Raises WorkerDied,
        and RuntimeError with the traceback where the code of the process failed.
        """
        with self._busy:
            return self._ask(request)

    def close(self) -> None:
        """Ends the process; what it works on is lost. Any thread may."""
        self._closed = True
        if (process := self._process) is not None:
            process.kill()
        with self._busy:
            self._end()

    def _ask(self, request: object) -> object:
        how = ""
        for _ in range(TRIES):
            if self._closed:
                break
            process, reply = self._started(), None
            with suppress(OSError, ValueError, EOFError, TypeError):
                put(_pipe(process.stdin), request)
                reply = take(_pipe(process.stdout))
            if reply is not None:
                answered, value = cast("tuple[bool, object]", reply)
                if not answered:
                    raise RuntimeError(str(value))
                return value
            how = self._end()
        raise WorkerDied(how)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
                self._words, stdin=pipe, stdout=pipe, **OWN_GROUP
            )
            with suppress(OSError):
                put(_pipe(self._process.stdin), self._given)
        return self._process

    def _end(self) -> str:
        """How the process ended; the next request starts another one."""
        process, self._process = self._process, None
        if process is None:
            return ""
        process.kill()
        process.communicate()
        status = process.returncode
        return f"signal {-status}" if status < 0 else f"exit status {status}"


def serve(prepare: Callable[[bytes], Callable[[T], object]]) -> None:
    """In the worker: answers requests until there are no more. `prepare`: what was given at the
    start -> what answers a request.
    """
    given, back = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what is printed is no reply
    with suppress(BrokenPipeError):
        reply: tuple[bool, object]
        first = take(given)
        if first is None:
            return
        answer = prepare(cast("bytes", first))
        while (request := take(given)) is not None:
            try:
                reply = True, answer(cast("T", request))
            except Exception:
                reply = False, traceback.format_exc()
            put(back, reply)


def put(stream: IO[bytes], value: object) -> None:
    """Writes a value that marshal can hold."""
    data = marshal.dumps(cast("Any", value))
    stream.write(len(data).to_bytes(_LENGTH, "little"))
    stream.write(data)
    stream.flush()


def take(stream: IO[bytes]) -> object:
    """The next value in the stream; None at its end."""
    head = stream.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    value: object = marshal.loads(stream.read(int.from_bytes(head, "little")))  # noqa: S302 - ours
    return value


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise EOFError
    return stream
