"""Makes wrong answers from a right one: two numbers exchanged, directions turned, a number
changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import combinations, pairwise

from gate.text.late_pattern import late_pattern
from gate.text.numbers.number import Locale
from gate.text.numbers.scanning import numbers
from gate.text.opposites import turn_statement

LONGEST = 20_000  # characters of a right answer that is taken apart
_ALL_PAIRS = 5  # figures of which each two are exchanged; of more each with its neighbour
_MOST = 12  # mutants of one kind
_TOKEN = late_pattern(r"\d(?:[\d.,' \u00a0\u202f\u2019_]{0,40}\d)?")
_MARKS: dict[Locale, str] = {"en": ".", "de": ",", "fr": ","}  # before the decimals


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The place of one number's digits in the answer, and their value as written: 1.2 for "$1.2M".
    `value`: the number itself, 1200000.
    """

    start: int
    end: int
    digits: Decimal
    decimals: int
    group: str  # what parts its thousands
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """An answer with one number changed, with its old and new value."""

    answer: str
    before: float
    after: float


def figures_of(answer: str, question: str, locale: Locale = "en") -> tuple[Figure, ...]:
    """The numbers that the answer states itself: not those of the question, none inside a word, no
    year next to other numbers.
    """
    asked = {number.value for number in numbers(question, locale)}
    figures = [
        (number, figure)
        for number in numbers(answer[:LONGEST], locale)
        if number.value not in asked
        and not answer[number.end : number.end + 1].isalnum()
        and (figure := _figure(answer, number.start, number.end, number.value, locale)) is not None
    ]
    plain = [figure for number, figure in figures if not _like_year(number.maybe_date, figure)]
    return tuple(plain or [figure for _, figure in figures])


def exchange_figures(answer: str, figures: Sequence[Figure]) -> Iterator[str]:
    """The answer with two of its numbers exchanged, for each pair."""
    few = len(figures) <= _ALL_PAIRS
    for made, (a, b) in enumerate(combinations(figures, 2) if few else pairwise(figures)):
        if made >= _MOST:
            return
        if a.digits != b.digits:
            yield (
                f"{answer[: a.start]}{answer[b.start : b.end]}{answer[a.end : b.start]}"
                f"{answer[a.start : a.end]}{answer[b.end :]}"
            )


def move_figures(answer: str, figures: Sequence[Figure], locale: Locale = "en") -> Iterator[Moved]:
    """The answer with one of its numbers 5 % larger, in the same spelling; with more decimals if
    needed: 3 becomes 3.15.
    """
    for figure in figures[:_MOST]:
        if figure.digits:
            text, digits = _larger(figure, locale)
            yield Moved(
                answer=answer[: figure.start] + text + answer[figure.end :],
                before=figure.value,
                after=figure.value * float(digits / figure.digits),
            )


def turn_directions(answer: str) -> str | None:
    """The answer with its directions turned (rose -> fell); None if it has none."""
    return turn_statement(answer[:LONGEST])


def _like_year(maybe_date: bool, figure: Figure) -> bool:
    return maybe_date and not figure.decimals and 1900 <= figure.digits <= 2100


def _figure(answer: str, start: int, end: int, value: float, locale: Locale) -> Figure | None:
    token: re.Match[str] | None = _TOKEN.search(answer, start, end)
    if token is None:  # in words
        return None
    mark = _MARKS[locale]
    whole, _, fraction = token[0].rpartition(mark)
    if not whole or (len(fraction) == 3 and whole.count(mark)):  # another locale's thousands
        whole, fraction = token[0], ""
    group = next((sign for sign in whole if not sign.isdigit()), "")
    try:
        digits = Decimal("".join(filter(str.isdecimal, whole)) + f".{fraction or 0}")
    except InvalidOperation:  # digits of some other script in the fraction
        return None
    return Figure(
        start=token.start(),
        end=token.end(),
        digits=digits,
        decimals=len(fraction),
        group=group,
        value=value,
    )


def _larger(figure: Figure, locale: Locale) -> tuple[str, Decimal]:
    wanted = figure.digits * Decimal("1.05")
    for more in range(4):
        decimals = figure.decimals + more
        digits = round(wanted, decimals)
        if Decimal("1.045") <= digits / figure.digits <= Decimal("1.055"):
            break
    text = f"{digits:,.{decimals}f}"
    whole, _, fraction = text.partition(".")
    whole = whole.replace(",", figure.group)
    return whole + (f"{_MARKS[locale]}{fraction}" if fraction else ""), digits
