"""Which numbers of an answer state an expected one: value, unit, and what is counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gate.text.numbers import amounts
from gate.text.numbers.agreement import agrees, read_whole, stated
from gate.text.numbers.amounts import Amount, read_amount, read_in_words
from gate.text.numbers.names import is_card
from gate.text.numbers.number import Locale, Number, Sign
from gate.text.numbers.page import Labels, Page

Expected = Number | Amount
_LAST_DAY = 31
_LONGEST_MONTH = 14  # characters between a day and its year: " of September "


@dataclass(frozen=True, slots=True)
class Comparing:
    """The options of `agrees` for each fact of a case."""

    abs_tol: float
    sign: Sign
    rounding: bool | None
    percent_as_number: bool
    locale: Locale
    words: bool

    def read(self, value: float | str) -> Expected | None:
        """What a fact expects: a number, "$1.2M", "5 kg" or "3 bedrooms"; None: it is a text."""
        found = stated(value, self.locale)
        if found is not None or not isinstance(value, str):
            return found
        return read_amount(value, self.locale) or (read_in_words(value) if self.words else None)

    def read_whole(self, text: str) -> Number | None:
        """The number that all of a text is, also of one that could be a name."""
        return read_whole(text, self.locale)

    def find_all(
        self, wanted: Sequence[Expected], page: Page, near: Labels, rel_tol: float
    ) -> Iterator[int]:
        """Which numbers of the page state one of those; numbers in words are read last."""
        if near:
            for i in page.near(near):
                if self._fits(i, page.numbers[i], page, wanted, rel_tol):
                    yield i
            return
        for i, number in enumerate(page.figures):
            if self._fits(i, number, page, wanted, rel_tol) and not _only_refers(number, page):
                yield i
        for i in range(len(page.figures), len(page.numbers)):
            if self._fits(i, page.numbers[i], page, wanted, rel_tol):
                yield i

    def _fits(
        self, i: int, number: Number, page: Page, wanted: Sequence[Expected], rel_tol: float
    ) -> bool:
        for one in wanted:
            if isinstance(one, Amount):
                if self._measures(i, number, page, one, rel_tol):
                    return True
            elif self._agrees(number, one, rel_tol) and _may_be(i, number, page, one):
                return True
        return False

    def _measures(self, i: int, number: Number, page: Page, wanted: Amount, rel_tol: float) -> bool:
        """Whether a number is the amount: in the same or another unit of its kind, or exactly as
        many of the same noun.
        """
        if wanted.noun:
            exact = not number.unit and agrees(number, wanted.number)
            return exact and amounts.is_of(wanted, page.plain, number)
        if number.text == page.text.strip(" .*\n"):  # the answer is nothing but a number
            return self._agrees(number, wanted.number, rel_tol)
        found = amounts.convert(wanted, page.amounts[i])
        return found is not None and self._agrees(found, wanted.number, rel_tol)

    def _agrees(self, number: Number, expected: Number, rel_tol: float) -> bool:
        return agrees(
            number,
            expected,
            rel_tol=rel_tol,
            abs_tol=self.abs_tol,
            sign=self.sign,
            rounding=self.rounding,
            percent_as_number=self.percent_as_number,
        )


make_comparing = lru_cache(maxsize=16)(Comparing)  # the same for each case of a suite


def get_value(wanted: Expected) -> float:
    """To look for the nearest number that is there."""
    return wanted.number.value if isinstance(wanted, Amount) else wanted.value


def _only_refers(number: Number, page: Page) -> bool:
    """ "section 6", "the card ending in 4417" and "on 5 March 2024" are no 6, 4417 or 5 where the
    answer has other numbers: other ones than dates beside a day.
    """
    if number.maybe_date and number.value <= _LAST_DAY and number.text[:1] != "#":
        is_day = page.text[number.start - 1 : number.start] != "#"
        return is_day and not all(
            one.maybe_date or _is_its_year(one, number) for one in page.numbers
        )
    refers = number.refers or (number.unit == "" and is_card(page.text, number.start))
    return refers and len(page.numbers) > 1


def _is_its_year(number: Number, day: Number) -> bool:
    """ "14 July 1789", "July 14, 1789"."""
    apart = number.start - day.end
    return 0 < apart <= _LONGEST_MONTH and number.text.isdecimal() and len(number.text) == 4


def _may_be(i: int, number: Number, page: Page, expected: Number) -> bool:
    """12 kg, 12x and 12 customers are neither 12 % nor $12."""
    if not expected.unit or number.unit:
        return True
    return page.amounts[i] is None and not amounts.counts(page.plain, number)
