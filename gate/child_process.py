"""A program run once under a deadline, with a limit on what it prints; killed with its children."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock, Thread
from typing import IO, Any

_TAIL = 16_384  # bytes of standard error that are kept, the last ones
_PIECE = 65_536
_GRACE_S = 1.0  # for pipes to close after a kill; a child that left its group may hold them open


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
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
    ) -> Finished:
        """Feeds `data` to standard input and waits. Raises OSError when it cannot be started."""
        deadline = time.monotonic() + timeout_s
        process = self._start(command, data, env, folder)
        out = _Drain(process.stdout, limit=max_bytes, over=lambda: _kill(process))
        err = _Drain(process.stderr, limit=None, over=lambda: None)
        out.join(deadline - time.monotonic())
        status = None
        if not out.is_alive():
            with suppress(subprocess.TimeoutExpired):
                status = process.wait(max(0.0, deadline - time.monotonic()))
        if status is None:
            _kill(process)
            process.wait()
        for drain in (out, err):
            drain.join(_GRACE_S)
        return Finished(
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
            _kill(process)

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
                **_OWN_GROUP,
            )
            return self._process


class _Drain(Thread):
    """Reads a pipe to its end; keeps the first `limit` bytes, or without a limit the last ones."""

    def __init__(
        self, pipe: IO[bytes] | None, *, limit: int | None, over: Callable[[], None]
    ) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._limit = limit
        self._over = over
        self.kept = bytearray()
        self.too_much = False
        self.start()

    def join(self, timeout: float | None = None) -> None:
        super().join(max(0.0, timeout or 0.0))

    def run(self) -> None:
        if self._pipe is None:
            return
        with self._pipe as pipe:
            while piece := pipe.read(_PIECE):
                self.kept += piece
                if self._limit is None:
                    del self.kept[:-_TAIL]
                elif len(self.kept) > self._limit:
                    self.too_much = True
                    self.kept.clear()
                    self._over()
                    return


if sys.platform == "win32":
    _OWN_GROUP: dict[str, Any] = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}

    def _kill(process: subprocess.Popen[bytes]) -> None:
        subprocess.run(  # noqa: S603
            ["taskkill", "/T", "/F", "/PID", str(process.pid)],  # noqa: S607
            capture_output=True,
            check=False,
        )
        with suppress(OSError):
            process.kill()

else:
    _OWN_GROUP: dict[str, Any] = {"start_new_session": True}

    def _kill(process: subprocess.Popen[bytes]) -> None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
