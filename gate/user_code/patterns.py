"""Patterns of the user's, searched in texts of an agent's: whatever the two are, a search ends.

Python's `re` takes for ever on some patterns and texts, and keeps every other thread from running
meanwhile. So only a search that is short by its size is made in this process; the others are made
in one of their own, under a deadline.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import cast

from gate.errors import GraderFailure
from gate.records import CheckedJson, Json
from gate.text.late_pattern import late_pattern
from gate.user_code.processes import PROCESSES

SECONDS = 2.0  # for one search
_SHORT = 20_000_000  # steps of a search that is made here: 0.2 s at the worst
_MOST_TIMES = 3  # that a pattern may run out of time in a run
_CUT = 80  # characters of a pattern in a message
_REPEAT = late_pattern(r"(\*|\+|\?|\{(\d*)(,?)(\d*)\})([?+]?)")
_CLASS = late_pattern(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_FEW = 3  # repetitions that do no harm
# Back-references, (?x) and comments: not weighed.
_ODD = late_pattern(r"\\[1-9]|\(\?P=|\(\?\(|\(\?[aiLmsu]*x|\(\?#")
_MANY = 10**12

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


@dataclass(slots=True)
class _Part:
    """A part of a pattern: a group or a single character."""

    atomic: bool = False
    varies: bool = False  # it can match one text in several ways
    repeats: int = 0
    ways: int = 1

    def add(self, part: _Part) -> None:
        """`part` follows in it."""
        self.varies |= part.varies
        self.repeats += part.repeats
        self.ways = min(self.ways * part.ways, _MANY)

    def repeat(self, sign: re.Match[str]) -> bool:
        """Whether that explodes."""
        varies = self.varies and not self.atomic and sign[5] != "+"
        most = _most(sign)
        choice = sign[1] in ("*", "+", "?") or bool(sign[3])
        if varies and most <= _FEW:
            self.repeats *= int(most)
            self.ways = min(self.ways ** int(most), _MANY)
        if most == math.inf:
            self.repeats += 1
        elif most > _FEW or choice:
            self.ways = min(self.ways * (int(most) + 1), _MANY)
        self.varies = varies or (choice and sign[5] != "+")
        return varies and most > _FEW


def search(
    pattern: re.Pattern[str], text: str, start: int = 0, *, seconds: float = SECONDS
) -> tuple[int, int] | None:
    """Where it is found first, from `start` on. Raises GraderFailure when that takes too long."""
    if is_short(pattern, len(text) - start):
        match = pattern.search(text, start)
        return match and match.span()
    return _search_elsewhere(pattern, text, start, seconds)


@lru_cache(maxsize=4096)
def weigh(pattern: str) -> Weight:
    """The danger of a pattern by its text; possessive and atomic groups are not tried again."""
    open_parts = [_Part()]
    at, explodes = 0, False
    while at < len(pattern):
        sign, part = pattern[at], _Part()
        if sign == "(":
            open_parts.append(_Part(atomic=pattern.startswith("(?>", at)))
            at += 3 if pattern.startswith("(?", at) else 1
            continue
        if sign == "|":
            open_parts[-1].add(_Part(varies=True))
            open_parts[-1].ways += 1
            at += 1
            continue
        if sign == ")" and len(open_parts) > 1:
            part = open_parts.pop()
            at += 1
        else:
            at = _after_character(pattern, at)
        if repeat := _REPEAT.match(pattern, at):
            explodes |= part.repeat(repeat)
            at = repeat.end()
        part.varies &= not part.atomic or repeat is not None
        open_parts[-1].add(part)
    pattern_weight = open_parts[0]
    return Weight(explodes, pattern_weight.repeats, pattern_weight.ways)


def _after_character(pattern: str, at: int) -> int:
    """Where a character, or a set of some, that begins at `at` ends."""
    if pattern[at] == "[" and (match := _CLASS.match(pattern, at)):
        return match.end()
    return at + (2 if pattern[at] == "\\" else 1)


def is_short(pattern: re.Pattern[str], length: int) -> bool:
    """Whether a search in so many characters is made in this process."""
    if pattern.flags & re.VERBOSE or _ODD.search(pattern.pattern):
        return False
    weight = weigh(pattern.pattern)
    steps = weight.ways * float(max(2, length)) ** min(weight.repeats + 1, 30)
    return not weight.explodes and steps <= _SHORT


def _search_elsewhere(
    pattern: re.Pattern[str], text: str, start: int, seconds: float
) -> tuple[int, int] | None:
    request: list[Json] = ["match", pattern.pattern, int(pattern.flags), text, start]
    about = f"the pattern {pattern.pattern[:_CUT]!r}"
    span = _ask_process(request, about, (pattern.pattern, pattern.flags), seconds)
    return cast("tuple[int, int] | None", span and tuple(span))


def explain_elsewhere(
    module: str, how: str, schema: Json, data: Json
) -> list[tuple[list[str | int], str, str, str]]:
    """What of the data does not fit a JSON Schema whose patterns could take for ever, by a function
    `how` of `module`: path, message, rule and key of each. Raises GraderFailure when
    it takes too long.
    """
    about = "a JSON Schema with patterns"
    key = (json.dumps(schema, sort_keys=True), 0)
    mismatches = _ask_process(["explain", module, how, schema, data], about, key, SECONDS)
    return cast("list[tuple[list[str | int], str, str, str]]", mismatches)


def _ask_process(
    request: list[Json], about: str, key: tuple[str, int], seconds: float
) -> CheckedJson:
    too_long = f"{about} took longer than {seconds:g} s"
    if _ran_out[key] >= _MOST_TIMES:
        raise GraderFailure(
            f"{too_long} {_MOST_TIMES} times and is skipped from now on: simplify it"
        )
    process = PROCESSES.process_for("pattern", Path(), judges=False, threads=1, load_s=seconds)
    from gate.user_code.calling import TooLong, ask_main

    with _IN_TURN:
        try:
            return ask_main(process, request, seconds)
        except TooLong:
            _ran_out[key] += 1
            raise GraderFailure(f"{too_long}: simplify it") from None


def _most(sign: re.Match[str]) -> float:
    """How often it repeats at most."""
    if sign[1] in ("*", "+"):
        return math.inf
    if sign[1] == "?":
        return 1
    return float((sign[4] if sign[3] else sign[2]) or math.inf)
