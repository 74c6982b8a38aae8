"""Patterns of the user's: refused where they could take for ever, searched in bounded pieces."""

from __future__ import annotations

import re
from functools import lru_cache

WINDOW, OVERLAP = 4_000, 1_000  # characters of a piece, and of it that the next one has too

_REPEAT = re.compile(r"(\*|\+|\?|\{(\d*)(,?)(\d*)\})([?+]?)")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_FEW = 3  # repetitions that do no harm


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern[str]:
    """Raises ValueError with what is wrong."""
    try:
        found = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{pattern[:80]!r} is not a pattern: {error}") from None
    if _explodes(pattern):
        message = f"{pattern[:80]!r} could take for ever: a repeated group holds what can repeat"
        raise ValueError(f"{message} or be something else - repeat it with *+ or ++ for * or +")
    return found


def search(pattern: re.Pattern[str], text: str) -> tuple[int, int] | None:
    """The first match; of a text longer than a window, of at most OVERLAP characters."""
    for start in range(0, max(1, len(text) - OVERLAP), WINDOW - OVERLAP):
        end = min(len(text), start + WINDOW)
        match = pattern.search(text, start, end)
        # What ends where the piece ends may end elsewhere: the next piece has it whole.
        if match is not None and (match.end() < end or end == len(text)):
            return match.span()
    return None


def _explodes(pattern: str) -> bool:
    """Whether a group that repeats can match one text in several ways: the number of ways doubles
    with each repetition. Possessive and atomic groups are not tried again.
    """
    open_groups = [False]  # of each open group: whether it can match in several ways
    atomic = [False]
    at = 0
    while at < len(pattern):
        sign, inner = pattern[at], False
        if sign == "\\":
            at += 2
        elif sign == "[":
            match = _CLASS.match(pattern, at)
            at = match.end() if match else at + 1
        elif sign == "(":
            open_groups.append(False)
            atomic.append(pattern.startswith("(?>", at))
            at += 3 if pattern.startswith("(?", at) else 1
            continue
        elif sign == "|":
            open_groups[-1] = True
            at += 1
            continue
        elif sign == ")" and len(open_groups) > 1:
            inner = open_groups.pop() and not atomic[-1]
            atomic.pop()
            at += 1
        else:
            at += 1
        repeat = _REPEAT.match(pattern, at)
        at = repeat.end() if repeat else at
        varies = repeat is not None and repeat[5] != "+" and _varies(repeat)
        if inner and repeat is not None and repeat[5] != "+" and _often(repeat):
            return True
        open_groups[-1] |= inner or varies
    return False


def _varies(repeat: re.Match[str]) -> bool:
    return repeat[1] in ("*", "+", "?") or bool(repeat[3])


def _often(repeat: re.Match[str]) -> bool:
    if repeat[1] in ("*", "+"):
        return True
    most = repeat[4] if repeat[3] else repeat[2]
    return repeat[1] != "?" and (not most or int(most) > _FEW)
