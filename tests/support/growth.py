"""How much work a function does, counted: the same on every machine, however busy it is.

Each call of a Python function and of one in C counts as one, whatever it takes: a loop inside of C,
a regular expression above all, shows only in `cpu_seconds`, which a bound must leave room.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType


def calls(work: Callable[[], object]) -> int:
    """How many calls of functions it takes."""
    count = 0

    def seen(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def cpu_seconds(work: Callable[[], object]) -> float:
    """What this thread computes: waiting, and what other processes do, is not in it."""
    begun = time.thread_time()
    work()
    return time.thread_time() - begun
