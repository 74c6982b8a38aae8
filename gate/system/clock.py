"""Time, and how long to wait before another try; handed in, so that tests hand in others."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

FIRST_BACKOFF_S = 0.5
MAX_BACKOFF_S = 20.0
LEAST_WAIT_S = 0.1  # `Retry-After: 0` must use up the time-out too
LEAST_TRY_S = 0.05  # a try that waiting leaves less than this is not begun


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Time and jitter, handed in so that tests hand in others."""

    seconds: Callable[[], float] = time.perf_counter
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    jitter: Callable[[], float] = random.random  # [0, 1)

    def backoff(self, tries: int) -> float:
        """Seconds after so many failed tries: exponential, full jitter on its upper half."""
        full = min(MAX_BACKOFF_S, FIRST_BACKOFF_S * 2.0 ** (tries - 1))
        return full * (0.5 + 0.5 * self.jitter())

    def waiting(self, retry_after: float) -> float:
        """Seconds for what a server asked to be left alone."""
        return max(retry_after, LEAST_WAIT_S) * (1 + 0.01 * self.jitter())
