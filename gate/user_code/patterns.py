"""Patterns of the user's, searched in texts of an agent's: whatever the two are, a search ends.

Python's `re` takes for ever on some patterns and texts, and keeps every other thread from running
meanwhile. So only a search that is short by its size is made in this process; the others are made
in one of their own, under a deadline.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import cast

from gate.errors import GraderFailure
from gate.user_code.processes import PROCESSES

SECONDS = 2.0  # for one search
_SHORT = 20_000_000  # steps of a search that is made here: 0.2 s at the worst
_MOST_TIMES = 3  # that a pattern may run out of time in a run
_CUT = 80  # characters of a pattern in a message
_REPEAT = re.compile(r"(\*|\+|\?|\{(\d*)(,?)(\d*)\})([?+]?)")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_FEW = 3  # repetitions that do no harm
_ODD = re.compile(r"\\[1-9]|\(\?P=|\(\?\(|\(\?[aiLmsu]*x")  # back-references, (?x): not weighed

_IN_TURN = Lock()  # they are searched one after the other: none waits within its deadline
_ran_out: Counter[tuple[str, int]] = Counter()


@dataclass(frozen=True, slots=True)
class Weight:
    """How long a search may take: `ways` x (length of the text) ^ (`repeats` + 1) steps, or for
    ever where it `explodes`: where a group that repeats can match one text in several ways, whose
    number doubles with each repetition.
    """

    explodes: bool
    repeats: int  # without an end of their own
    ways: int


def search(pattern: re.Pattern[str], text: str, start: int = 0) -> tuple[int, int] | None:
    """Where it is found first, from `start` on. Raises GraderFailure when that takes too long."""
    if _is_short(pattern, len(text) - start):
        found = pattern.search(text, start)
        return found and found.span()
    return _search_elsewhere(pattern, text, start)


@lru_cache(maxsize=4096)
def weigh(pattern: str) -> Weight:
    """By its text; possessive and atomic groups are not tried again."""
    open_groups = [False]  # of each open group: whether it can match in several ways
    atomic = [False]
    at, repeats, ways = 0, 0, 1
    explodes = False
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
            ways += 1
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
        if repeat is not None and varies:
            repeats += _often(repeat)
            ways *= 1 if _often(repeat) else _FEW + 1
            explodes |= inner and _often(repeat)
        elif repeat is not None:
            explodes |= inner and repeat[5] != "+" and _often(repeat)
        open_groups[-1] |= inner or varies
    return Weight(explodes, repeats, ways)


def _is_short(pattern: re.Pattern[str], length: int) -> bool:
    if pattern.flags & re.VERBOSE or _ODD.search(pattern.pattern):
        return False
    weight = weigh(pattern.pattern)
    steps = weight.ways * float(max(1, length)) ** min(weight.repeats + 1, 60)
    return not weight.explodes and steps <= _SHORT


def _search_elsewhere(pattern: re.Pattern[str], text: str, start: int) -> tuple[int, int] | None:
    shown = repr(pattern.pattern[:_CUT])
    key = (pattern.pattern, pattern.flags)
    too_long = f"the pattern {shown} took longer than {SECONDS:g} s"
    if _ran_out[key] >= _MOST_TIMES:
        raise GraderFailure(f"{too_long} {_MOST_TIMES} times and is not tried again: simplify it")
    process = PROCESSES.of("pattern", Path(), judges=False, threads=1, load_s=SECONDS)
    calling = importlib.import_module("gate.user_code.calling")
    request = ["match", pattern.pattern, int(pattern.flags), text, start]
    with _IN_TURN:
        try:
            found = calling.ask_main(process, request, SECONDS)
        except calling.TooLong:
            _ran_out[key] += 1
            raise GraderFailure(f"{too_long}: simplify it") from None
    return cast("tuple[int, int] | None", found and tuple(found))


def _varies(repeat: re.Match[str]) -> bool:
    return repeat[1] in ("*", "+", "?") or bool(repeat[3])


def _often(repeat: re.Match[str]) -> bool:
    if repeat[1] in ("*", "+"):
        return True
    most = repeat[4] if repeat[3] else repeat[2]
    return repeat[1] != "?" and (not most or int(most) > _FEW)
