"""Whether a stated number is the expected one: tolerance, rounding, sign, units, parts of one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from gate.text.late_pattern import late_pattern
from gate.text.numbers.number import PARTS, Locale, Number, Sign
from gate.text.numbers.scanning import numbers

_CODE = late_pattern(r"0\d+\w*|\d+(?:[eE]\d+|[A-Za-z]+)")  # 0245776b, 12e4, 7k
_ENOUGH_DIGITS = 3  # that a whole number must show to count as rounded
_FEWEST_DIGITS = 2  # likewise one with a unit, a scale or decimals
_HEDGE_WORDS = (
    "~ ≈ about around roughly approximately approx approx. nearly almost some circa ca ca. close to"
)
_HEDGES = frozenset(_HEDGE_WORDS.split())


def is_code(text: str) -> bool:
    """Whether a text could be a name as well as a number: a zero in front, or figures and letters
    in one ("7k").
    """
    return _CODE.fullmatch(text.strip()) is not None


def stated(value: float | str, locale: Locale = "en") -> Number | None:
    """A number, or a text that is nothing but one ("$1.2M", "15 %"); None for any other text, and
    for a text that could be a name.
    """
    if isinstance(value, str):
        return None if is_code(value) else read_whole(value, locale)
    try:
        return Number(value=float(value), step=1.0 if isinstance(value, int) else 0.1)
    except OverflowError:
        return Number(value=math.inf)


def read_whole(value: str, locale: Locale = "en") -> Number | None:
    """The number that all of a text is, also of one that could be a name."""
    text = value.strip()
    found = numbers((text.lstrip("0") or "0") if text.isdigit() else text, locale)
    whole = len(found) == 1 and (text.isdigit() or len(found[0].text) == len(text))
    return found[0] if whole else None


def agrees(
    number: Number,
    expected: Number,
    *,
    rel_tol: float = 0.0,
    abs_tol: float = 0.0,
    sign: Sign = "strict",
    rounding: bool | None = False,
    percent_as_number: bool = True,
) -> bool:
    """|number - expected| <= max(abs_tol, rel_tol * |expected|), signs compared unless `ignore`.

    Units that cannot mean the same never agree. A percentage also agrees with the fraction that it
    stands for (30 % with 0.30), unless that is written as a whole number, and with
    `percent_as_number` with its own figure. `rounding`: half a unit of the last stated digit is
    allowed too; None: where the number looks rounded and some tolerance is allowed.
    """
    if number.unit != expected.unit and not _may_be_one_unit(number.unit, expected.unit):
        return False
    pairs: Iterable[tuple[float, float, float]]
    if number.unit in PARTS or expected.unit in PARTS or number.other is not None:
        pairs = _readings(number, expected, percent_as_number)
    else:
        pairs = ((number.value, expected.value, 1.0),)
    for got, want, shrunk in pairs:
        if sign == "ignore" or number.either_sign:
            got, want = abs(got), abs(want)
        if not math.isfinite(want):
            continue
        off = abs(got - want) - 1e-9 * abs(want)
        if off <= (0.0 if number.maybe_date else max(abs_tol, rel_tol * abs(want))):
            return True
        near = off <= number.step / shrunk / 2 and rounding is not False
        if near and (rounding or (max(rel_tol, abs_tol) > 0 and _looks_rounded(number))):
            return True
        # "1.2 million" is written rounded: 1,214,530 states it, 1.24 million does not.
        rounds = 1.0 < expected.step >= 100 * number.step and not expected.text[-1:].isdecimal()
        if rounds and off <= expected.step / 2 and rounding is not False and max(rel_tol, abs_tol):
            return _looks_rounded(expected) and not number.maybe_date
    return False


def with_digits_shown(number: Number, text: str) -> Number:
    """The number, whose last zeros are not taken as stated where `text` says that it is no exact
    one: "about 43,200" is known to the hundreds.
    """
    if number.step < 1.0 or not number.value or number.value % (10 * number.step):
        return number
    before = text[max(0, number.start - 16) : number.start].split()
    if not before or before[-1].lower() not in _HEDGES:
        return number
    step, size = number.step, abs(number.value)
    while size % (10 * step) == 0 and size >= 100 * step:
        step *= 10
    return number._replace(step=step)


def _may_be_one_unit(one: str, other: str) -> bool:
    """Whether a number of the unit `one` can be what is expected in the unit `other`."""
    if not one or not other:
        return True
    if one in PARTS or other in PARTS:
        return (
            one in PARTS and other in PARTS and ("pp" not in (one, other) or "bp" in (one, other))
        )
    from gate.text.numbers.currencies import currencies  # few facts name one

    return bool(currencies(one) & currencies(other, expected=True))


def _looks_rounded(number: Number) -> bool:
    """Whether it shows enough digits to tell what it rounds: 9.5, 43.2k, 12 %; not 12 or 10 %."""
    if not number.step:
        return False
    figures = f"{abs(number.value) / number.step:.0f}"
    shown = len(figures if number.step < 1.0 else figures.rstrip("0"))
    return shown >= _ENOUGH_DIGITS or (
        shown >= _FEWEST_DIGITS and (number.unit != "" or number.step != 1.0)
    )


def _readings(
    number: Number, expected: Number, percent_as_number: bool
) -> Iterator[tuple[float, float, float]]:
    """Pairs of values to compare, and what the number was divided by."""
    parts, of = PARTS.get(number.unit), PARTS.get(expected.unit)
    if parts and of:
        yield number.value / parts * of, expected.value, parts / of
        return
    if percent_as_number or not (parts or of):
        yield number.value, expected.value, 1.0
        # 48.2 below "EUR million" is €48,200,000: its smaller reading is that of a bare number.
        other = number.other
        if other and (abs(other) >= abs(number.value) or not expected.unit):
            yield other, expected.value, number.value / other
    if parts and expected.step < 1.0:
        yield number.value / parts, expected.value, parts
    if of and number.step < 1.0:
        yield number.value, expected.value / of, 1.0
