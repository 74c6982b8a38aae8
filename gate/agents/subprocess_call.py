"""A program run once under a deadline, with a limit on what it prints. Its children end with it.

What it printed is what stood there when it ended: a child that it leaves behind and that holds its
output is waited for shortly. One that left its process group lives on, and holds nothing up.
"""

from __future__ import annotations

import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from threading import Event, Lock, Thread
from typing import IO

from gate.system.process_group import OWN_GROUP, kill_group

_TAIL = 16_384  # bytes of standard error that are kept, the last ones
_PIECE = 65_536
_GRACE_S = 0.5  # for the rest of the output, at most, once the program has ended
_QUIET_S = 0.1  # without any output after its end: there is no more
_GLANCE_S = 0.05  # how soon the end of a program is seen whose output a child holds open


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedProcess:
    """How it ended: `status` is the exit status, negative for a signal; None: it was killed."""

    status: int | None
    stdout: bytes
    stderr: bytes
    too_much: bool = False  # killed because it printed more than allowed


class ChildProcess:
    """Runs one program at a time; `kill` may be called from another thread, and is for good."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self.killed = False

    def run(
        self,
        command: Sequence[str],
        data: bytes,
        *,
        env: Mapping[str, str],
        folder: Path,
        timeout_s: float,
        max_bytes: int,
    ) -> FinishedProcess:
        """Feeds `data` to standard input and waits. Raises OSError when it cannot be started."""
        deadline = time.monotonic() + timeout_s
        process = self._start(command, data, env, folder)
        out = _Drain(process.stdout, limit=max_bytes, over=lambda: kill_group(process))
        err = _Drain(process.stderr, limit=None, over=lambda: None)
        status = _wait_for_end(process, out, deadline)
        if status is None:
            kill_group(process)
            process.wait()
        for drain in (out, err):
            drain.end()
        for drain in (out, err):
            drain.join(_GRACE_S)
        kill_group(process)
        return FinishedProcess(
            status=None if self.killed or out.too_much else status,
            stdout=bytes(out.kept),
            stderr=bytes(err.kept),
            too_much=out.too_much,
        )

    def kill(self) -> None:
        with self._lock:
            self.killed = True
            process = self._process
        if process is not None and process.poll() is None:
            kill_group(process)

    def _start(
        self, command: Sequence[str], data: bytes, env: Mapping[str, str], folder: Path
    ) -> subprocess.Popen[bytes]:
        # A file as standard input: a program that never reads cannot block us.
        with TemporaryFile() as stdin, self._lock:
            stdin.write(data)
            stdin.seek(0)
            if self.killed:
                raise InterruptedError("killed before it was started")
            self._process = subprocess.Popen(  # noqa: S603 - what the user configured, no shell
                command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=folder,
                env=dict(env),
                **OWN_GROUP,
            )
            return self._process


def _wait_for_end(process: subprocess.Popen[bytes], out: _Drain, deadline: float) -> int | None:
    """The exit status; None: it has not ended by the deadline. The end of its output is seen at
    once, its own end soon.
    """
    while out.is_alive() and process.poll() is None and time.monotonic() < deadline:
        out.join(min(_GLANCE_S, deadline - time.monotonic()))
    with suppress(subprocess.TimeoutExpired):
        return process.wait(max(0.0, deadline - time.monotonic()))
    return None


class _Drain(Thread):
    """Reads a pipe to its end, or once the program has ended until nothing more comes; keeps the
    first `limit` bytes, or without a limit the last ones.
    """

    def __init__(
        self, pipe: IO[bytes] | None, *, limit: int | None, over: Callable[[], None]
    ) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._limit = limit
        self._over = over
        self._ended = Event()
        self._until = 0.0
        self.kept = bytearray()
        self.too_much = False
        self.start()

    def end(self) -> None:
        """The program has ended: only what is on its way is read."""
        self._until = time.monotonic() + _GRACE_S
        self._ended.set()

    def join(self, timeout: float | None = None) -> None:
        super().join(max(0.0, timeout or 0.0))

    def run(self) -> None:
        if self._pipe is None:
            return
        with self._pipe as pipe:
            while self._comes(pipe) and (piece := pipe.read(_PIECE)):
                self.kept += piece
                if self._limit is None:
                    del self.kept[:-_TAIL]
                elif len(self.kept) > self._limit:
                    self.too_much = True
                    self.kept.clear()
                    self._over()
                    return

    def _comes(self, pipe: IO[bytes]) -> bool:
        """Whether there is more to read, be it the end; False: nobody is to wait for it."""
        while True:
            ended = self._ended.is_set()
            if ended and time.monotonic() > self._until:
                return False
            if _is_readable(pipe, _QUIET_S):
                return True
            if ended:
                return False


if sys.platform == "win32":

    def _is_readable(pipe: IO[bytes], timeout_s: float) -> bool:
        """Only a read tells, and it waits."""
        return True

else:

    def _is_readable(pipe: IO[bytes], timeout_s: float) -> bool:
        """Not `select`, which knows no descriptor above 1023."""
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        return bool(poll.poll(timeout_s * 1e3))
