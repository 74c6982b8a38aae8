"""Ranges whose ends share a scale or a unit: "$10-20k", "1.2-1.4M", "between 10 and 20 %"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gate.text.late_pattern import late_pattern
from gate.text.numbers import units
from gate.text.numbers.grammar import DASHES
from gate.text.numbers.number import PARTS, Number

_LONGEST = 5  # characters between the ends
_DASHES = frozenset(DASHES)
_WORDS = frozenset(("to", "or", "bis"))
_BETWEEN = late_pattern(r"\bbetween (?:about |roughly )?\Z", re.IGNORECASE)
_SUFFIX = late_pattern(r"[^\d)]+\)?\Z")


def in_ranges(text: str, found: Iterable[Number]) -> Iterator[Number]:
    """The numbers of `text`, in their order, each with what it shares with the next or the last."""
    first: Number | None = None
    for last in found:
        if first is not None:
            if last.start - first.end <= _LONGEST and (joined := joint(text, first, last)):
                first, last = _shared(first, last, exact=joined in _DASHES)
            yield first
        first = last
    if first is not None:
        yield first


def joint(text: str, first: Number, last: Number) -> str:
    """What joins two ends of a range, or "" where two numbers are no range."""
    between = text[first.end : last.start].strip()
    if between in _DASHES or between in _WORDS:
        return between
    if between == "and" and _BETWEEN.search(text, max(0, first.start - 20), first.start):
        return between
    return ""


def _shared(first: Number, last: Number, *, exact: bool) -> tuple[Number, Number]:
    """`exact`: "5-7 million" begins at five million; "5 to 7 million" may begin at five."""
    if first.maybe_date or last.maybe_date:
        return first, last
    suffix = _SUFFIX.search(last.text)
    if suffix and first.text[-1:].isdecimal():
        power = units.after(last.text, suffix.start(), last.unit).power
        scaled = first.value * 10.0**power
        if power and abs(scaled) <= abs(last.value):
            if exact:
                first = first._replace(value=scaled, step=first.step * 10.0**power, other=None)
            else:
                first = first._replace(other=scaled)
    if not first.unit and last.unit and suffix:
        first = first._replace(unit=last.unit)
    elif not last.unit and first.unit and first.unit not in PARTS and not suffix_unit(first):
        last = last._replace(unit=first.unit)
    return first, last


def suffix_unit(number: Number) -> bool:
    """Whether its unit stands behind its digits ("5 USD-7" is no range of dollars)."""
    return not number.text[-1:].isdecimal() and number.text.endswith(number.unit)
