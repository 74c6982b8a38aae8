"""An amount with words that say what it is: "2-year warranty", "250 g flour", "stock of 40"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gate.text.numbers.amounts import Amount, read_cents, read_unit
from gate.text.numbers.labels import is_label
from gate.text.numbers.number import Locale, Number
from gate.text.numbers.page import Page
from gate.text.numbers.required_words import (
    RequiredWords,
    has_per,
    has_required_words,
    read_required_words,
)
from gate.text.numbers.scanning import numbers
from gate.text.numbers.words import worded

_AROUND = 300  # characters on each side of a number that are read
_LONGEST = 60  # characters of such a text


class AmountWithWords(NamedTuple):
    """An amount, and the words that a text must have beside it. `text`: all of it, as written."""

    text: str
    amount: Number | Amount
    required: RequiredWords


def read_amount_with_words(text: str, locale: Locale, *, in_words: bool) -> AmountWithWords | None:
    """The only amount of a text, with up to five other words; None for any other text."""
    if len(text) > _LONGEST:
        return None
    found = numbers(text, locale) or (worded(text) if in_words else ())
    read = _read_amount(text, found) if found else None
    if read is None:
        return None
    amount, end = read
    required = read_required_words(f"{text[: found[0].start]} {text[end:]}")
    return AmountWithWords(text, amount, required) if required else None


def _read_amount(text: str, found: Sequence[Number]) -> tuple[Number | Amount, int] | None:
    """The amount, and where it ends."""
    number = found[0]
    if len(found) == 1:
        if number.unit in ("", "\u00a2") and (cents := read_cents(text, number)):
            return cents, cents.end
        if number.unit:
            return number, number.end
    if read := read_unit(text, found):
        amount, end = read
        is_name = amount.measure is None or amount.measure.dimension == "times"
        return None if is_name or end - found[-1].end == 1 else read  # "3M tape" is a name
    before = text[: number.start].split()
    counted = len(found) == 1 and before and before[-1].islower() and not is_label(before[-1])
    return (number, number.end) if counted else None


def is_about(wanted: AmountWithWords, i: int, page: Page) -> bool:
    """Whether the heads of number i's cell have these words, or its clause, its sentence, or that
    and the one before, where no other number could be meant.
    """
    required, number, text = wanted.required, page.numbers[i], page.plain
    if has_required_words(required, page.heads[i]):
        return True
    clause, sentence = page.clause_at(number.start), page.sentence_at(number.start)
    before = page.sentence_at(max(0, sentence[0] - 1))
    for begin, end in (clause, sentence, (before[0], sentence[1])):
        start, stop = max(begin, number.start - _AROUND), min(end, number.end + _AROUND)
        others = [one.start for one in page.between(start, stop) if _is_rival(one, number)]
        if others and (begin, end) == clause:
            # What follows it is about it, and what stands before all of them ("from 4 % to 5 %").
            after = min((place for place in others if place > number.start), default=stop)
            first = min(*others, number.start)
            of_all = first == number.start or text.endswith(" from ", start, first)
            return has_required_words(required, text[number.start : after]) or (
                of_all and has_required_words(required, text[start:first])
            )
        if others:
            return False
        if has_required_words(required, text[start:stop]):
            return True
        if required.per and has_per(text[number.end : stop]):
            return False  # "$1,950 per year, billed monthly"
    return False


def _is_rival(one: Number, number: Number) -> bool:
    apart = one.end <= number.start or one.start >= number.end
    return apart and one.unit == number.unit and one.maybe_date == number.maybe_date
