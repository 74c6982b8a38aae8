"""The operations that words can name, and what they make of numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from gate.graders.claims.labels import Label
from gate.text.late_pattern import late_pattern
from gate.text.numbers.measures import Measure
from gate.text.numbers.number import PARTS, Number

CALENDAR = (  # words, and how many of one are in another
    *(("year", 12.0), ("annual", 12.0), ("annually", 12.0), ("yearly", 12.0), ("month", 12.0)),
    *(("monthly", 12.0), ("week", 7.0), ("week", 52.0), ("day", 24.0), ("day", 365.0)),
    *(("year", 52.0), ("year", 365.0), ("hour", 60.0), ("minute", 60.0), ("weekly", 52.0)),
)
_TOKEN = late_pattern(r"%|\w+")


class Operand(NamedTuple):
    """A number that a calculation may use. `amount`: percentages as parts of one."""

    amount: float
    kind: str  # "%", "money", the dimension of its unit, or "" for a bare number
    unit: Measure | None
    number: Number
    label: Label | None = None
    place: int = -1  # in the answer; -1: in the sources
    source: int = -1  # in the sources; -1: unknown


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Operation:
    name: str
    words: re.Pattern[str]


def base(one: Operand) -> float:
    """Its amount in the base unit of its dimension."""
    return one.amount * one.unit.factor if one.unit is not None else one.amount


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
        if unit is not None and unit.dimension == "money":  # cents
            amount, unit, kind = amount * unit.factor, None, "money"
            return Operand(amount, kind, unit, number, label, place, source)
        kind = "money" if number.unit else unit.dimension if unit else ""
    return Operand(amount, kind, unit, number, label, place, source)


def _words(pattern: str) -> re.Pattern[str]:
    """One word, or two with a space between, in lower case."""
    return late_pattern(pattern)


_MORE = (
    "more|less|fewer|higher|lower|larger|smaller|greater|above|below|up|down|cheaper|dearer"
    "|expensive|longer|shorter|better|worse|faster|slower|heavier|lighter|extra|additional"
    "|(?!other|rather)\\w+er than"
)
_MOVED = (
    "gr[eo]w\\w*|growth|ris(?:e|es|en|ing)|rose|increas\\w+|f[ae]ll(?:s|en|ing)?|dropp?\\w*|decreas\\w+"
    "|declin\\w+|chang\\w+|gain\\w*|los[ets]\\w*|loss|shr[aiu]nk\\w*|reduc\\w+|improv\\w+|jump\\w*|climb\\w*"
    "|lift\\w*|rais\\w+|cut|cuts|widen\\w*|narrow\\w*|contract(?:s|ed)|expand\\w*|slipp?\\w*|mov(?:ed|es)"
    "|progress\\w*|surg\\w+|soar\\w*|went|go(?:es|ing)? (?:up|down)|eas(?:ed|es)|worsen\\w*"
    "|advanc\\w+|plung\\w+"
)
CHANGE = Operation(name="change", words=_words(f"{_MORE}|{_MOVED}"))
RATIO = Operation(
    name="ratio",
    words=_words(
        r"ratio|divid\w+|per (?!cent)\w+|share|proportion|fraction|percentage|rate|margin"
        r"|out of|of the|of all|of total|of (?:its|their|our|his|her|revenue|sales)|accounts? for"
        r"|accounted for|represent\w*|makes? up|made up|times|what (?:%|percent)|each|full|hit"
    ),
)
DIFFERENCE = Operation(
    name="difference",
    words=_words(
        f"{_MORE}|{_MOVED}|differ\\w*|gap|minus|subtract\\w*|remain\\w*|left|net|margin|spread"
        "|exceed\\w*|profit|balance|savings?|saved?|deduct\\w*|ahead|behind|won|win|beats?|lead|led"
        "|room|free|spare|instead|still|needed|without|rest|not|elsewhere|others?|fail\\w*|miss\\w*|remainder|before|earlier|later"
    ),
)
SUM = Operation(
    name="sum",
    words=_words(
        r"sum|totals?|total(?:l?ed|l?ing)|combin\w+|together|altogether|in all|plus|add\w*"
        r"|both|between them|overall|including|incl|all in|whole|entire"
        r"|all (?:of|three|four|regions?)"
    ),
)
PRODUCT = Operation(
    name="product",
    words=_words(
        r"product|times|multipl\w+|each|apiece|per (?!cent)\w+|(?:%|percent|cent) of|at 0|twice"
        r"|double|whole|cost|worth"
    ),
)
AVERAGE = Operation(name="average", words=_words("averag\\w*|mean"))
OPERATIONS = (
    SUM,
    AVERAGE,
    DIFFERENCE,
    PRODUCT,
    RATIO,
    CHANGE,
)


@lru_cache(maxsize=256)  # a sentence has several claims, which are tried several times
def operations_named(text: str) -> tuple[Operation, ...]:
    """The operations that words of the text name."""
    words = ["0" if one.isdigit() else one for one in _TOKEN.findall(text.casefold())]
    phrases = {*words, *map(" ".join, pairwise(words))}
    named = {k for meant in map(_meant, phrases) for k in meant}
    return tuple([OPERATIONS[k] for k in sorted(named)])


@lru_cache(maxsize=8192)
def _meant(phrase: str) -> tuple[int, ...]:
    return tuple(k for k, one in enumerate(OPERATIONS) if one.words.fullmatch(phrase))
