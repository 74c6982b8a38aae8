"""One pass over a text that finds its numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from gate.text.late_pattern import late_pattern
from gate.text.numbers import grammar, names, units
from gate.text.numbers.grammar import WINDOW
from gate.text.numbers.measures import measured
from gate.text.numbers.number import LIMIT, PARTS, Locale, Number
from gate.text.numbers.ordinary import ordinary
from gate.text.numbers.ranges import in_ranges

_NO_DIGIT = late_pattern(r"\D")
_NONE = frozenset(("time", "chain", "id", "version"))
_GAPS = tuple(grammar.GAPS)
_LAST_OF_SIGN = tuple("sSeE\u2212")  # of "minus", "negative" and the sign itself
_OPERAND_ENDS = ("%", ")", "]", "$", "€")
_SHORT_YEAR = late_pattern(r"\d\d(?![\w'\u2019.,%])|\d\d[.,]?(?:\s|\Z)")  # the summer of '69
_COMMA = late_pattern(r"(?<![\d.,])[1-9]\d{0,2},\d{3}(?![\d.,]\d|\d)")
_SPANISH = late_pattern(r"\b(?:el|los|las|una)\b")
_DIGITS_LIMIT = 40  # a longer run of digits is an id
_JOINTS = "-\u2011./#^_+'\u2019"  # what ties a figure to the word before it
# After these an amount in brackets is no aside: "980 in Q1 and (1,234)".
_BOOKED = late_pattern(
    r"(?:\b(?:and|of|was|is|were|are|to|at|or|from|vs|by)|[:=|,]|(?<![A-Za-z])\d)\Z", re.IGNORECASE
)
_BEFORE_HEAD = ("#", "*")  # the last sign but one before the number of a heading
_ENDS = frozenset((". ", ") ", ".\t", ")\t"))  # of a list's counter


def numbers(text: str, locale: Locale = "en") -> tuple[Number, ...]:
    """Every number of the first LIMIT characters, in their order, none twice or overlapping.

    Versions, dates in figures, times, ordinals, ids, telephone numbers, web addresses, citations
    like [3] and the counters of a list are no numbers.
    """
    return _read(text[:LIMIT], locale)


@lru_cache(maxsize=64)  # several graders read the same answer, and several rounds one context
def _read(text: str, locale: Locale) -> tuple[Number, ...]:
    plain = read_plainly(text)
    return tuple(in_ranges(plain, _scan(plain, locale, quick=True)))


@lru_cache(maxsize=64)
def read_plainly(text: str) -> str:
    """The text, as long as it was, without web addresses, and with the numbers of LaTeX as others
    are written: what stands beside a number is looked for here.
    """
    plain = text[:LIMIT]
    if "://" in plain or "www." in plain:
        plain = grammar.URL.sub(lambda found: " " * len(found[0]), plain)
    if "\\" not in plain and "{,}" not in plain:
        return plain
    from gate.text.numbers.latex import unfold_formulas  # few answers have formulas

    return unfold_formulas(plain)


def _scan(text: str, locale: Locale, *, quick: bool) -> Iterator[Number]:
    """`quick`: ordinary numbers are not taken to the grammar, which would say the same."""
    decimal_commas = locale == "en" and _has_decimal_commas(text)
    if decimal_commas:
        locale = "de"
    quick = quick and locale == "en"
    search = grammar.ASCII_DIGIT.search if text.isascii() else grammar.DIGIT.search
    counter = 0  # of the list that is being read
    at = 0
    ended = -1  # the last number, and a hyphen may follow: 10k-20k
    while (digit := search(text, at)) is not None:
        start = digit.start()
        if quick and (plain := ordinary(text, at, start)) is not None:
            at = plain.end
            yield plain
            continue
        before = units.before(text, at, start)
        if before is not None and (end := _phone(text, start)):
            at = end
            continue
        found = grammar.token(locale).match(text, start)
        if before is None or found is None:
            at = digit.end()
        elif not (before["currency"] or _goes_on(text, ended, start)) and _in_word(text, start):
            at = _end(grammar.REST_OF_WORD, text, digit.end())
        elif _is_no_number(text, found):
            at = found.end()
        elif text[start - 1 : start] == "[" and (end := _citations(text, start)):
            at = end
        elif _is_counter(text, found, counter):
            counter, at = int(found["whole"]), found.end()
        elif not before["currency"] and _names(text, found):
            at = _end(grammar.REST_OF_WORD, text, found.end())
        else:
            number = _number(text, found, before, locale)
            if number.other is not None and locale == "en" and _groups_with_points(text):
                locale, quick = "de", False
                continue  # it is read again
            if decimal_commas:
                number = number._replace(other=None)
            ended = number.end
            at = max(found.end(), ended)
            if math.isfinite(number.value * number.step) and not _in_name(text, number, found):
                yield number


def _has_decimal_commas(text: str) -> bool:
    """Whether "42,195 km" stands in a text of a language in which that is a little more than 42;
    not in Spanish, where that depends on the country.
    """
    if "," not in text or " the " in text or not _COMMA.search(text):
        return False
    return not _SPANISH.search(text) and _groups_with_points(text)


def _groups_with_points(text: str) -> bool:
    from gate.text.numbers.languages import groups_with_points  # few numbers have two readings

    return groups_with_points(text)


def _goes_on(text: str, ended: int, start: int) -> bool:
    return ended == start - 1 and text[ended] in grammar.DASHES


def _phone(text: str, start: int) -> int:
    """Where the telephone number ends that begins at `start`; 0 where none does."""
    pattern = grammar.PHONES.get(text[start - 1 : start])
    if pattern is not None:
        found = pattern.match(text, start)
        written = found[0] if found else ""
        known = len(written) - len(written.lstrip("0123456789"))
        if found and (text[start - 1] == "(" or _is_international(written, known)):
            return found.end()
    found = grammar.LOCAL_PHONE.match(text, start)
    named = found and grammar.PHONE_NAMED.search(text, max(0, start - WINDOW), start)
    return found.end() if found and named else 0


def _citations(text: str, start: int) -> int:
    """Where "13, 14]" ends after "["; 0 where the brackets hold a list of numbers."""
    if not (found := grammar.CITED.match(text, start)):
        return 0
    before = text[max(0, start - WINDOW) : start - 1].rstrip()
    return 0 if not before or grammar.LISTED.search(before) else found.end()


def _is_international(written: str, country: int) -> bool:
    """ "49 30 1234567": a country of up to three digits, then more, eight in all."""
    figures = sum(map(str.isdecimal, written))
    return country <= 3 and grammar.PHONE_DIGITS <= figures <= 15


def _in_word(text: str, start: int) -> bool:
    last = text[start - 1 : start]
    if last and (last.isalpha() or last in _JOINTS):
        if last in "'\u2019" and not _SHORT_YEAR.match(text, start):
            return False
        return bool(grammar.IN_WORD.search(text, max(0, start - WINDOW), start))
    return False


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _is_no_number(text: str, found: re.Match[str]) -> bool:
    """What the grammar says is none, "[3]" after some text, "version 3", and very long ids."""
    kind = found.lastgroup
    start, end = found.span()
    if kind == "ordinal":
        return not _after_month(_NO_DIGIT.sub("", found[0]), text, start)
    if kind in _NONE or kind is None or end - start > _DIGITS_LIMIT:
        return True
    last = text[start - 1 : start]
    if last == "[" and text[end : end + 1] == "]":
        return bool(text[max(0, start - WINDOW) : start - 1].strip())
    if text[start - 2 : start - 1] in _BEFORE_HEAD and _heads(text, start, end):
        return True
    return last.isspace() and bool(grammar.VERSION.search(text, max(0, start - WINDOW), start))


def _heads(text: str, start: int, end: int) -> bool:
    """ "## 4. Results": the number of a heading."""
    headed = grammar.HEADED.match(text, end)
    return bool(headed and grammar.HEADING.search(text, max(0, start - WINDOW), start))


def _in_name(text: str, number: Number, found: re.Match[str]) -> bool:
    """Of digits with no sign, unit or scale: whether they are part of a name."""
    if found.lastgroup != "whole" or number.text != found[0] or number.maybe_date:
        return False
    in_name = names.is_in_name(text, number.start, number.end)
    return in_name and not measured(text, number)


def _names(text: str, found: re.Match[str]) -> bool:
    """Whether letters at its end make a name of it: "5G", "the 49ers"; 5kg and 5k are amounts."""
    end = found.end()
    if found["whole"] is None or not text[end : end + 1].isalpha():
        return False
    run = grammar.LETTERS.match(text, end)
    letters = run[0] if run else ""
    if len(letters) == 1 and names.is_glued_name(text, found.start(), letters):
        return True
    return bool(letters) and not units.is_known(letters)


def _is_counter(text: str, found: re.Match[str], last: int) -> bool:
    """ "1." or "2)" at the start of a line, when the counting is in order."""
    digits, end = found["whole"], found.end()
    if not digits or not digits.isdecimal() or len(digits) > 3 or text[end : end + 2] not in _ENDS:
        return False
    window = text[max(0, found.start() - WINDOW) : found.start()]
    at_start = grammar.LINE_START.search(window) and (found.start() < WINDOW or "\n" in window)
    return bool(at_start) and int(digits) in (1, last + 1)


def _number(text: str, found: re.Match[str], before: re.Match[str], locale: Locale) -> Number:
    prefix, opened, sign, currency, inner = before.group(0, "open", "sign", "currency", "inner")
    currency = currency.strip() if currency else ""
    after = units.after(text, found.end("season" if found["season"] else 0), currency)
    start, end = found.start() - len(prefix), after.end
    closed = bool(opened) and text[end : end + 1] == ")"
    figures = _figures(found, after, locale)
    accounting = closed and bool(currency)
    either_sign = accounting and text[max(0, start - WINDOW) : start].rstrip()[-1:].isalnum()
    if closed and not (accounting or after.unit or sign) and figures.long:
        before_it = text[max(0, start - WINDOW) : start].rstrip()
        accounting = bool(_BOOKED.search(before_it))
        either_sign = not accounting
    if opened and not accounting:
        start += len(opened)
    below = accounting or inner or sign not in (None, "+") or is_negated(text, start)
    bare = figures.bare and not (sign or after.unit or after.end > found.end())
    dated = figures.dated or (
        bare and (_is_year(found[0]) or _after_month(found[0], text, found.start()))
    )
    return Number(
        value=-figures.value if below else figures.value,
        unit=after.unit,
        step=figures.step,
        text=text[start : end + accounting],
        start=start,
        end=end + accounting,
        maybe_date=dated or (bare and text[start - 1 : start] == "#"),
        either_sign=either_sign,
        other=-figures.other if below and figures.other else figures.other,
    )


class _Figures(NamedTuple):
    """`bare`: digits alone. `dated`: a day or a year, as the words around it say. `long`: with
    groups of thousands or decimals.
    """

    value: float
    step: float = 1.0
    bare: bool = False
    dated: bool = False
    other: float | None = None
    long: bool = False


def _figures(found: re.Match[str], after: units.After, locale: Locale) -> _Figures:
    kind = found.lastgroup
    if kind in ("day", "season", "ordinal"):
        return _Figures(float(_NO_DIGIT.sub("", found[kind])), dated=True)
    if kind in ("raised", "raised_super"):
        return _Figures(_power(found["base"], found[kind]))
    if kind in ("under", "vulgar", "only_vulgar"):
        scale = float(f"1e{after.power}") * after.times
        return _Figures(_fraction(found) * scale, step=0.01 * scale)
    read = grammar.digits(found["whole"], locale)
    exponent = grammar.exponent(found) if kind not in ("whole", "group") else 0
    power, times = after.power + exponent, after.times
    value, step = _value(read.whole, read.fraction, power)
    bare = not (read.grouped or read.fraction or power)
    if after.added or times > 1:
        added = float(f"{after.added}e{power}")
        return _Figures((value + added) * times, step=step * times * (0.25 if added else 1.0))
    plain = read.other and not (power or after.unit in PARTS)
    long = read.grouped or bool(read.fraction)
    return _Figures(value, step, bare, other=float(read.other) if plain else None, long=long)


def _power(base: str, raised: str) -> float:
    try:
        return float(base) ** grammar.power_of(raised)
    except (OverflowError, ZeroDivisionError):
        return math.inf


def _fraction(found: re.Match[str]) -> float:
    """Of "3/4", "1 1/2", "½" and "2½"."""
    if found["over"]:
        return int(found["ones"] or 0) + int(found["over"]) / int(found["under"])
    over, under = grammar.VULGAR[found["vulgar"] or found["only_vulgar"]]
    return int(found["ones_before"] or 0) + over / under


def _value(digits: str, fraction: str, power: int) -> tuple[float, float]:
    """The value without its sign, and the worth of its last digit."""
    if power or fraction:
        return float(f"{digits or 0}.{fraction or 0}e{power}"), float(f"1e{power - len(fraction)}")
    return float(digits), 1.0


def is_negated(text: str, start: int) -> bool:
    """ "minus 5" and "− 5", but "12 minus 5" and "x minus 5" subtract."""
    if text[start - 1 : start] not in _GAPS or text[start - 2 : start - 1] not in _LAST_OF_SIGN:
        return False
    words = text[max(0, start - 40) : start].split()
    word = words[-1].lower().lstrip("(\"'*") if words else ""
    if word == "negative":
        return True
    if word not in ("minus", "\u2212"):
        return False
    operand = words[-2] if len(words) > 1 else ""
    return not (operand[-1:].isdecimal() or operand[-1:] in _OPERAND_ENDS or len(operand) == 1)


def _is_year(digits: str) -> bool:
    return len(digits) == 4 and "1900" <= digits <= "2099"


def _after_month(digits: str, text: str, start: int) -> bool:
    if not digits.isdecimal() or len(digits) > 2 or not 0 < int(digits or 0) <= 31:
        return False
    return bool(grammar.MONTH.search(text, max(0, start - WINDOW), start))
