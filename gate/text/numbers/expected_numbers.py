"""Which numbers of an answer state an expected one: value, unit, and what is counted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from gate.text.denial import is_denied
from gate.text.late_pattern import late_pattern
from gate.text.numbers import amounts
from gate.text.numbers.agreement import agrees, read_whole, stated
from gate.text.numbers.amounts import Amount, read_amount
from gate.text.numbers.amounts_with_words import AmountWithWords, is_about, read_amount_with_words
from gate.text.numbers.labels import only_names
from gate.text.numbers.number import PARTS, Locale, Number, Sign
from gate.text.numbers.page import Labels, Page
from gate.text.numbers.ranges import joint
from gate.text.numbers.scanning import numbers

_LONGEST_SPAN = 40  # characters of a range

_VERBS = (
    r"fell|fall(?:s|en|ing)?|drop(?:s|ped|ping)?|declin(?:e[sd]?|ing)|decreas(?:e[sd]?|ing)|shr[aiu]nk(?:en|s)?"
    r"|slipp?(?:ed|s)|sank|sunk|slid|slump(?:ed|s)|plunged|plummeted|tumbled|lost|lower(?:ed)?|reduced|cut|down"
    r"|contracted|dipped|retreated|eased|loss(?:es)?|deficit|decline|decrease|reduction|shortfall"
    r"|sank(?:en)?|fiel(?:en)?|schrumpfte[n]?|sinkt|fällt|verlor(?:en)?|rückgang|verlust"
    r"|baiss(?:é|e|ent|er)|recul(?:é|e|er)|chut(?:é|e|er)|diminu(?:é|e|er)|perdu|perte|baisse|recul"
    r"|cay(?:ó|eron)|caíd[oa]|baj(?:ó|aron|ado)|disminuy(?:ó|eron)|descend(?:ió|ieron)|redujo|pérdida|caída"
)
_FALLS = late_pattern(
    rf"(?<!not )(?<!n't )\b(?:{_VERBS})(?: by| of| um| von| de| d'| en| del)?"
    r"(?: (?:an?|un|some|about|around|roughly|nearly|almost|just|another|over|rund|etwa|environ))*"
    r" ?\Z",
    re.IGNORECASE,
)
_DEGREES = late_pattern(r"[ -]?(?:°|degrees?|Grad|degrés?|grados?)(?! ?[A-Z])")
_BELOW = late_pattern(
    r"[^.;\n]{0,24} (?:below zero|below freezing|unter null|bajo cero|(?:en dessous de|sous) zéro)",
    re.IGNORECASE,
)
_LESS = late_pattern(
    r" (?:lower|less|fewer|down|drop|declines?|decrease|fall|reduction|loss|below zero|weniger"
    r"|niedriger|gesunken|gefallen|zurückgegangen|Rückgang|de moins|menos|bajo cero|unter null)\b",
    re.IGNORECASE,
)


class Span(NamedTuple):
    """ "5-7 days": both ends have to stand there, joined."""

    text: str
    low: Number | Amount
    high: Number | Amount


Expected = Number | Amount | Span | AmountWithWords


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
        return (
            read_amount(value, self.locale, in_words=self.words)
            or self._read_span(value)
            or read_amount_with_words(value, self.locale, in_words=self.words)
        )

    def _read_span(self, text: str) -> Span | None:
        found = numbers(text, self.locale) if len(text) <= _LONGEST_SPAN else ()
        if len(found) != 2 or found[0].start or not joint(text, *found):
            return None
        low: Number | Amount | None = found[0]
        high: Number | Amount | None = found[1]
        if unit := text[found[1].end :]:
            low, high = (read_amount(f"{one.value:g}{unit}", self.locale) for one in found)
        if low is None or high is None or found[0].value >= found[1].value:
            return None
        return Span(text, low, high)

    def read_whole(self, text: str) -> Number | None:
        """The number that all of a text is, also of one that could be a name."""
        return read_whole(text, self.locale)

    def get_texts(self, wanted: Sequence[Expected]) -> tuple[str, ...]:
        """Those that state the same where they stand as they are written."""
        return tuple(one.text for one in wanted if isinstance(one, (AmountWithWords, Span)))

    def find_all(
        self, wanted: Sequence[Expected], page: Page, near: Labels, rel_tol: float
    ) -> Iterator[int]:
        """Which numbers of the page state one of those; numbers in words are read last."""
        candidates = ((i, page.numbers[i]) for i in page.near(near)) if near else page.each_number()
        for i, number in candidates:
            if (
                self._fits(i, number, page, wanted, rel_tol)
                and not is_denied(page.plain, number.start, number.end, counted=True)
                and (near or not only_names(page.plain, number))
            ):
                yield i
        for one in () if near else wanted:
            if isinstance(one, Amount):
                yield from self._find_single(one, page, rel_tol)

    def _find_single(self, wanted: Amount, page: Page, rel_tol: float) -> Iterator[int]:
        """ "An hour" for an hour, "one child" for 1 child: not among the page's numbers."""
        if wanted.noun and wanted.number.value == 1 and amounts.has_one(wanted, page.plain):
            yield len(page.numbers)
        for i, single in enumerate(page.single if wanted.measure else (), len(page.numbers)):
            found = amounts.convert(wanted, single)
            if found and self._agrees(found, wanted.number, rel_tol):
                yield i

    def _fits(
        self, i: int, number: Number, page: Page, wanted: Sequence[Expected], rel_tol: float
    ) -> bool:
        for one in wanted:
            if isinstance(one, Number):
                if self._is_number(i, number, page, one, rel_tol):
                    return True
            elif isinstance(one, Amount):
                if self._is_amount(i, number, page, one, rel_tol):
                    return True
            elif isinstance(one, AmountWithWords):
                if self._is_described(i, number, page, one, rel_tol):
                    return True
            elif self._is_span(i, number, page, one, rel_tol):
                return True
        return False

    def _is_described(
        self, i: int, number: Number, page: Page, wanted: AmountWithWords, rel_tol: float
    ) -> bool:
        """A bare whole number ("reorder point 40") is meant exactly, and counts no unit."""
        one = wanted.amount
        if isinstance(one, Number) and not one.unit:
            if page.amounts[i] or number.maybe_date != one.maybe_date:
                return False
            rel_tol = 0.0 if one.step == 1.0 else rel_tol
        return self._fits(i, number, page, (one,), rel_tol) and is_about(wanted, i, page)

    def _is_span(self, i: int, number: Number, page: Page, wanted: Span, rel_tol: float) -> bool:
        after = page.next_number(i)
        return (
            after is not None
            and joint(page.plain, number, page.numbers[after]) != ""
            and self._fits(i, number, page, (wanted.low,), rel_tol)
            and self._fits(after, page.numbers[after], page, (wanted.high,), rel_tol)
        )

    def _is_number(self, i: int, number: Number, page: Page, one: Number, rel_tol: float) -> bool:
        if self._agrees(number, one, rel_tol):
            return _may_be(i, number, page, one)
        if one.value < 0 < number.value and _falls(number, page):  # "fell by 12 %" is -12 %
            turned = one._replace(value=-one.value)
            return self._agrees(number, turned, rel_tol) and _may_be(i, number, page, one)
        return one.unit != "" and self._agrees_in_cents(number, page, one, rel_tol)

    def _agrees_in_cents(self, number: Number, page: Page, one: Number, rel_tol: float) -> bool:
        """ "50 cents" are $0.50."""
        if one.unit in PARTS or number.unit not in ("", "\u00a2"):
            return False
        found = amounts.read_cents(page.plain, number)
        return found is not None and self._agrees(found, one, rel_tol)

    def _is_amount(
        self, i: int, number: Number, page: Page, wanted: Amount, rel_tol: float
    ) -> bool:
        """Whether a number is the amount: in the same or another unit of its kind, or exactly as
        many of the same noun.
        """
        if wanted.noun:
            if number.unit:
                return False
            # "3 bedrooms" are exactly three, "1.2 million sessions" are rounded.
            tolerance = 0.0 if wanted.number.step == 1.0 else rel_tol
            same = self._agrees(number, wanted.number, tolerance)
            return same and amounts.is_of(wanted, page.plain, number)
        if number.text == page.text.strip(" .*\n"):  # the answer is nothing but a number
            return self._agrees(number, wanted.number, rel_tol)
        found = amounts.convert(wanted, page.amounts[i])
        if found is None and wanted.measure and wanted.measure.dimension == "temperature":
            found = number if _DEGREES.match(page.plain, number.end) else None
        if found is None:
            return False
        if wanted.number.value < 0 < found.value and _BELOW.match(page.plain, number.end):
            found = found._replace(value=-found.value)
        return self._agrees(found, wanted.number, rel_tol)

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
    if isinstance(wanted, Span):
        wanted = wanted.low
    elif isinstance(wanted, AmountWithWords):
        wanted = wanted.amount
    return wanted.number.value if isinstance(wanted, Amount) else wanted.value


def _falls(number: Number, page: Page) -> bool:
    before = page.plain[max(0, number.start - 48) : number.start]
    return bool(_FALLS.search(before) or _LESS.match(page.plain, number.end))


def _may_be(i: int, number: Number, page: Page, expected: Number) -> bool:
    """12 kg, 12x and 12 customers are neither 12 % nor $12; what falls by 12 % is no +12 %."""
    if expected.text[:1] == "+" and _falls(number, page):
        return False
    if not expected.unit or number.unit:
        return True
    return page.amounts[i] is None and not amounts.counts(page.plain, number)
