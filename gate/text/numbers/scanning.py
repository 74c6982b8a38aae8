"""One pass over a text that finds its numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache

from gate.text.numbers import grammar, units
from gate.text.numbers.grammar import WINDOW
from gate.text.numbers.number import LIMIT, Locale, Number
from gate.text.numbers.ordinary import ordinary

_NO_DIGIT = re.compile(r"\D")
_DIGITS_LIMIT = 40  # a longer run of digits is an id
_JOINTS = "-\u2011./#^_"  # what ties a figure to the word before it
_ENDS = frozenset((". ", ") ", ".\t", ")\t"))  # of a list's counter


def numbers(text: str, locale: Locale = "en") -> tuple[Number, ...]:
    """Every number of the first LIMIT characters, in their order, none twice or overlapping.

    Versions, dates, times, ordinals, ids, web addresses, citations like [3] and the counters of a
    list are no numbers.
    """
    return _read(text[:LIMIT], locale)


@lru_cache(maxsize=64)  # several graders read the same answer, and several rounds one context
def _read(text: str, locale: Locale) -> tuple[Number, ...]:
    return tuple(_scan(_without_urls(text), locale, quick=True))


def _without_urls(text: str) -> str:
    if "://" not in text and "www." not in text:
        return text
    return grammar.URL.sub(lambda found: " " * len(found[0]), text)


def _scan(text: str, locale: Locale, *, quick: bool) -> Iterator[Number]:
    """`quick`: ordinary numbers are not taken to the grammar, which would say the same."""
    quick = quick and locale == "en"
    search = grammar.ASCII_DIGIT.search if text.isascii() else grammar.DIGIT.search
    counter = 0  # of the list that is being read
    at = 0
    while (digit := search(text, at)) is not None:
        start = digit.start()
        if quick and (plain := ordinary(text, at, start)) is not None:
            at = plain.end
            yield plain
            continue
        before = units.before(text, at, start)
        found = grammar.token(locale).match(text, start)
        if before is None or found is None:
            at = digit.end()
        elif not before["currency"] and _in_word(text, start):
            at = _end(grammar.REST_OF_WORD, text, digit.end())
        elif found["whole"] is None or _is_no_number(text, found):
            at = found.end()
        elif _is_counter(text, found, counter):
            counter, at = int(found["whole"]), found.end()
        else:
            number = _number(text, found, before)
            at = max(found.end(), number.end)
            if math.isfinite(number.value * number.step) and len(found["whole"]) <= _DIGITS_LIMIT:
                yield number


def _in_word(text: str, start: int) -> bool:
    last = text[start - 1 : start]
    if last.isalpha() or last in _JOINTS:
        return bool(grammar.IN_WORD.search(text, max(0, start - WINDOW), start))
    return False


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _is_no_number(text: str, found: re.Match[str]) -> bool:
    """ "[3]" after some text, the day of a date with a year, and "version 3"."""
    start, end = found.span()
    last = text[start - 1 : start]
    if last == "[" and text[end : end + 1] == "]":
        return bool(text[max(0, start - WINDOW) : start - 1].strip())
    if not last.isspace():
        return False
    if grammar.VERSION.search(text, max(0, start - WINDOW), start):
        return True
    return _after_month(found["whole"], text, start) and bool(grammar.YEAR.match(text, end))


def _is_counter(text: str, found: re.Match[str], last: int) -> bool:
    """ "1." or "2)" at the start of a line, when the counting is in order."""
    digits, end = found["whole"], found.end()
    if found["fraction"] or not 0 < len(digits) <= 3 or text[end : end + 2] not in _ENDS:
        return False
    window = text[max(0, found.start() - WINDOW) : found.start()]
    at_start = grammar.LINE_START.search(window) and (found.start() < WINDOW or "\n" in window)
    return bool(at_start) and int(digits) in (1, last + 1)


def _number(text: str, found: re.Match[str], before: re.Match[str]) -> Number:
    prefix, opened, sign, currency, inner = before.group(0, "open", "sign", "currency", "inner")
    digits, fraction, group = found.group("whole", "fraction", "group")
    if not digits.isdecimal():
        digits = _NO_DIGIT.sub("", digits)
    currency = currency.strip() if currency else ""
    power, unit, end = units.after(text, found.end(), currency)
    start = found.start() - len(prefix)
    accounting = bool(opened and currency) and text[end : end + 1] == ")"
    either_sign = accounting and text[max(0, start - WINDOW) : start].rstrip()[-1:].isalnum()
    if opened and not accounting:
        start += len(opened)
    value, step = _value(digits, fraction or "", power + grammar.exponent(found))
    bare = not (group or sign or unit or power or fraction)
    return Number(
        value=-value if accounting or inner or sign not in (None, "+") else value,
        unit=unit,
        step=step,
        text=text[start : end + accounting],
        start=start,
        end=end + accounting,
        maybe_date=bare and (_is_year(digits) or _after_month(digits, text, found.start())),
        either_sign=either_sign,
    )


def _value(digits: str, fraction: str, power: int) -> tuple[float, float]:
    """The value without its sign, and the worth of its last digit."""
    if power or fraction:
        return float(f"{digits or 0}.{fraction or 0}e{power}"), float(f"1e{power - len(fraction)}")
    return float(digits), 1.0


def _is_year(digits: str) -> bool:
    return len(digits) == 4 and "1900" <= digits <= "2099"


def _after_month(digits: str, text: str, start: int) -> bool:
    if len(digits) > 2 or not 0 < int(digits or 0) <= 31:
        return False
    return bool(grammar.MONTH.search(text, max(0, start - WINDOW), start))
