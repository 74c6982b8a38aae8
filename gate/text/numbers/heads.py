"""What the head of a column or a row says of its numbers: "Revenue (EUR million)", "Users (k)"."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gate.text.late_pattern import late_pattern
from gate.text.numbers import units
from gate.text.numbers.number import Number

_LONGEST = 60  # characters of a head that are read
_TOLD = late_pattern(r"[(\[](?P<inside>[^()\[\]]{1,30})[)\]]|\b[Ii]n (?P<after>[^()\[\],]{1,30})")
_THOUSANDS = frozenset(("000", "'000", "\u2019000", "000s", "'000s", "\u2019000s"))
_SMALL_WORDS = frozenset(("in", "of", "all", "figures"))


class Head(NamedTuple):
    """`unit` "" : none is told."""

    unit: str = ""
    power: int = 0


@lru_cache(maxsize=1024)
def read_head(head: str) -> Head | None:
    """The currency or "%", and the power of ten, that a head tells in brackets or after "in"."""
    for found in _TOLD.finditer(head[:_LONGEST]):
        told = _read(found["inside"] or found["after"])
        if told is not None:
            return told
    return None


def headed(number: Number, head: Head) -> Number:
    """The number with what its head says: one without a unit has two readings where the head
    scales, as 48.2 and as 48200000, and only the second one where the fact names a currency.
    """
    if number.unit or number.maybe_date or number.text[-1:].isalpha():
        return number
    scaled = number.value * 10.0**head.power if head.power else None
    if scaled is None or number.other is not None:
        return number._replace(unit=head.unit)
    if head.unit:
        # With a currency only the whole amount is meant: 48.2 under "EUR million" is no €48.2.
        step = number.step * 10.0**head.power
        return number._replace(value=scaled, step=step, unit=head.unit, other=number.value)
    return number._replace(other=scaled)


def _read(told: str) -> Head | None:
    """ "EUR million", "$m", "'000", "€ bn", "%"; None for anything else."""
    unit, power = "", 0
    words = told.strip().replace("/", " ").split()
    if words and words[0][:-1] and words[0][0] in units.SYMBOLS:
        words[:1] = [words[0][0], words[0][1:]]  # $m
    elif words and words[-1][-1] in units.SYMBOLS and words[-1][:-1]:
        words[-1:] = [words[-1][:-1], words[-1][-1]]  # m$
    for word in words:
        name, end = units.unit_at(word, 0)
        scale = 3 if word in _THOUSANDS else units.scale_of_head(word)
        if name and end == len(word) and not unit:
            unit = name
        elif scale and not power:
            power = scale
        elif word.lower() not in _SMALL_WORDS:
            return None
    return Head(unit, power) if unit or power else None
