"""A loopback provider with a limit: a bucket of requests that fills up evenly."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tests.support.chat_server import ChatServer, Reply, answer

Headers = Callable[["Bucket"], Mapping[str, str]]


@dataclass
class Bucket:
    """`left` of `size` requests; `per_s` come back each second."""

    per_s: float
    size: float
    left: float
    at: float = field(default_factory=time.monotonic)

    def take(self, amount: float = 1.0) -> bool:
        now = time.monotonic()
        self.left = min(self.size, self.left + self.per_s * (now - self.at))
        self.at = now
        if self.left < amount:
            return False
        self.left -= amount
        return True

    @property
    def reset_s(self) -> float:
        """Until it is full."""
        return (self.size - self.left) / self.per_s


@dataclass
class Limited:
    """What the server counted; `accepted`: when it accepted each request."""

    url: str = ""
    accepted: list[float] = field(default_factory=list)
    refused: int = 0
    busy: int = 0
    most_busy: int = 0

    def find_share(self, per_s: float, first: float) -> float:
        """What was used of `first` requests and of `per_s` a second, until nine of ten were
        accepted: the last ones may have to wait for their Retry-After.
        """
        number = len(self.accepted) * 9 // 10
        seconds = self.accepted[number - 1] - self.accepted[0]
        return number / (first + per_s * seconds)


def tell_nothing(bucket: Bucket) -> Mapping[str, str]:
    return {}


def tell_as_openai(bucket: Bucket, name: str = "requests") -> Mapping[str, str]:
    """A time such as `59.6s` or `1m2.5s`."""
    minutes, seconds = divmod(bucket.reset_s, 60.0)
    reset = f"{minutes:.0f}m{seconds:.3f}s" if minutes else f"{seconds:.3f}s"
    return {
        f"x-ratelimit-limit-{name}": f"{bucket.size:.0f}",
        f"x-ratelimit-remaining-{name}": f"{math.floor(bucket.left)}",
        f"x-ratelimit-reset-{name}": reset,
    }


def tell_as_anthropic(bucket: Bucket, name: str = "requests") -> Mapping[str, str]:
    """The time when all is back, in whole seconds."""
    full = datetime.now(UTC) + timedelta(seconds=bucket.reset_s)
    return {
        f"anthropic-ratelimit-{name}-limit": f"{bucket.size:.0f}",
        f"anthropic-ratelimit-{name}-remaining": f"{math.floor(bucket.left)}",
        f"anthropic-ratelimit-{name}-reset": f"{full:%Y-%m-%dT%H:%M:%SZ}",
    }


@contextmanager
def limited_server(
    bucket: Bucket,
    *,
    latency_s: float,
    tell: Headers = tell_nothing,
    cost: float = 1.0,
    refusal: int = 429,
    workers: int = 1000,
) -> Iterator[Limited]:
    """Refuses at once, with Retry-After in whole seconds, and answers after `latency_s`. `cost`: of
    a request, in what the bucket counts. Only `workers` requests are worked on at the same time.
    """
    found, lock, working = Limited(), threading.Lock(), threading.Semaphore(workers)

    def reply(question: str, nth: int) -> Reply:
        with lock:
            if not found.accepted and not found.refused:
                bucket.at = time.monotonic()
            granted, told = bucket.take(cost), dict(tell(bucket))
            if not granted:
                found.refused += 1
                wait = math.ceil((cost - bucket.left) / bucket.per_s)
                return refusal, {"Retry-After": f"{wait}", **told}, {"error": {"message": "slow"}}
            found.accepted.append(time.monotonic())
            found.busy += 1
            found.most_busy = max(found.most_busy, found.busy)
        with working:
            time.sleep(latency_s)
        with lock:
            found.busy -= 1
        return 200, told, answer("yes")

    with ChatServer(reply) as server:
        found.url = server.url
        yield found
