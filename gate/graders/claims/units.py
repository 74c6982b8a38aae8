"""The measuring unit beside a number, cents among them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from gate.text.late_pattern import late_pattern
from gate.text.numbers.measures import Measure, measure
from gate.text.numbers.number import Number

CENTS = Measure("money", 0.01)
_CENTS = late_pattern(r"[ \u00a0]?(?:cents?|ct|¢)(?!\w)")


def unit_of(text: str, number: Number) -> Measure | None:
    """The unit right after a number of the text; "32 cents" are 0.32 of some currency."""
    if number.unit:
        return None
    return measure(text, number) or (CENTS if _CENTS.match(text, number.end) else None)


_TIME = r"(?:d|days?|h|hrs?|hours?|min|minutes?)\.?"
_LONGEST_BETWEEN = 15  # characters: " minutes., and "
_COMPOUND = late_pattern(rf"\d[ \u00a0]?{_TIME},?(?: and)? \d")
_BETWEEN = late_pattern(rf"[ \u00a0]?{_TIME},?(?: and)? ")


def join_compounds(text: str, numbers: Sequence[Number]) -> Sequence[Number]:
    """ "2 hours and 38 minutes" as one number of hours, which ends where its first figure does."""
    joints = (
        _BETWEEN.fullmatch(text, a.end, b.start)
        for a, b in pairwise(numbers)
        if b.start - a.end <= _LONGEST_BETWEEN
    )
    if not any(joints) or not _COMPOUND.search(text):
        return numbers
    joined: list[Number] = []
    end = -1  # of the last figure that is part of the last number
    for one in numbers:
        if joined and _BETWEEN.fullmatch(text, end, one.start):
            first, unit, part = joined[-1], measure(text, joined[-1]), measure(text, one)
            if unit and part and unit.dimension == part.dimension and unit.factor > part.factor:
                ratio = part.factor / unit.factor
                value, step = first.value + one.value * ratio, one.step * ratio
                shown = text[first.start : one.end]
                joined[-1] = first._replace(value=value, step=step, text=shown)
                end = one.end
                continue
        joined.append(one)
        end = one.end
    return joined
