"""What this machine has too little of (threads, descriptors, memory, room), and what to do."""

from __future__ import annotations

import errno
import importlib
import os
from contextlib import suppress
from typing import Any

from gate.errors import InfrastructureError

_THREADS = "lower `concurrency`, or raise the limit of processes (`ulimit -u`)"
_MEMORY = "lower `concurrency`, or give the job more memory (`ulimit -v`)"
_ADVICE = {
    errno.EMFILE: "lower `concurrency`, or raise the limit of open files (`ulimit -n`)",
    errno.ENFILE: "lower `concurrency`, or raise the system's limit of open files",
    errno.EAGAIN: _THREADS,
    errno.ENOMEM: _MEMORY,
    errno.ENOSPC: "free space on the disk",
    errno.EDQUOT: "free some space: your disk quota is used up",
    errno.EFBIG: "raise the limit of a file's size (`ulimit -f`)",
}
_KEPT: list[Any] = []  # what C calls must not be collected
_NO_THREAD = "can't start new thread"
_NOT_LOADED = ("cannot allocate memory", "failed to map segment", "too many open files")


def advice(error: OSError) -> str:
    """What to do about it; empty where the machine is not short of anything."""
    return _ADVICE.get(error.errno or 0, "")


class Shortage(InfrastructureError):
    """Something that this run needs has run out while it went on: of the machine, or the workers of
    a cluster (exit 6).
    """


def shortage(error: BaseException) -> Shortage | None:
    """What to tell instead of an error that only says what the machine is short of."""
    if isinstance(error, Shortage):
        return error
    if isinstance(error, MemoryError):
        return Shortage(f"out of memory: {_MEMORY}")
    if isinstance(error, RuntimeError) and _NO_THREAD in str(error):
        return Shortage(f"no thread can be started: {_THREADS}")
    if isinstance(error, OSError) and advice(error):
        where = f"{error.filename}: " if error.filename else ""
        message = error.strerror or os.strerror(error.errno or 0)
        return Shortage(f"{where}{message}: {advice(error)}")
    if isinstance(error, ImportError):  # numpy's is a page long
        lines = str(error).splitlines()
        causes = [line for line in lines if any(one in line.lower() for one in _NOT_LOADED)]
        return Shortage(f"{causes[0].strip()}: {_MEMORY}") if causes else None
    return None


def guard_exit(code: int) -> None:
    """A library that finds no memory may end the process by C's `exit`, with a code that would be
    read as a verdict. Where memory is limited, that becomes `code`.
    """
    with suppress(ImportError, AttributeError, OSError):  # not every system has all of it
        resource = importlib.import_module("resource")
        if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
            return
        ctypes = importlib.import_module("ctypes")

        def leave(_: object) -> None:
            os.write(2, f"gate: out of memory: {_MEMORY}\n".encode())
            os._exit(code)

        _KEPT.append(ctypes.CFUNCTYPE(None, ctypes.c_void_p)(leave))
        getattr(ctypes.CDLL(None), "__cxa_atexit")(_KEPT[0], None, None)
