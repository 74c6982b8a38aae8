"""The quick way to an ordinary number: plain digits between plain words, as nearly all numbers are.

It says nothing of any number that could be more than that; the grammar reads those.
"""

from __future__ import annotations

import re

from gate.text.late_pattern import late_pattern
from gate.text.numbers import units
from gate.text.numbers.names import LONGEST, may_name
from gate.text.numbers.number import Number

# Before it the end of a lower-case word, none after which a number is negative or none; after it
# the end of a clause, or one more such word. Between them no sign, bracket, code or list mark.
_ORDINARY = late_pattern(
    r"""(?:(?<=[a-z]\ )|(?<=[a-z]\ [$€£¥]))
    (?<!version\ )(?<!Version\ )(?<!\bv\ )(?<!er\ )(?<!Rs\ )(?<!inus\ )(?<!egative\ )
    (?<!inus\ [$€£¥])(?<!egative\ [$€£¥])
    (\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.(\d{1,9}))?(\ ?%)?
    (?:(?=[.,;:!?"]?(?:\s|\Z))(?!\ |\s+[aApP]\.?[mM]\b)
      |(?=\ ([a-z]+)(?![\w.%-])(?!\ (?:a\ half|a\ quarter|three)\b)))""",
    re.ASCII | re.VERBOSE,
)
_CURRENCIES = frozenset("$€£¥")
_MONTHS = (
    "jan january feb february mar march apr april may jun june jul july aug august sep sept"
    " september oct october nov november dec december"
)
_NO_NOUNS = ("am", "pm", "a", "p", "x", "o", "point", "points")
_SPECIAL = frozenset((*units.WORDS, *_MONTHS.split(), *_NO_NOUNS))


def ordinary(text: str, at: int, start: int) -> Number | None:
    """The number whose digits begin at `start`, nothing of it before `at`; None: the grammar
    knows.
    """
    found = _ORDINARY.match(text, start)
    if found is None:
        return None
    digits, fraction, percent, follows = found.groups()
    currency = text[start - 1] if text[start - 1] in _CURRENCIES else ""
    begin = start - len(currency)
    if begin <= at + 1 or follows in _SPECIAL or (percent and currency):
        return None
    if not (currency or percent) and (
        # It may be a day, the hour of a time, or part of a name.
        (len(digits) < 3 and fraction is None and (follows is None or follows == "of"))
        or (len(digits) <= LONGEST and may_name(text, begin - 1))
    ):
        return None
    end = found.end()
    if digits[0] == "0" and len(digits) > 1:
        return None  # is a name
    if fraction and len(fraction) == 3 and len(digits) <= 3 and digits != "0":
        return None  # has two readings
    grouped = "," in digits
    whole = digits.replace(",", "") if grouped else digits
    value = float(f"{whole}.{fraction}") if fraction else float(whole)
    bare = not (grouped or currency or fraction or percent)
    step = float(f"1e-{len(fraction)}") if fraction else 1.0
    maybe_date = bare and len(whole) == 4 and "1900" <= whole <= "2099"
    # By place, in half the time that names take.
    return Number(
        value, "%" if percent else currency, step, text[begin:end], begin, end, maybe_date
    )
