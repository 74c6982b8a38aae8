"""Awaits what a user's async function returned. A module of its own, since asyncio takes longer to
import than everything else that a process with user code needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class Late(Exception):
    """The time for a call was up."""


class LoopThread:
    """One thread's event loop."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()

    def finish(self, awaitable: Awaitable[T], seconds: float) -> T:
        """What it comes to. Raises Late, and whatever it raises."""
        return self._runner.run(_within(awaitable, seconds))


async def _within(awaitable: Awaitable[T], seconds: float) -> T:
    try:
        async with asyncio.timeout(seconds) as limit:
            return await awaitable
    except TimeoutError:
        if limit.expired():
            raise Late from None
        raise
