"""Where threads wait until their next request may start; gate/system/pace.py says when."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event, Lock
from types import TracebackType

from gate.errors import InfraFailure
from gate.system.pace import Pace, RateLimit, Started

_LONGEST_S = 3600.0  # of one look; who waits for another thread is told before


class Slots:
    """What the threads that ask the same provider share. Only the first one of those that wait
    looks when its time comes; the others wait behind it.
    """

    def __init__(
        self,
        pace: Pace,
        *,
        seconds: Callable[[], float] = time.monotonic,
        pause: Callable[[Event, float], object] = Event.wait,
    ) -> None:
        """`seconds` and `pause` are time: tests hand in others. `pause` waits for the event, or
        for so many seconds.
        """
        self.pace, self.seconds, self.pause = pace, seconds, pause
        self.door, self.lock = Lock(), Lock()  # the door is that of the first one in the row
        self.changed = Event()
        self.is_awaited = self.is_closed = False

    def slot(self, source: str = "") -> Slot:
        """For one thread. `source` keeps apart what several providers say of their limits."""
        return Slot(self, source)

    def close(self) -> None:
        """Whoever waits leaves without a slot; so does everybody who comes."""
        self.is_closed = True
        self.changed.set()

    def describe(self) -> str:
        """What the provider allows, once it has refused a request, or a limit that it tells is used
        up; else empty.
        """
        with self.lock:
            pace = self.pace
            name, wait = pace.find_empty(self.seconds())
            if wait >= 1.0:
                return f"waiting {wait:.0f} s for the provider's limit of {name}"
            if not pace.refused:
                return ""
            allowed = (
                f"{min(pace.limit, pace.most)} calls at once"
                if pace.per_second is None
                else f"{pace.per_second:.3g} calls a second"
            )
            return f"refused by the provider: {pace.refused}; now {allowed}"


class Slot:
    """One thread's: held while the provider is asked. Entered, it says whether to ask at all."""

    def __init__(self, slots: Slots, source: str) -> None:
        self._slots, self._source = slots, source
        self._request: Started | None = None
        self._limits: tuple[RateLimit, ...] = ()

    def hear(self, limits: tuple[RateLimit, ...]) -> None:
        """What the reply says of its provider's limits."""
        self._limits = limits

    def __enter__(self) -> bool:
        slots = self._slots
        with slots.door:
            while not slots.is_closed:
                with slots.lock:
                    now = slots.seconds()
                    wait = slots.pace.wait(now)
                    slots.is_awaited = wait > 0.0
                    if not slots.is_awaited:
                        self._request = slots.pace.start(now)
                        return True
                    slots.changed.clear()
                slots.pause(slots.changed, min(wait, _LONGEST_S))
        return False

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """The request has ended, with an answer unless there is an error."""
        request, self._request = self._request, None
        limits, self._limits = self._limits, ()
        if request is None:
            return
        slots, pace = self._slots, self._slots.pace
        with slots.lock:
            now = slots.seconds()
            if limits:
                pace.tell(now, request, limits, self._source, accepted=error is None)
            if error is None:
                pace.end(now, now - request[1])
            elif isinstance(error, InfraFailure) and error.is_refusal:
                pace.refuse(now, request, error.retry_after)
            else:
                pace.end(now)
            if slots.is_awaited:
                slots.changed.set()

    def close(self) -> None:
        """No thread of these slots waits any more."""
        self._slots.close()
