"""The quick way to an ordinary number: plain digits between plain words, as nearly all numbers are.

It says nothing of any number that could be more than that; the grammar reads those.
"""

from __future__ import annotations

import re

from gate.text.late_pattern import late_pattern
from gate.text.numbers import units
from gate.text.numbers.number import Number

_DIGITS = late_pattern(
    r"(\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.(\d{1,9}))?(?=([.,;:!?)\"]?)(?:\s|\Z))", re.ASCII
)
_CURRENCIES = frozenset("$€£¥")
_WORD = late_pattern(r" ([a-z]+)(?![\w.%-])", re.ASCII)
_MONTHS = (
    "jan january feb february mar march apr april may jun june jul july aug august sep sept"
    " september oct october nov november dec december"
)
_SPECIAL = frozenset((*units.WORDS, *_MONTHS.split(), "am", "pm", "a", "p", "x", "of"))


def ordinary(text: str, at: int, start: int) -> Number | None:
    """The number whose digits begin at `start`, nothing of it before `at`; None: the grammar
    knows.
    """
    first = start - 1
    currency = ""
    if first > at and text[first] in _CURRENCIES:
        currency = text[first]
        first -= 1
    # A space, and before it the end of a plain word: no sign, bracket, code, version or list mark.
    if first <= at + 1 or text[first] != " " or not _plain(text, first - 1):
        return None
    found = _DIGITS.match(text, start)
    if found is None:
        return None
    digits, fraction, follows = found.groups()
    end = found.end()
    if not currency and fraction is None and len(digits) < 3:
        return None  # may be a day, or the hour of a time
    if digits[0] == "0" and len(digits) > 1:
        return None  # is a name
    if fraction and len(fraction) == 3 and len(digits) <= 3 and digits != "0":
        return None  # has two readings
    if follows == ")" or (follows == "" and end < len(text) and not _before_plain_word(text, end)):
        return None
    grouped = "," in digits
    whole = digits.replace(",", "") if grouped else digits
    value = float(f"{whole}.{fraction}") if fraction else float(whole)
    begin = start - len(currency)
    bare = not (grouped or currency or fraction)
    return Number(
        value=value,
        unit=currency,
        step=float(f"1e-{len(fraction)}") if fraction else 1.0,
        text=text[begin:end],
        start=begin,
        end=end,
        maybe_date=bare and len(whole) == 4 and "1900" <= whole <= "2099",
    )


def _plain(text: str, last: int) -> bool:
    """Whether a lower-case word ends there, and none after which a number is no number."""
    sign = text[last]
    if not ("a" <= sign <= "z"):
        return False
    if sign in "nvrs":
        before = text[max(0, last - 7) : last + 1]
        return not before.endswith(("version", "Version", "v", "Rs", "er", "inus"))
    return sign != "e" or not text.endswith("egative", 0, last + 1)


def _before_plain_word(text: str, end: int) -> bool:
    """Whether a lower-case word follows that is no scale, unit, month or the like."""
    found = _WORD.match(text, end)
    if found is None or found[1] in _SPECIAL:
        return False
    return found[1] != "and" or not text.startswith(
        (" a half", " a quarter", " three"), found.end()
    )
