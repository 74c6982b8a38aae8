"""A file that several commands may want to change: one at a time, and whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gate.errors import InfrastructureError, UsageError
from gate.files.plain_file import check_folder, check_target

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def alone(lock_file: Path, busy: str) -> Iterator[None]:
    """While it lasts no other command is at the same thing. Raises UsageError, with the sentence
    `busy`, when one is, and InfrastructureError.

    The folder is committed: nothing of this is left in it.
    """
    lock = FileLock(lock_file)
    try:
        held = lock.acquire()
    except OSError as error:
        raise InfrastructureError(f"{lock_file}: cannot be written: {error.strerror}") from error
    if not held:
        raise UsageError(busy)
    try:
        yield
    finally:
        with suppress(OSError):
            lock_file.unlink()
        lock.release()


def write_whole(path: Path, content: bytes) -> None:
    """Whoever reads meanwhile has the old file or the new one. Raises InfrastructureError."""
    check_folder(path.parent, "the folder")
    check_target(path, "the file")
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise InfrastructureError(f"{path}: cannot be written: {error.strerror}") from error


class FileLock:
    """Not re-entrant; held until `release` or the end of the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """True when this process has the lock now, False when another one has it; OSError."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(descriptor)
        except OSError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
