"""Patterns of the user: refused if they could take for ever, searched in bounded pieces."""

from __future__ import annotations

import re
from functools import lru_cache

from gate.user_code import patterns

WINDOW, OVERLAP = 4_000, 1_000  # characters of a piece, and of it that the next one has too


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The compiled pattern. Raises ValueError with what is wrong."""
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{pattern[:80]!r} is not a pattern: {error}") from None
    if patterns.weigh(pattern).explodes:
        message = f"{pattern[:80]!r} could take for ever: a repeated group holds what can repeat"
        raise ValueError(f"{message} or be something else - repeat it with *+ or ++ for * or +")
    return compiled


def search(pattern: re.Pattern[str], text: str) -> tuple[int, int] | None:
    """The start and end of the first match, or None. In a text longer than a window a match has at
    most OVERLAP characters.
    """
    for start in range(0, max(1, len(text) - OVERLAP), WINDOW - OVERLAP):
        end = min(len(text), start + WINDOW)
        span = patterns.search(pattern, text[:end], start)
        # What ends where the piece ends may end elsewhere: the next piece has it whole.
        if span is not None and (span[1] < end or end == len(text)):
            return span
    return None
