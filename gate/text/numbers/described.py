"""An amount with words that say what it is: "2-year warranty", "250 g flour", "$5 per month"."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gate.text.late_pattern import late_pattern
from gate.text.numbers.amounts import Amount, read_cents
from gate.text.numbers.measures import measure_of_word, measured
from gate.text.numbers.number import Locale, Number
from gate.text.numbers.page import Page
from gate.text.numbers.ranges import joint
from gate.text.numbers.scanning import numbers
from gate.text.numbers.words import worded

_LONGEST = 60  # characters of such a text
_MOST_WORDS = 4
_WORD = late_pattern(
    r"(?P<per>/ ?|\b(?:per|an?|each|every|pro|par|por|je) (?=\w+))?(?P<word>[^\W\d_]+)"
)
_LIGHT_WORDS = (
    "the a an of in for on at to is are was were be with and or s per each every de du des la le"
    " les el los las del der die das den dem ein eine von mit für pro par por je et y und"
)
_LIGHT = frozenset(_LIGHT_WORDS.split())
# Said in many ways; not needed where another word says what it is.
_VAGUE = frozenset(("period", "window", "time", "duration", "term", "limit", "amount", "total"))
_OFTEN = {
    **dict.fromkeys(("hourly", "stündlich"), "hour"),
    **dict.fromkeys(("daily", "täglich", "nightly"), "day"),
    **dict.fromkeys(("weekly", "wöchentlich"), "week"),
    **dict.fromkeys(("monthly", "monatlich", "mensuel", "mensual"), "month"),
    **dict.fromkeys(("quarterly", "vierteljährlich"), "quarter"),
    **dict.fromkeys(
        ("yearly", "annual", "annually", "annum", "jährlich", "annuel", "anual"), "year"
    ),
}


class Described(NamedTuple):
    """`words`: all of them belong to it, by their beginnings; `per`: "per month" and its like."""

    text: str
    amount: Number | Amount
    words: tuple[str, ...]
    per: tuple[str, ...] = ()


def read_described(text: str, locale: Locale, *, in_words: bool) -> Described | None:
    """The only amount of a text, with one to four other words; None for any other text."""
    if len(text) > _LONGEST:
        return None
    found = numbers(text, locale) or (worded(text) if in_words else ())
    if len(found) != 1:
        return None
    number = found[0]
    amount: Number | Amount = number
    end = number.end
    if number.unit in ("", "\u00a2") and (cents := read_cents(text, number)):
        amount, end = cents, cents.end
    elif not number.unit:
        unit = measured(text, number)
        if unit is None or unit.measure.dimension == "times" or unit.end - end == 1:
            return None  # "3M tape" is a name
        amount, end = Amount(number, unit.measure), unit.end
    words, per = _words(f"{text[: number.start]} {text[end:]}")
    telling = [word for word in words if word not in _VAGUE] or words
    if amount is not number and not words and not per and isinstance(amount, Number):
        return Described(text, amount, ())  # "50 cents"
    if not 0 < len(telling) + len(per) <= _MOST_WORDS:
        return None
    return Described(text, amount, tuple(telling), tuple(per))


def is_about(wanted: Described, number: Number, page: Page) -> bool:
    """Whether the clause of a number has these words; or its sentence, or the one before, where no
    other number of this kind could be meant.
    """
    start, end = page.clause_at(number.start)
    inside = [one for one in page.numbers if start <= one.start < end and _is_rival(one, number)]
    if inside:
        return any(
            _has_words(wanted, page.plain[at:to]) for at, to in _beside(number, inside, page)
        )
    if _has_words(wanted, page.plain[start:end]):
        return True
    if wanted.per and _words(page.plain[start:end])[1]:
        return False  # "$1,950 per year, billed monthly"
    start, end = page.sentence_at(number.start)
    if any(start <= one.start < end and _is_rival(one, number) for one in page.numbers):
        return False
    if _has_words(wanted, page.plain[start:end]):
        return True
    before, _ = page.sentence_at(max(0, start - 1))
    if any(before <= one.start < start for one in page.numbers):
        return False
    return _has_words(wanted, page.plain[before:end])


def _beside(number: Number, others: list[Number], page: Page) -> list[tuple[int, int]]:
    """The parts of a clause with several numbers that are about this one: what follows it, and what
    stands before the first of them where they are "from 4 % to 5 %".
    """
    start, end = page.clause_at(number.start)
    after = min((one.start for one in others if one.start > number.start), default=end)
    before = [one for one in others if one.start < number.start]
    if not before:
        return [(number.start, after), (start, number.end)]
    first = min(before, key=lambda one: one.start)
    if joint(page.plain, first, number):
        return [(number.start, after), (start, first.start)]
    return [(number.start, after)]


def _is_rival(one: Number, number: Number) -> bool:
    apart = one.end <= number.start or one.start >= number.end
    return apart and not one.maybe_date and one.unit == number.unit


def _words(text: str) -> tuple[list[str], list[str]]:
    """The words that tell something, and those after "per"; "monthly" is "per month"."""
    words: list[str] = []
    per: list[str] = []
    for found in _WORD.finditer(text):
        word = found["word"]
        if often := _OFTEN.get(word.lower()):
            per.append(often)
        elif found["per"] and found["per"] not in ("a ", "an "):
            per.append(word)
        elif word.lower() not in _LIGHT:
            words.append(word)
    return words, per


def _has_words(wanted: Described, text: str) -> bool:
    words, per = set(), set()
    for found in _WORD.finditer(text):
        often = _OFTEN.get(found["word"].lower())
        words.add(often or found["word"])
        if often or found["per"]:
            per.add(often or found["word"])
    return all(any(_is_form(one, word) for word in words) for one in wanted.words) and all(
        any(_is_form(one, word) for word in per) for one in wanted.per
    )


@lru_cache(maxsize=4096)
def _is_form(wanted: str, word: str) -> bool:
    """ "probationary" is a form of "probation", "gigabyte" is the unit "GB"."""
    if (unit := measure_of_word(wanted)) is not None:
        return measure_of_word(word) == unit
    wanted, word = wanted.lower(), word.lower()
    if len(wanted) < 4:
        return word in (wanted, f"{wanted}s", f"{wanted}es")
    return word.startswith(wanted[: max(4, len(wanted) - 3)])
