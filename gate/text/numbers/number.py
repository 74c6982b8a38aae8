"""One number of a text."""

from __future__ import annotations

from typing import Literal, NamedTuple

LIMIT = 200_000  # characters that are read; an answer is rarely longer than a hundredth of it
Sign = Literal["strict", "ignore"]
Locale = Literal["en", "de", "fr"]  # 1,234.5 - 1.234,5 - 1 234,5
_SMALL_NAMES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_TEN_NAMES = "twenty thirty forty fifty sixty seventy eighty ninety"
SMALL = {name: value for value, name in enumerate(_SMALL_NAMES.split())}
TENS = {name: 10 * value for value, name in enumerate(_TEN_NAMES.split(), start=2)}
PARTS = {
    "%": 100.0,
    "pp": 100.0,
    "‰": 1000.0,
    "bp": 10_000.0,
}  # units that are parts of one, and how many


class Number(NamedTuple):
    """One number of a text. `value` has its sign and scale ("-$1.2M" is -1200000); a percentage
    keeps its figure (15 % is 15).

    A named tuple, because dozens are made for each answer and it is made in a third of the time.
    """

    value: float
    unit: str = ""  # "%", "pp", "‰", "bp", a currency as it is written ("$", "EUR"), or nothing
    step: float = 1.0  # worth of the last digit that is stated: 100000 in 1.2M
    text: str = ""
    start: int = 0
    end: int = 0
    maybe_date: bool = False  # like a year, a day with its month, or #12: agrees only exactly
    either_sign: bool = False  # "sales ($5)": negative in accounts, positive in prose
    other: float | None = None  # a second reading of the same figures: 1.234 may be 1234
