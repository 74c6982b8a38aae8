"""The operations that words can name, and what they make of numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from math import fsum
from typing import NamedTuple

from gate.text.numbers.number import PARTS, Number

_TOKEN = re.compile(r"%|\w+")
_MOST_PAIRED = 4  # more operands are paired with their neighbours only


class Result(NamedTuple):
    """What an operation gives. `part`: in parts of one (0.12 for 12 %), else in the operands'
    unit. Dozens are made for each open number, so it is the cheapest of records.
    """

    value: float
    part: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    words: re.Pattern[str]
    results: Callable[[Sequence[Number]], Iterator[Result]]


def _sum(numbers: Sequence[Number]) -> Iterator[Result]:
    if len(numbers) > 1 and _alike(*numbers):
        yield Result(fsum(map(_amount, numbers)), _is_part(numbers[0]))


def _average(numbers: Sequence[Number]) -> Iterator[Result]:
    for total in _sum(numbers):
        yield Result(total.value / len(numbers), total.part)


def _difference(numbers: Sequence[Number]) -> Iterator[Result]:
    for a, b in _pairs(numbers):
        if _alike(a, b):
            yield Result(_amount(a) - _amount(b), _is_part(a))


def _product(numbers: Sequence[Number]) -> Iterator[Result]:
    for a, b in _pairs(numbers):
        yield Result(_amount(a) * _amount(b), _is_part(a) and _is_part(b))


def _ratio(numbers: Sequence[Number]) -> Iterator[Result]:
    for a, b in _both_ways(numbers):
        value = _amount(a) / _amount(b)
        yield Result(value, part=False)
        if _alike(a, b):
            yield Result(value, part=True)


def _change(numbers: Sequence[Number]) -> Iterator[Result]:
    for a, b in _both_ways(numbers):
        if _alike(a, b):
            yield Result((_amount(b) - _amount(a)) / abs(_amount(a)), part=True)


def _pairs(numbers: Sequence[Number]) -> Iterator[tuple[Number, Number]]:
    return combinations(numbers, 2) if len(numbers) <= _MOST_PAIRED else pairwise(numbers)


def _both_ways(numbers: Sequence[Number]) -> Iterator[tuple[Number, Number]]:
    """Pairs (a, b) without a zero a divisor could be."""
    if len(numbers) > _MOST_PAIRED:
        return
    for a, b in _pairs(numbers):
        if a.value and b.value:
            yield a, b
            yield b, a


def _alike(*numbers: Number) -> bool:
    """Amounts are added to amounts, percentages to percentages."""
    return len(set(map(_is_part, numbers))) == 1


def _is_part(number: Number) -> bool:
    return number.unit in PARTS


def _amount(number: Number) -> float:
    return number.value / PARTS[number.unit] if number.unit in PARTS else number.value


def _words(pattern: str) -> re.Pattern[str]:
    """One word, or two with a space between, in lower case."""
    return re.compile(pattern)


_MORE = "more|less|fewer|higher|lower|larger|smaller|greater|above|below|up|down"
_MOVED = (
    "gr[eo]w\\w*|growth|ris(?:e|es|en|ing)|rose|increas\\w+|f[ae]ll(?:s|en|ing)?|dropp?\\w*|decreas\\w+"
    "|declin\\w+|chang\\w+|gain\\w*|los[ets]\\w*|loss|shr[aiu]nk\\w*|reduc\\w+|improv\\w+|jump\\w*|climb\\w*"
)
OPERATIONS = (
    Operation(
        words=_words(
            r"sum|totals?|total(?:l?ed|l?ing)|combined|together|altogether|in all|plus|add\w*"
        ),
        results=_sum,
    ),
    Operation(words=_words("average\\w*|averaging|mean"), results=_average),
    Operation(
        words=_words(
            f"{_MORE}|{_MOVED}|differ\\w*|gap|minus|subtract\\w*|remain\\w*|left|net|margin|spread"
            "|exceed\\w*|profit|balance|savings?|saved|deduct\\w*|ahead|behind"
        ),
        results=_difference,
    ),
    Operation(
        words=_words(
            r"product|times|multipl\w+|each|apiece|per (?!cent)\w+|(?:%|percent|cent) of|at"
        ),
        results=_product,
    ),
    Operation(
        words=_words(
            r"ratio|divid\w+|per (?!cent)\w+|share|proportion|fraction|percentage|rate|margin"
            r"|out of|of the|of all|of total|accounts? for|accounted for|represent\w*|makes? up"
            r"|times|what (?:%|percent)|each"
        ),
        results=_ratio,
    ),
    Operation(words=_words(f"{_MORE}|{_MOVED}"), results=_change),
)


@lru_cache(maxsize=256)  # a sentence has several claims, which are tried several times
def operations_named(text: str) -> tuple[Operation, ...]:
    """The operations that words of the text name."""
    words = _TOKEN.findall(text.casefold())
    named = {k for phrase in words for k in _meant(phrase)}
    named.update(k for a, b in pairwise(words) for k in _meant(f"{a} {b}"))
    return tuple(OPERATIONS[k] for k in sorted(named))


@lru_cache(maxsize=8192)
def _meant(phrase: str) -> tuple[int, ...]:
    return tuple(k for k, one in enumerate(OPERATIONS) if one.words.fullmatch(phrase))
