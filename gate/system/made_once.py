"""What all connections of a run share is made once, by whichever worker comes first."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """A value that does not exist before somebody wants it."""

    __slots__ = ("_lock", "_made")

    def __init__(self) -> None:
        self._lock = Lock()
        self._made: list[T] = []

    def get(self, make: Callable[[], T]) -> T:
        """The value; of several threads one makes it, and the others wait."""
        with self._lock:
            if not self._made:
                self._made.append(make())
            return self._made[0]
