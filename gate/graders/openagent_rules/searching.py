"""Searches patterns of a dataset in answers, which may try to make the search slow."""

from __future__ import annotations

import re
from functools import lru_cache

from gate.graders.safety_rules import patterns
from gate.user_code.patterns import search

# Characters of an answer that a pattern sees: a pattern with two repeats side by side takes time
# by the square of the length, a second or two for this one.
LIMIT = 10_000


def fault(pattern: str) -> str:
    """Why the pattern is refused: it is invalid, or could take for ever. Empty if it can be
    used.
    """
    try:
        patterns.compile_pattern(pattern)
    except ValueError as error:
        return str(error)
    return ""


def is_in(pattern: str, text: str) -> bool:
    """Whether the pattern is found anywhere, ignoring case. Raises ValueError for one with a fault,
    GraderFailure if the search takes too long.
    """
    return search(_ignoring_case(pattern), text[:LIMIT]) is not None


@lru_cache(maxsize=4096)
def _ignoring_case(pattern: str) -> re.Pattern[str]:
    patterns.compile_pattern(pattern)
    return re.compile(pattern, re.IGNORECASE)
