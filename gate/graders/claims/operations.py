"""The operations that words can name, and what they make of numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from math import fsum
from typing import NamedTuple

from gate.graders.claims.labels import Label
from gate.text.numbers.measures import Measure
from gate.text.numbers.number import PARTS, Number

_TOKEN = re.compile(r"%|\w+")
_MOST_PAIRED = 5  # more operands are paired with their neighbours only


class Operand(NamedTuple):
    """A number that a calculation may use. `amount`: percentages as parts of one."""

    amount: float
    kind: str  # "%", "money", the dimension of its unit, or "" for a bare number
    unit: Measure | None
    number: Number
    label: Label | None = None
    place: int = -1  # in the answer; -1: in the sources
    source: int = -1  # in the sources; -1: unknown


class Result(NamedTuple):
    """What an operation gives. `part`: in parts of one (0.12 for 12 %), else in `unit`. Dozens are
    made for each open number, so it is the cheapest of records.
    """

    value: float
    part: bool
    unit: Measure | None = None


Order = Callable[[Operand, Operand], int]  # 1: the first is the earlier or the base; -1; 0 unknown


@dataclass(frozen=True, slots=True)
class Asked:
    """What the sentence says of the claim: which way it went, and whether it is points."""

    sense: int  # 1: up or more, -1: down or less, 0: neither
    order: Order


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    name: str
    words: re.Pattern[str]
    results: Callable[[Sequence[Operand], Asked], Iterator[Result]]


def operand(
    number: Number,
    unit: Measure | None,
    label: Label | None = None,
    place: int = -1,
    source: int = -1,
) -> Operand:
    if number.unit in PARTS:
        amount, kind = number.value / PARTS[number.unit], "%"
    else:
        amount = number.value
        kind = "money" if number.unit else unit.dimension if unit else ""
    return Operand(amount, kind, unit, number, label, place, source)


def _unified(some: Sequence[Operand]) -> tuple[list[float], Measure | None] | None:
    """The amounts in one unit; None: amounts are added to amounts, percentages to percentages."""
    kinds = {one.kind for one in some}
    if "%" in kinds and len(kinds) > 1:
        return None
    if len(kinds - {""}) > 1:
        return None
    units = {one.unit for one in some if one.unit is not None}
    if len(units) < 2:
        return [one.amount for one in some], next(iter(units), None)
    base = Measure(next(iter(units)).dimension, 1.0)
    return [one.amount * (one.unit.factor if one.unit else 1.0) for one in some], base


def _sum(some: Sequence[Operand], asked: Asked) -> Iterator[Result]:
    if len(some) > 1 and (unified := _unified(some)):
        amounts, unit = unified
        yield Result(fsum(amounts), some[0].kind == "%", unit)


def _average(some: Sequence[Operand], asked: Asked) -> Iterator[Result]:
    for total in _sum(some, asked):
        yield total._replace(value=total.value / len(some))


def _from_base(
    some: Sequence[Operand], asked: Asked
) -> Iterator[tuple[float, float, bool, Measure | None]]:
    """(base, other, whether that order is known, unit) of each pair that goes the way told."""
    for a, b in _pairs(some):
        unified = _unified((a, b))
        if unified is None:
            continue
        (x, y), unit = unified
        order = asked.order(a, b)
        for base, other, forth in ((x, y, 1), (y, x, -1)):
            if order in (0, forth) and (not asked.sense or (other - base) * asked.sense >= 0):
                yield base, other, order != 0, unit


def _difference(some: Sequence[Operand], asked: Asked) -> Iterator[Result]:
    part = bool(some) and some[0].kind == "%"
    for base, other, _, unit in _from_base(some, asked):
        yield Result(other - base, part, unit)


def _change(some: Sequence[Operand], asked: Asked) -> Iterator[Result]:
    for base, other, _, _ in _from_base(some, asked):
        if base:
            yield Result((other - base) / abs(base), part=True)


def _product(some: Sequence[Operand], asked: Asked) -> Iterator[Result]:
    for a, b in _pairs(some):
        yield Result(a.amount * b.amount, a.kind == b.kind == "%", a.unit or b.unit)


def _ratio(some: Sequence[Operand], asked: Asked) -> Iterator[Result]:
    if len(some) > _MOST_PAIRED:
        return
    for a, b in _pairs(some):
        if not (a.amount and b.amount):
            continue
        unified = _unified((a, b))
        x, y = unified[0] if unified else (a.amount, b.amount)
        for value in (x / y, y / x):
            yield Result(value, part=False)
            if unified:
                yield Result(value, part=True)


def _times(some: Sequence[Operand], asked: Asked) -> Iterator[Result]:
    """How many times as much; a fall is a part of one."""
    for a, b in combinations(some[: _MOST_PAIRED + 3], 2):
        unified = _unified((a, b))
        if unified and all(unified[0]):
            (x, y), _ = unified
            yield Result(max(x / y, y / x, key=abs), part=False)
            yield Result(min(x / y, y / x, key=abs), part=False)


def _pairs(some: Sequence[Operand]) -> Iterator[tuple[Operand, Operand]]:
    return combinations(some, 2) if len(some) <= _MOST_PAIRED else pairwise(some)


def _words(pattern: str) -> re.Pattern[str]:
    """One word, or two with a space between, in lower case."""
    return re.compile(pattern)


_MORE = (
    "more|less|fewer|higher|lower|larger|smaller|greater|above|below|up|down|cheaper|dearer"
    "|expensive|longer|shorter|better|worse|faster|slower|heavier|lighter|extra|additional"
    "|(?!other|rather)\\w+er than"
)
_MOVED = (
    "gr[eo]w\\w*|growth|ris(?:e|es|en|ing)|rose|increas\\w+|f[ae]ll(?:s|en|ing)?|dropp?\\w*|decreas\\w+"
    "|declin\\w+|chang\\w+|gain\\w*|los[ets]\\w*|loss|shr[aiu]nk\\w*|reduc\\w+|improv\\w+|jump\\w*|climb\\w*"
    "|lift\\w*|rais\\w+|cut|cuts|widen\\w*|narrow\\w*|contract(?:s|ed)|expand\\w*|slipp?\\w*|mov(?:ed|es)"
    "|surg\\w+|soar\\w*|went|go(?:es|ing)? (?:up|down)|eas(?:ed|es)|worsen\\w*|advanc\\w+|plung\\w+"
)
TIMES = Operation(name="times", words=_words("(?!x)x"), results=_times)
CHANGE = Operation(name="change", words=_words(f"{_MORE}|{_MOVED}"), results=_change)
RATIO = Operation(
    name="ratio",
    words=_words(
        r"ratio|divid\w+|per (?!cent)\w+|share|proportion|fraction|percentage|rate|margin"
        r"|out of|of the|of all|of total|of (?:its|their|our|his|her|revenue|sales)|accounts? for"
        r"|accounted for|represent\w*|makes? up|made up|times|what (?:%|percent)|each|full|hit"
    ),
    results=_ratio,
)
DIFFERENCE = Operation(
    name="difference",
    words=_words(
        f"{_MORE}|{_MOVED}|differ\\w*|gap|minus|subtract\\w*|remain\\w*|left|net|margin|spread"
        "|exceed\\w*|profit|balance|savings?|saved?|deduct\\w*|ahead|behind|won|win|beats?|lead|led"
        "|room|free|spare|instead|still|needed|without|rest|not"
    ),
    results=_difference,
)
SUM = Operation(
    name="sum",
    words=_words(
        r"sum|totals?|total(?:l?ed|l?ing)|combin\w+|together|altogether|in all|plus|add\w*"
        r"|both|between them|overall|all in|whole|entire|all (?:of|three|four|regions?)"
    ),
    results=_sum,
)
OPERATIONS = (
    SUM,
    Operation(name="average", words=_words("averag\\w*|mean"), results=_average),
    DIFFERENCE,
    Operation(
        name="product",
        words=_words(
            r"product|times|multipl\w+|each|apiece|per (?!cent)\w+|(?:%|percent|cent) of|at|twice"
            r"|double|whole|cost|worth"
        ),
        results=_product,
    ),
    RATIO,
    CHANGE,
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
