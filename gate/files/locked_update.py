"""A file that several commands may want to change: one at a time, and whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gate.errors import InfrastructureError, UsageError
from gate.files.lock import FileLock
from gate.files.plain_file import check_folder, check_target


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
