"""A provider with a limit in virtual time, and a client that asks it as `Pace` says."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gate.system.pace import Pace, RateLimit

LATE_S = 0.0003  # how late a thread wakes up
REFUSAL_S = 0.005  # how long a refusal takes

# At a time: seconds of Retry-After where it refuses, None where it accepts; what it tells.
Provider = Callable[[float], tuple[float | None, Sequence[RateLimit]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """`seconds` until the last answer; `accepted`: when; `at_once`: the most under way."""

    seconds: float
    accepted: tuple[float, ...]
    refused: tuple[float, ...]
    at_once: int


def play(
    provider: Provider,
    pace: Pace,
    requests: int,
    *,
    latency_s: float = 0.1,
    latency_of: Callable[[int], float] | None = None,
) -> Played:
    """All requests, each until it is answered. `latency_of`: by how many are under way."""
    now, order, at_once = 0.0, 0, 0
    events: list[tuple[float, int, Callable[[float], None]]] = []
    accepted: list[float] = []
    refused: list[float] = []
    waiting, answered = requests, 0

    def at(when: float, what: Callable[[float], None]) -> None:
        nonlocal order
        order += 1
        heapq.heappush(events, (when, order, what))

    def come_back(now: float) -> None:
        nonlocal waiting
        waiting += 1

    def start(now: float) -> None:
        nonlocal waiting, at_once
        waiting -= 1
        request = pace.start(now)
        at_once = max(at_once, pace.running)
        wait, told = provider(now)

        def answer(then: float) -> None:
            nonlocal answered
            answered += 1
            pace.tell(then, request, told)
            pace.end(then, then - now)

        def refuse(then: float) -> None:
            pace.tell(then, request, told, accepted=False)
            pace.refuse(then, request, wait)
            at(then + max(0.1, wait or 0.0), come_back)

        if wait is None:
            accepted.append(now)
            at(now + (latency_of(pace.running) if latency_of else latency_s), answer)
        else:
            refused.append(now)
            at(now + min(latency_s, REFUSAL_S), refuse)

    while answered < requests:
        wait = pace.wait(now) if waiting else math.inf
        if wait <= 0.0:
            start(now)
        elif events and events[0][0] <= now + wait:
            now, _, happens = heapq.heappop(events)
            happens(now)
        else:
            now += wait + LATE_S
    return Played(seconds=now, accepted=tuple(accepted), refused=tuple(refused), at_once=at_once)


class Bucket:
    """`left` of `size`, of which `per_s` come back each second; a request takes `cost`."""

    def __init__(
        self, per_s: float, size: float, left: float | None = None, cost: float = 1.0
    ) -> None:
        self.per_s, self.size, self.cost = per_s, size, cost
        self.left, self.at = size if left is None else left, 0.0

    def __call__(self, now: float) -> tuple[float | None, Sequence[RateLimit]]:
        if self.take(now):
            return None, ()
        return math.ceil((self.cost - self.left) / self.per_s), ()

    def take(self, now: float) -> bool:
        self.left = min(self.size, self.left + self.per_s * (now - self.at))
        self.at = now
        if self.left < self.cost:
            return False
        self.left -= self.cost
        return True


class TellingBucket(Bucket):
    """Says what is left with each answer; `name`: of the limit."""

    def __init__(self, name: str, per_s: float, size: float, left: float, cost: float = 1.0):
        super().__init__(per_s, size, left, cost)
        self.name = name

    def __call__(self, now: float) -> tuple[float | None, Sequence[RateLimit]]:
        wait, _ = super().__call__(now)
        told = RateLimit(
            name=self.name,
            limit=self.size,
            remaining=float(math.floor(self.left)),
            reset_s=(self.size - self.left) / self.per_s,
        )
        return wait, (told,)
