"""Which way a sentence says that something went, and which of two numbers came first."""

from __future__ import annotations

import re
from functools import lru_cache

from gate.graders.claims.labels import Label, periods
from gate.text.late_pattern import late_pattern
from gate.text.numbers.number import Number

_REACH = 60  # characters between a number and the word that gives its direction
_RISING = (
    r"gr[eo]w\w*|growth|ris(?:e|es|en|ing)|rose|increas\w+|up|more|higher|larger|greater|bigger"
    r"|gain\w*|jump\w*|climb\w*|above|rais\w+|lift\w*|add(?:ed|s)|expensive|dearer|longer|warmer|hotter"
    r"|heavier|taller|older|soar\w*|surg\w+|widen\w*|expand\w*|extra|additional|exceed\w*"
    r"|advanc\w+|progress\w*|doubl\w+|tripl\w+|ahead|outnumber\w*|upward\w*"
)
_FALLING = (
    r"f[ae]ll(?:s|en|ing)?|dropp?\w*|declin\w+|decreas\w+|down|less|fewer|lower\w*|smaller|shr[aiu]nk\w*"
    r"|reduc\w+|cut|cuts|los[te]s?|losing|contract(?:s|ed)|cheaper|shorter|colder|cooler|lighter"
    r"|below|narrow\w*|slip\w*|slump\w*|sank|sunk|plung\w+|slid|under|behind|diminish\w*|trimm\w+|halv\w+"
    r"|eas(?:e|es|ed|ing)|downward\w*|younger|short|minus"
)
DIRECTION = late_pattern(rf"\b(?:(?P<rise>{_RISING})|(?P<fall>{_FALLING}))\b", re.IGNORECASE)
_TO = late_pattern(
    r"[^.;!?\n]{0,20}?\s*(?:\bto\b|\u2192|->|-->)\s*(?:about |roughly |around |just )?"
)
_FROM = late_pattern(r"\bfrom (?:about |roughly |around |just |a |an )?\Z", re.IGNORECASE)
_TO_BEFORE = late_pattern(r"\bto (?:about |roughly |around |just )?\Z", re.IGNORECASE)
_FROM_BETWEEN = late_pattern(
    r"[^.;!?\n]{0,40}?\bfrom (?:about |roughly |around |just )?", re.IGNORECASE
)
_EARLIER = late_pattern(
    r"\b(?:from|compared|versus|vs|against|after|was|were|usual|usually|normal|normally|previous"
    r"|previously|instead of|year ago|last year)\b",
    re.IGNORECASE,
)
_WORD = late_pattern(r"[A-Za-z]{2,}")
_BETWEEN = frozenset(["by", "about", "roughly", "around", "nearly", "some", "a", "an"])
_PAST_WORDS = (
    "earlier prior last previous previously before ago normal normally usual usually "
    "baseline original originally initially initial former formerly old past control then"
)
_PAST = frozenset(_PAST_WORDS.split())
_ORDER = {
    name: n
    for names in (
        "q1 q2 q3 q4",
        "january february march april may june july august september october november december",
        "monday tuesday wednesday thursday friday saturday sunday",
    )
    for n, name in enumerate(names.split())
}


def direction(text: str, number: Number, begin: int, end: int) -> int:
    """1: the words nearest to the number say up or more; -1: down or less; 0: neither. Only words
    between `begin` and `end` count.
    """
    best, sense = _REACH + 1, 0
    low, high = max(begin, number.start - _REACH), min(end, number.end + _REACH)
    for found in _WORD.finditer(text, low, high):
        if not (one := _sense(found[0])):
            continue
        if found.end() <= number.start:
            away = number.start - found.end()
        elif found.start() >= number.end:
            away = found.start() - number.end + 2
        else:
            continue
        if away < best:
            best, sense = away, one
    return -1 if not sense and number.value < 0 else sense


def find_direction_before(text: str, number: Number) -> int:
    """As `direction`, of "rose by 5 %" only."""
    before = text[max(0, number.start - 30) : number.start].split()
    while before and before[-1] in _BETWEEN:
        before.pop()
    return _sense(before[-1]) if before else 0


def find_direction_after(text: str, number: Number) -> int:
    """As `direction`, of "5 % more" only."""
    after = text[number.end : number.end + 20].split()
    return _sense(after[0]) if after else 0


@lru_cache(maxsize=4096)
def _sense(word: str) -> int:
    found = DIRECTION.fullmatch(word)
    return 0 if not found else 1 if found["rise"] else -1


def way(text: str, a: Number, b: Number) -> int:
    """Of two numbers that follow each other: 1 for "from a to b", -1 for "to a from b", else 0."""
    between = text[a.end : b.start]
    if len(between) > _REACH or not (
        "to " in between or "rom " in between or ">" in between or "→" in between
    ):
        return 0
    before = text[max(0, a.start - 20) : a.start]
    if _TO.fullmatch(between) and (_FROM.search(before) or "\u2192" in between or "->" in between):
        return 1
    if _FROM_BETWEEN.fullmatch(between) and _TO_BEFORE.search(before):
        return -1
    return 0


def order_of_labels(a: Label, b: Label) -> int:
    """1: a is the earlier one, -1: b is, 0: the labels do not tell."""
    when, then = periods(a.near), periods(b.near)
    for kind in ("year", "quarter", "month", "day"):
        mine, its = when.get(kind, set()), then.get(kind, set())
        if len(mine) == len(its) == 1 and mine != its:
            (x,), (y,) = mine, its
            first, second = (int(x), int(y)) if kind == "year" else (_ORDER[x], _ORDER[y])
            return 1 if first < second else -1
    past, its_past = bool(a.near & _PAST), bool(b.near & _PAST)
    return int(past) - int(its_past)


def order_in_text(text: str, a: Number, b: Number) -> int:
    """The same of two numbers of one sentence, a before b."""
    if b.start - a.end > 160 or b.start < a.end:
        return 0
    if (told := way(text, a, b)) != 0:
        return told
    between = text[a.end : b.start]
    if "\n" in between or ". " in between:
        return 0
    return -1 if _EARLIER.search(between) else 0


def is_turned(text: str, a: Number, b: Number, begin: int) -> bool:
    """Whether the sentence says "fell from 5 to 8": the way is not that of its verb."""
    told = way(text, a, b)
    if not told or a.unit != b.unit or a.value == b.value:
        return False
    start = a.start
    clause = re.split(r"[,;:]\s", text[max(begin, start - _REACH) : start])[-1]
    said = [sense for word in _WORD.findall(clause) if (sense := _sense(word))]
    rises = (b.value > a.value) is (told == 1)
    return bool(said) and rises is not (said[-1] > 0)
