"""The measuring unit beside a number, cents among them."""

from __future__ import annotations

from gate.text.late_pattern import late_pattern
from gate.text.numbers.measures import Measure, measure
from gate.text.numbers.number import Number

CENTS = Measure("money", 0.01)
_CENTS = late_pattern(r"[ \u00a0]?(?:cents?|ct|¢)(?!\w)")


def unit_of(text: str, number: Number) -> Measure | None:
    """The unit right after a number of the text; "32 cents" are 0.32 of some currency."""
    if unit := measure(text, number):
        return unit
    return CENTS if not number.unit and _CENTS.match(text, number.end) else None
