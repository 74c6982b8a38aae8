"""Numbers with what they count: "5 kg" is there when 5000 g is, "3 bedrooms" when three are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from gate.text.dates import read_date
from gate.text.late_pattern import late_pattern
from gate.text.numbers import units
from gate.text.numbers.measures import (
    Measure,
    Measured,
    measure_of_key,
    measure_of_word,
    measured,
)
from gate.text.numbers.number import Locale, Number
from gate.text.numbers.ranges import joint
from gate.text.numbers.scanning import numbers
from gate.text.numbers.words import worded

_LONGEST = 60  # characters of a text that may be an amount
_NOUN = late_pattern(r"[ -](?=[a-z])([^\W\d_][\w'-]*(?: [a-z][\w'-]*){0,2})\Z")
_BESIDE = late_pattern(
    r"[ -](?:full|calendar|whole|consecutive|straight|more|additional|extra|further|solid)(?=[ -])"
    r"| ?\([a-z]+(?:[ -][a-z]+)?\)(?=[ -])"  # thirty (30) days
)
_OF_ONE = late_pattern(r" (?:of )?an?(?= )")
_ONE = late_pattern(r"(?<![\w-])(?:one|a single|an?)(?=[ -])", re.IGNORECASE)
_SINGLE = late_pattern(
    r"(?<![\w-])(?:an?|eine[rnm]?|ein|une?|una)[ -](?!second|quarter|foot|stone|time|pound)"
    r"(?P<unit>[^\W\d_]{3,12})\b(?P<half> and a half| et demie?| y media)?",
    re.IGNORECASE,
)
_THREE_QUARTERS = late_pattern(
    r"\b(?:tres cuartos de |trois quarts d['\u2019e] ?|drei ?viertel ?)(?P<unit>hora|heure|stunde)",
    re.IGNORECASE,
)
_NO_SINGLE = frozenset(("half", "of", "times", "once", "twice", "per", "fois", "veces", "mal"))
_MARKS = late_pattern(r"[*_`)]{1,3}(?= |[^\W\d_])")  # of Markdown, around the figures
_HEAD = late_pattern(r"[(\[](?P<unit>[^\W\d_]{1,8})[)\]]\W{0,6}\Z")
# "12 customers" and "12 new users" are no 12 %; not "12 versus", "12 across", "12 as".
_NO_NOUN = (
    r"(?!(?:in|of|to|for|and|or|by|per|an?|the|on|at|with|from|as|is|was|are|were|will|over|under|during"
    r"|after|before|since|than|plus|last|next|this|that|each|every|bucks|quid|which|but|if|when|while)\b)"
)
_COUNTED = late_pattern(
    rf" (?:{_NO_NOUN}[a-z][a-z-]+ ){{0,2}}{_NO_NOUN}[a-z]{{3,}}[a-rtv-z]s\b"
    r"| (?:[a-zäöüß]{3,}e[nrs]? )?(?!Prozent|Euro|Dollar)[A-ZÄÖÜ][a-zäöüß]{3,}(?:e[nr]?|er)\b"
)


_CENTS = late_pattern(
    r"[ \u00a0]?(?P<unit>\u00a2|(?:p|pence|(?:euro )?cents?|cts?|centimes|c\u00e9ntimos)\b)",
    re.IGNORECASE,
)


class Amount(NamedTuple):
    """`measure`: of a known unit. `noun`: what is counted, where there is none."""

    number: Number
    measure: Measure | None
    noun: str = ""


def read_amount(
    text: str, locale: Locale = "en", *, in_words: bool = False
) -> Number | Amount | None:
    """The number with the unit or the noun that all of a text is, or "twelve"; None for any other
    text. `in_words`: "six months" is read too.
    """
    text = text.strip()
    figures = numbers(text, locale) if len(text) <= _LONGEST else ()
    found = figures or (worded(text) if in_words and len(text) <= _LONGEST else ())
    if not found or found[0].start or read_date(text):
        return None
    number = found[0]
    if number.end == len(text) or number.unit:
        return number if number.end == len(text) and not figures else None
    amount, end = read_unit(text, found) or (None, 0)
    if amount and end == len(text):
        glued = text[number.end :]
        # "7g" may be the name of something, "7 g" and "7kg" are amounts.
        return None if len(glued) == 1 and glued.isalpha() and glued != "x" else amount
    if len(found) > 1 or read_cents(text, number):
        return None
    if amount and amount.measure and amount.measure.dimension != "times":
        return None  # "2-year warranty": no noun is counted
    noun = _NOUN.match(text, number.end)
    return Amount(number, None, noun[1]) if noun else None


def read_unit(text: str, found: Sequence[Number]) -> tuple[Amount, int] | None:
    """The amount that all these numbers are ("1 h 50 min"), and where it ends."""
    made = find_measures(text, found, [""] * len(found))
    unit = _unit(text, found[-1])
    return (Amount(*made[0]), unit.end) if unit and made[0] and not any(made[1:]) else None


def read_cents(text: str, number: Number) -> Number | None:
    """ "50 cents" as 0.50 of a currency; None where no cents follow."""
    found = _CENTS.match(text, number.end - len(number.unit))
    if found is None:
        return None
    return number._replace(
        value=number.value / 100,
        unit=found["unit"].lower(),
        step=number.step / 100,
        end=found.end(),
    )


def find_measures(
    text: str, found: Sequence[Number], columns: Sequence[str]
) -> list[tuple[Number, Measure] | None]:
    """Of each number of `text` what it measures, with its value in that unit; None: nothing known.
    `columns`: the heads above those in tables. "5 to 7 kg" are both kg, "1 h 30 min" is one.
    """
    units = [_unit(text, one) for one in found]
    made: list[tuple[Number, Measure] | None] = []
    for i, (number, column) in enumerate(zip(found, columns, strict=True)):
        unit = units[i]
        following = units[i + 1] if i + 1 < len(found) else None
        if unit:
            measure: Measure | None = unit.measure
        elif following and not number.unit and joint(text, number, found[i + 1]):
            measure = following.measure
        else:
            measure = _headed(text, number, column)
        made.append((number, measure) if measure else None)
    for i in reversed(range(len(found) - 1)):
        if (added := _added(text, (made[i], units[i]), (made[i + 1], units[i + 1]))) is not None:
            made[i], made[i + 1] = added, None
    return made


def find_single(text: str) -> Iterator[tuple[Number, Measure]]:
    """ "An hour", "a year and a half": amounts of one that no number says; not "$20 an hour"."""
    for found in _SINGLE.finditer(text):
        measure = measure_of_word(found["unit"].lower())
        words = text[max(0, found.start() - 16) : found.start()].lower().split()
        before = words[-1] if words else ""
        if measure is None or before in _NO_SINGLE or before[-1:].isdigit():
            continue
        if measure_of_word(before) or before in units.WORDS:
            continue
        value = 1.5 if found["half"] else 1.0
        yield Number(value, "", 1.0, found[0], *found.span()), measure
    for found in _THREE_QUARTERS.finditer(text):
        if measure := measure_of_word(found["unit"].lower()):
            yield Number(0.75, "", 0.0, found[0], *found.span()), measure


def counts(text: str, number: Number) -> bool:
    """Whether a noun says what a bare number counts."""
    return _COUNTED.match(text, number.end, number.end + 30) is not None


def is_of(amount: Amount, text: str, number: Number) -> bool:
    """Whether the number of `text` counts what the amount counts, or its label says so."""
    after, before = _counting(amount.noun)
    return bool(
        after.match(text, number.end, number.end + 80)
        or before.search(text, max(0, number.start - 60), number.start)
    )


def has_one(amount: Amount, text: str) -> bool:
    """Whether the text says "one" of what the amount counts."""
    after, _ = _counting(amount.noun)
    return any(after.match(text, one.end()) for one in _ONE.finditer(text))


def convert(amount: Amount, found: tuple[Number, Measure] | None) -> Number | None:
    """A measured number in the unit of the amount; None where it measures something else."""
    unit = amount.measure
    if unit is None or found is None:
        return None
    number, its = found
    if its.dimension != unit.dimension:
        return None
    if its == unit:
        return number
    step = number.step * its.factor / unit.factor
    return number._replace(value=unit.of(its, number.value), step=step, other=None)


def _unit(text: str, number: Number) -> Measured | None:
    marks = _MARKS.match(text, number.end)
    if marks and not number.unit:
        number = number._replace(end=marks.end())
    unit = measured(text, number)
    if unit is None and not number.unit and (beside := _BESIDE.match(text, number.end)):
        return measured(text, number._replace(end=beside.end()))
    if unit is None and 0 < number.value < 1 and (beside := _OF_ONE.match(text, number.end)):
        return measured(text, number._replace(end=beside.end()))  # half an hour
    return unit


def _headed(text: str, number: Number, column: str) -> Measure | None:
    if number.unit:
        return None
    if column:
        return measure_of_key(column)
    head = _HEAD.search(text, max(0, number.start - 20), number.start)
    return measure_of_key(head[0].rstrip(" :=|*")) if head else None


_Made = tuple[tuple[Number, Measure] | None, Measured | None]


def _added(text: str, first: _Made, last: _Made) -> tuple[Number, Measure] | None:
    """ "1 h 30 min": the smaller unit after the larger one is a part of the same amount."""
    if not (first[0] and last[0] and first[1]):
        return None
    (one, unit), (more, part) = first[0], last[0]
    if unit.dimension != part.dimension or not 0 <= more.value * part.factor < unit.factor:
        return None
    between = text[first[1].end : more.start]
    if one.value < 0 or not one.value.is_integer() or len(between) > len(" and "):
        return None
    if between.strip(" ,") not in ("", "and", "&", "und", "et", "y"):
        return None
    share = part.factor / unit.factor
    value = one.value + more.value * share
    return one._replace(value=value, step=more.step * share, end=more.end), unit


@lru_cache(maxsize=1024)
def _counting(noun: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What stands after such a number ("three large bedrooms"), and before it ("Bedrooms: 3")."""
    words = noun.split()
    last = words[-1]
    stem = last[:-1] if len(last) > 3 and last.endswith("s") and not last.endswith("ss") else last
    written = r"[\s-]+".join([*map(re.escape, words[:-1]), rf"{re.escape(stem)}(?:e?s)?"])
    written = written.replace(r"[\s-]+per[\s-]+", r"(?:\s*/\s*|\s(?:per|an?|each|every)\s)")
    between = rf"(?:{_NO_NOUN}[^\W\d_][\w-]+[ ]){{0,2}}"
    return (
        re.compile(rf"[\s*_-]+{between}{written}(?!\w)", re.IGNORECASE),
        re.compile(rf"(?<![\w-]){written}\b[*_ ]{{0,3}}[:=|][*_ |]{{0,6}}\Z", re.IGNORECASE),
    )
