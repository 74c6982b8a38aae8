"""The numbers that a text states, each once: value, unit, sign, and how exactly it is stated."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

LIMIT = 200_000  # characters that are read; an answer is rarely longer than a hundredth of it
Locale = Literal["en", "de", "fr"]  # 1,234.5 - 1.234,5 - 1 234,5
Sign = Literal["strict", "ignore"]

_DIGITS_LIMIT = 40  # a longer run of digits is an id
_WINDOW = 16  # characters before a number that can belong to it

_MINUS = "\\-\u2212\u2010\u2011\u2013\ufe63\uff0d"
_SYMBOLS = "$¢£¤¥֏؋৳฿៛\u20a0-\u20c0﷼﹩＄￠￡￥￦"
_CODES = (
    "AED ARS AUD BDT BGN BHD BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP GHS HKD HUF IDR ILS INR "
    "JOD JPY KES KRW KWD LKR MAD MXN MYR NGN NOK NZD OMR PEN PHP PKR PLN QAR RON RUB SAR SEK SGD "
    "THB TND TRY TWD UAH USD VND ZAR Rs"
).replace(" ", "|")
_MONTHS = (
    "Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    "|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?"
)
_GAP = "[ \u00a0\u2009\u202f]"
# Scripts without spaces between words: a figure after such a letter is not part of a word.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\uffff"
_LETTER = rf"[^\W\d{_UNSPACED}]"

_DIGIT = re.compile(r"(?<![\w.)])\.(?=\d)|\d")
# Before the digits: "(", sign and currency; all of them may be missing.
_BEFORE = re.compile(
    rf"(?P<open>\({_GAP}?)?(?P<sign>(?<![\w)\]%{_SYMBOLS}])[+{_MINUS}])?"
    rf"(?P<currency>(?<![^\W\d_])(?:(?:[A-Z]{{1,3}})?[{_SYMBOLS}]|{_CODES}){_GAP}?)?"
    rf"(?(currency)(?P<inner>[{_MINUS}])?)\Z"
)
_NOTHING = _BEFORE.search("")
_CLOSE = re.compile(rf"[(+{_MINUS}{_SYMBOLS}A-Zs]{_GAP}?\Z")  # only then is there a prefix
_IN_WORD = re.compile(rf"(?:{_LETTER}|{_LETTER}\w*[-\u2011./]|[#^])\Z")
_REST_OF_WORD = re.compile(r"\w*(?:[-.]\w*+(?<=\d))*")
_MONTH = re.compile(rf"\b(?:{_MONTHS})\.?{_GAP}\Z")
_YEAR = re.compile(rf",?{_GAP}\d{{4}}\b")
_LINE_START = re.compile(r"(?:\A|\n)[ \t>*#(-]*\Z")
_URL = re.compile(r"(?:https?://|www\.)\S+")

# From the first digit on: what looks like a number and is none.
_NO_NUMBER = rf"""
  (?P<time>\d{{1,2}}:\d\d(?::\d\d)?(?:[.,]\d+)?(?:\s?[AaPp]\.?[Mm]\b)?(?![:\d])
    |\d{{1,2}}\s?[AaPp]\.?[Mm]\b)
  |(?P<chain>\d+(?:[-\u2010\u2011]\d+){{2,}}(?:[T\s]\d\d:\d\d\S*)?|\d+(?:/\d+){{2,}}
    |\d{{4}}-(?:0[1-9]|1[0-2])(?![-\d]))
  |(?P<day>(?:[12]?\d|3[01])\.?{_GAP}(?:of{_GAP})?(?:{_MONTHS})\b)
  |(?P<ordinal>\d+(?:[,']\d{{3}}){{0,4}}(?:st|nd|rd|th|ST|ND|RD|TH)\b)
  |(?P<id>0[xX][0-9a-fA-F]+|\d+_\w+
    |(?!\d+(?:(?:[eE]\d{{1,3}}|(?:[kcmd]?m|ft)[23])\b|x10[\^⁻⁰¹²³⁴-⁹]))\d+(?!_){_LETTER}+\d\w*)
"""
_EXPONENT = rf"""(?:[eE](?P<e>[+{_MINUS}]?\d{{1,3}})(?!\w)
  |{_GAP}?[x×·⋅*]{_GAP}?10(?:\^(?P<power>[+{_MINUS}]?\d{{1,3}})|(?P<super>[⁺⁻]?[⁰¹²³⁴-⁹]{{1,3}})))?"""
_GROUPS = "'’\u00a0\u2009\u202f"
_SEPARATORS: dict[Locale, tuple[str, str]] = {  # thousands, decimal
    "en": (",", "."),
    "de": (".", ","),
    "fr": (" .", ","),
}
_SUPERSCRIPTS = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_PLAIN_MINUS = str.maketrans(dict.fromkeys(_MINUS[1:], "-"))

_SCALES = {
    **dict.fromkeys(("k", "thousand", "thousands"), 3),
    **dict.fromkeys(("lakh", "lakhs"), 5),
    **dict.fromkeys(("m", "mm", "mn", "mln", "mio", "million", "millions"), 6),
    **dict.fromkeys(("crore", "crores"), 7),
    **dict.fromkeys(("b", "bn", "billion", "billions"), 9),
    **dict.fromkeys(("t", "tn", "trn", "trillion", "trillions"), 12),
}
_SCALE = re.compile(rf"(?P<gap>{_GAP}|-)?(?P<word>[A-Za-z]{{1,9}})(?![A-Za-z0-9_²³])")
# "5m tall", "5m 30s", "5m/s": metres and minutes, not millions.
_MEASURE = re.compile(r"\s?(?:\d|/|\^|(?:long|tall|wide|deep|high|away|ago|and\s\d+s)\b)")
_PERCENT = re.compile(
    rf"{_GAP}?(?:[%％﹪]|(?:percent|per{_GAP}cent|pct|percentage{_GAP}points?)\b)", re.IGNORECASE
)
_CURRENCY = re.compile(
    rf"{_GAP}?(?P<unit>[{_SYMBOLS}]|(?:{_CODES})\b|(?i:dollars?|euros?|pounds?|yen|rupees?)\b)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One number of a text. `value` has its sign and scale ("-$1.2M" is -1200000); a percentage
    keeps its figure (15 % is 15).
    """

    value: float
    unit: str = ""  # "%", a currency as it is written ("$", "EUR"), or nothing
    step: float = 1.0  # worth of the last digit that is stated: 100000 in 1.2M
    text: str = ""
    start: int = 0
    end: int = 0
    maybe_date: bool = False  # like a year, or the day after a month: agrees only exactly
    either_sign: bool = False  # "sales ($5)": negative in accounts, positive in prose


def numbers(text: str, locale: Locale = "en") -> tuple[Number, ...]:
    """Every number of the first LIMIT characters, in their order, none twice or overlapping.

    Versions, dates, times, ordinals, ids, web addresses, citations like [3] and the counters of a
    list are no numbers.
    """
    return tuple(_scan(_without_urls(text[:LIMIT]), locale))


def stated(value: float | str, locale: Locale = "en") -> Number | None:
    """A number, or a text that is nothing but one ("$1.2M", "15 %"); None for any other text."""
    if isinstance(value, str):
        text = value.strip()
        found = numbers(text, locale)
        padded = len(text) > 1 and text[0] == "0" and text.isdigit()  # 007 is a name
        whole = len(found) == 1 and found[0].end - found[0].start == len(text)
        return found[0] if whole and not padded else None
    try:
        return Number(value=float(value), step=1.0 if isinstance(value, int) else 0.1)
    except OverflowError:
        return Number(value=math.inf)


def agrees(
    number: Number,
    expected: Number,
    *,
    rel_tol: float = 0.0,
    abs_tol: float = 0.0,
    sign: Sign = "strict",
    rounding: bool = False,
) -> bool:
    """|number - expected| <= max(abs_tol, rel_tol * |expected|), signs compared unless `ignore`.

    A percentage also agrees with the fraction it stands for (30 % with 0.30), unless that is
    written as a whole number. `rounding`: half a unit of the last stated digit is allowed too.
    """
    for got, want, shrunk in _readings(number, expected):
        allowed = 0.0 if number.maybe_date else max(abs_tol, rel_tol * abs(want))
        if rounding:
            allowed = max(allowed, number.step / shrunk / 2)
        if sign == "ignore" or number.either_sign:
            got, want = abs(got), abs(want)
        if math.isfinite(want) and abs(got - want) <= allowed + 1e-9 * abs(want):
            return True
    return False


def _readings(number: Number, expected: Number) -> Iterator[tuple[float, float, float]]:
    """Pairs of values to compare, and what the number was divided by."""
    yield number.value, expected.value, 1.0
    if number.unit == "%" != expected.unit and expected.step < 1.0:
        yield number.value / 100.0, expected.value, 100.0
    if expected.unit == "%" != number.unit and number.step < 1.0:
        yield number.value, expected.value / 100.0, 1.0


def _without_urls(text: str) -> str:
    if "://" not in text and "www." not in text:
        return text
    return _URL.sub(lambda found: " " * len(found[0]), text)


def _scan(text: str, locale: Locale) -> Iterator[Number]:
    token = _token(locale)
    counter = 0  # of the list that is being read
    at = 0
    while (digit := _DIGIT.search(text, at)) is not None:
        start = digit.start()
        window = text[max(0, start - _WINDOW) : start]
        close = _CLOSE.search(text, max(at, start - 2), start)
        before = _BEFORE.search(text, max(at, start - _WINDOW), start) if close else _NOTHING
        found = token.match(text, start)
        if before is None or found is None:
            at = digit.end()
        elif not before["currency"] and _IN_WORD.search(window):
            at = _end(_REST_OF_WORD, text, digit.end())
        elif found["whole"] is None or _is_no_number(window, text, found):
            at = found.end()
        elif _is_counter(window, text, found, counter):
            counter, at = int(found["whole"]), found.end()
        else:
            number = _number(text, found, window, before)
            at = max(found.end(), number.end)
            if math.isfinite(number.value * number.step) and len(found["whole"]) <= _DIGITS_LIMIT:
                yield number


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


@cache
def _token(locale: Locale) -> re.Pattern[str]:
    thousands, decimal = (re.escape(sign) for sign in _SEPARATORS[locale])
    other = r"|\d{1,3}(?:\.\d{3})+(?=,\d\d?(?![\d,]))" if locale == "en" else ""
    whole = rf"\d{{1,3}}(?P<group>[{thousands}{_GROUPS}])\d{{3}}(?:(?P=group)\d{{3}})*(?!\d)"
    version = (
        rf"(?P<version>(?!{whole.replace('group', 'skipped')}(?!\.\d))\d+(?:\.\d+){{2,}}(?!,\d))"
    )
    return re.compile(
        rf"{_NO_NUMBER}|{version}"
        rf"|(?P<whole>{whole}{other}|\d+|(?={decimal}\d))"
        rf"(?:(?:{decimal}|(?<=\.\d{{3}}),)(?P<fraction>\d+))?{_EXPONENT}",
        re.VERBOSE,
    )


def _is_no_number(window: str, text: str, found: re.Match[str]) -> bool:
    """ "[3]" after some text, and the day of a date with a year."""
    after = text[found.end() : found.end() + 8]
    if window.endswith("[") and after.startswith("]"):
        return bool(window[:-1].strip())
    return bool(_YEAR.match(after)) and _after_month(found["whole"], window)


def _is_counter(window: str, text: str, found: re.Match[str], last: int) -> bool:
    """ "1." or "2)" at the start of a line, when the counting is in order."""
    digits, after = found["whole"], text[found.end() : found.end() + 2]
    if found["fraction"] or not 0 < len(digits) <= 3 or after not in (". ", ") ", ".\t", ")\t"):
        return False
    at_start = _LINE_START.search(window) and (found.start() < _WINDOW or "\n" in window)
    return bool(at_start) and int(digits) in (1, last + 1)


def _number(text: str, found: re.Match[str], window: str, before: re.Match[str]) -> Number:
    digits, fraction = re.sub(r"\D", "", found["whole"]), found["fraction"] or ""
    currency = (before["currency"] or "").strip()
    scale, end = _scale(text, found.end(), currency)
    unit, end = _unit(text, end, currency)
    exponent = scale + _exponent(found)
    value = float(f"{digits or 0}.{fraction or 0}e{exponent}")
    start = found.start() - len(before[0])
    accounting = bool(before["open"] and currency) and text[end : end + 1] == ")"
    if before["open"] and not accounting:
        start += len(before["open"])
    negative = accounting or before["inner"] or before["sign"] not in (None, "+")
    bare = not (found["group"] or before["sign"] or unit or scale or fraction)
    return Number(
        value=-value if negative else value,
        unit=unit,
        step=float(f"1e{exponent - len(fraction)}"),
        text=text[start : end + accounting],
        start=start,
        end=end + accounting,
        maybe_date=bare and (_is_year(digits) or _after_month(digits, window)),
        either_sign=accounting and window[: -len(before[0])].rstrip()[-1:].isalnum(),
    )


def _is_year(digits: str) -> bool:
    return len(digits) == 4 and "1900" <= digits <= "2099"


def _after_month(digits: str, window: str) -> bool:
    return len(digits) <= 2 and 0 < int(digits or 0) <= 31 and bool(_MONTH.search(window))


def _exponent(found: re.Match[str]) -> int:
    if found.end() == max(found.end("whole"), found.end("fraction")):
        return 0
    written = found["e"] or found["power"] or (found["super"] or "0").translate(_SUPERSCRIPTS)
    return int(written.translate(_PLAIN_MINUS))


def _scale(text: str, end: int, currency: str) -> tuple[int, int]:
    """Power of ten of a suffix like k, M, bn or million, and where it ends."""
    found = _SCALE.match(text, end)
    if found is None or found["word"].lower() not in _SCALES:
        return 0, end
    word, gap = found["word"], found["gap"]
    if word.lower() == "mm":
        meant = bool(currency)
    elif len(word) > 1:
        meant = True
    elif currency:
        meant = gap != "-"
    elif gap:
        meant = word == "M" and gap != "-"
    else:
        meant = word != "t" and not (word == "m" and _MEASURE.match(text, found.end()))
    return (_SCALES[word.lower()], found.end()) if meant else (0, end)


def _unit(text: str, end: int, currency: str) -> tuple[str, int]:
    percent = _PERCENT.match(text, end)
    if percent is not None:
        return "%", percent.end()
    after = None if currency else _CURRENCY.match(text, end)
    return (after["unit"], after.end()) if after else (currency, end)
