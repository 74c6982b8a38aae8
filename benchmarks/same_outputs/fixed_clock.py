"""Time and chance that stand still. A copy of this file is the `sitecustomize` of the environment
in which the gate runs, so that every process of a run starts with it.

The day and hour are those of SAME_OUTPUTS_NOW (seconds since 1970), for as long as a process runs.
A stop watch (`time.perf_counter`) shows 1/1024 s more each time that a thread looks at it, so
what a thread measures does not depend on the machine. What the system calls random is counted from
that hour. `time.monotonic` stays true, since deadlines go by it; a pause takes 10 ms at most.
"""

import _thread
import datetime
import hashlib
import os
import random
import time

_NOW = float(os.environ.get("SAME_OUTPUTS_NOW", "1790000000"))
_LONGEST_PAUSE_S = 0.01
_watch = _thread._local()
_lock = _thread.allocate_lock()
_drawn: dict[int, int] = {}  # size -> how often so much was asked for
_true = {name: getattr(time, name) for name in ("gmtime", "localtime", "strftime", "ctime")}
_sleep = time.sleep
_datetime = datetime.datetime


def _ticks() -> int:
    _watch.ticks = getattr(_watch, "ticks", 0) + 1
    return int(_watch.ticks)


def _urandom(size: int) -> bytes:
    with _lock:
        _drawn[size] = _drawn.get(size, 0) + 1
        seed = f"{_NOW} {size} {_drawn[size]}".encode()
    return hashlib.shake_256(seed).digest(size)


class _Kind(type(_datetime)):  # type: ignore[misc]
    """Moments that were made before count as moments, too."""

    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, _datetime)

    def __subclasscheck__(cls, one: type) -> bool:
        return issubclass(one, _datetime)


class _Fixed(_datetime, metaclass=_Kind):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> "_Fixed":
        return cls.fromtimestamp(_NOW, tz)

    @classmethod
    def utcnow(cls) -> "_Fixed":
        return cls.fromtimestamp(_NOW, datetime.UTC).replace(tzinfo=None)

    @classmethod
    def today(cls) -> "_Fixed":
        return cls.fromtimestamp(_NOW)


_Fixed.__name__ = _Fixed.__qualname__ = "datetime"
_Fixed.__module__ = "datetime"
datetime.datetime = _Fixed  # type: ignore[misc]
time.time = lambda: _NOW
time.time_ns = lambda: int(_NOW * 1e9)
time.perf_counter = lambda: _ticks() / 1024
time.perf_counter_ns = lambda: _ticks() * 976_562
time.gmtime = lambda s=None: _true["gmtime"](_NOW if s is None else s)
time.localtime = lambda s=None: _true["localtime"](_NOW if s is None else s)
time.ctime = lambda s=None: _true["ctime"](_NOW if s is None else s)
time.strftime = lambda form, t=None: _true["strftime"](form, time.localtime() if t is None else t)
time.sleep = lambda seconds: _sleep(min(seconds, _LONGEST_PAUSE_S))
os.urandom = random._urandom = _urandom  # type: ignore[attr-defined]
random.random = lambda: 0.5  # of pauses; seeded generators go on as ever
