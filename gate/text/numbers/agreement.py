"""Whether a stated number is the expected one: tolerance, rounding, sign, parts of one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from gate.text.numbers.number import PARTS, Locale, Number
from gate.text.numbers.scanning import numbers

Sign = Literal["strict", "ignore"]


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
    if number.unit in PARTS or expected.unit in PARTS:
        readings = _readings_of_parts(number, expected)
    else:
        readings = iter(((number.value, expected.value, 1.0),))
    for got, want, shrunk in readings:
        allowed = 0.0 if number.maybe_date else max(abs_tol, rel_tol * abs(want))
        if rounding:
            allowed = max(allowed, number.step / shrunk / 2)
        if sign == "ignore" or number.either_sign:
            got, want = abs(got), abs(want)
        if math.isfinite(want) and abs(got - want) <= allowed + 1e-9 * abs(want):
            return True
    return False


def _readings_of_parts(number: Number, expected: Number) -> Iterator[tuple[float, float, float]]:
    """Pairs of values to compare, and what the number was divided by."""
    parts, of = PARTS.get(number.unit), PARTS.get(expected.unit)
    if not (parts and of):
        yield number.value, expected.value, 1.0
        if parts and expected.step < 1.0:
            yield number.value / parts, expected.value, parts
        if of and number.step < 1.0:
            yield number.value, expected.value / of, 1.0
    else:
        yield number.value / parts * of, expected.value, parts / of
