"""Whose turn it is to ask a server: some requests must be alone, the others may run side by side.

Nobody starves: while one that must be alone waits, no other starts before it; when it is over, all
that came meanwhile start together, before the next one that must be alone.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from threading import Condition
from urllib.parse import urlsplit

from gate.errors import InfraFailure


@dataclass(slots=True, eq=False, kw_only=True)
class ServerTurn:
    """One request, from its wait to its end. `shared`: another of them ran beside it for a time;
    `haunted`: one that nobody waits for any more may still have been under way. `after`: of one
    that must be alone, how many of the others ended since the last such one.
    """

    exclusive: bool
    running: bool = False
    shared: bool = False
    haunted: bool = False
    after: int = 0

    @property
    def alone(self) -> bool:
        return not (self.shared or self.haunted)


class ServerTurns:
    """The requests to one server, of all threads."""

    def __init__(self, *, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._changed = Condition()
        self._running: set[ServerTurn] = set()
        self._shared: deque[ServerTurn] = deque()  # these wait
        self._exclusive: deque[ServerTurn] = deque()
        self._shared_next = True
        self._ended = 0  # of those that may run side by side
        self._haunted_until = 0.0

    @contextmanager
    def take_turn(self, *, exclusive: bool, given_up: Callable[[], bool]) -> Iterator[ServerTurn]:
        """Waits for a turn and holds it. `given_up` is asked after each `wake`: when true, the wait
        ends with InfraFailure.
        """
        turn = ServerTurn(exclusive=exclusive)
        try:
            self._wait(turn, given_up)
            yield turn
        finally:
            self._leave(turn)

    def wake(self) -> None:
        """All that wait look again whether they have given up."""
        with self._changed:
            self._changed.notify_all()

    def note_abandoned(self, for_s: float) -> None:
        """A request was given up, and the server may go on with it for so many seconds."""
        with self._changed:
            self._haunted_until = max(self._haunted_until, self._seconds() + for_s)

    def _wait(self, turn: ServerTurn, given_up: Callable[[], bool]) -> None:
        queue = self._exclusive if turn.exclusive else self._shared
        with self._changed:
            queue.append(turn)
            self._admit()
            while not turn.running:
                if given_up():
                    raise InfraFailure("the run is being stopped: the request was not sent")
                self._changed.wait()

    def _leave(self, turn: ServerTurn) -> None:
        """Also while it still waits: whatever ended the wait, nobody may wait for it."""
        with self._changed:
            for queue in (self._exclusive, self._shared):
                if turn in queue:
                    queue.remove(turn)
            if turn.running:
                self._running.remove(turn)
                self._ended += not turn.exclusive
                self._shared_next = self._shared_next or turn.exclusive
            self._admit()

    def _admit(self) -> None:
        """Starts whoever may start now; holds the lock."""
        if any(turn.exclusive for turn in self._running):
            return
        if self._shared and (self._shared_next or not self._exclusive):
            self._shared_next = False
            while self._shared:
                self._start(self._shared.popleft())
        elif self._exclusive and not self._running:
            self._start(self._exclusive.popleft())
        self._changed.notify_all()

    def _start(self, turn: ServerTurn) -> None:
        turn.running = True
        turn.haunted = self._seconds() < self._haunted_until
        if turn.exclusive:
            turn.after, self._ended = self._ended, 0
        for other in self._running:
            other.shared = turn.shared = True
        self._running.add(turn)


def turns_of(server: str) -> ServerTurns:
    """The turns of one address: whoever asks it in this process, by whichever plug-in, is in them.
    Another spelling of the address has the same ones.
    """
    return _turns_of(_normalise_address(server))


@cache
def _turns_of(_: str) -> ServerTurns:
    return ServerTurns()


def _normalise_address(server: str) -> str:
    """Scheme, host and port; this machine has many names."""
    try:
        url = urlsplit(server.strip())
        host, port = url.hostname or "", url.port
    except ValueError:
        return server
    here = host == "localhost" or host.startswith("127.") or host == "::1"
    known_port = port or {"http": 80, "https": 443}.get(url.scheme.lower())
    return f"{'this machine' if here else host}:{known_port}"
