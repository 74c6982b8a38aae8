"""Ctrl-C and SIGTERM: noticed by the run, which saves its session; elsewhere they end it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from gate.errors import Interrupted


class Stop:
    """Remembers the first signal. A second one, or one outside `deferred`, raises at once."""

    def __init__(self) -> None:
        self._signal: int | None = None
        self._deferred = False

    def install(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def ignore(self) -> None:
        """From now on a signal changes nothing: everything is said, and the process ends."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)

    def is_requested(self) -> bool:
        return self._signal is not None

    @contextmanager
    def defer(self) -> Iterator[None]:
        """While this block runs, the first signal only sets `requested`."""
        self._deferred = True
        try:
            yield
        finally:
            self._deferred = False

    def error(self, message: str) -> Interrupted:
        """What to raise once the work is saved: exit 130 for Ctrl-C, 143 for SIGTERM."""
        number = self._signal or signal.SIGINT
        return Interrupted(message, exit_code=128 + int(number))

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        again = self._signal is not None
        self._signal = number
        if again or not self._deferred:
            raise self.error("interrupted")
