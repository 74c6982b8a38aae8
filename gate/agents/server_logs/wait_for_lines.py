"""Waiting for the last lines of a request: a server writes its access line when it is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

QUIET_S = 0.2  # without a new line: nothing more is expected
STEP_S = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPoll:
    """What one look at the logs brought. `ended`: the logs show that the request is over, and what
    it did. `pending`: a line has begun and not ended.
    """

    grew: bool
    ended: bool = False
    pending: bool = False


def settle(
    look: Callable[[], LogPoll],
    *,
    at_most_s: float,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> None:
    """Looks until the request is over and nothing more came, or nothing came for a while."""
    began = grew = clock()
    while True:
        seen = look()
        now = clock()
        if seen.grew:
            grew = now
        quiet = now - grew >= QUIET_S or (seen.ended and not seen.grew)
        left = began + at_most_s - now
        if (quiet and not seen.pending) or left <= 0:
            return
        sleep(min(STEP_S, left))
