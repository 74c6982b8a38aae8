"""Numbers as people read them: by unit, with signs, intervals, durations and plurals."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

ABSENT = "–"
MINUS = "−"


def value(number: float | None, unit: str, *, digits: int = 2) -> str:
    """A metric's value with its unit; `digits` are the decimals of a share."""
    if number is None or not math.isfinite(number):
        return ABSENT
    if unit == "share":
        return _signed(f"{number:.{digits}f}")
    if unit == "ms":
        return _signed(f"{number:,.0f} ms" if abs(number) >= 10 else f"{number:.1f} ms")
    if unit == "USD":
        return money(number)
    return _signed(_short(number))


def digits_of(numbers: Iterable[float | None], unit: str) -> int:
    """The fewest decimals of a share (2 to 4) with which different numbers look different."""
    known = {n for n in numbers if n is not None}
    if unit != "share":
        return 2
    fits = (d for d in (2, 3) if len({f"{n:.{d}f}" for n in known}) == len(known))
    return next(fits, 4)


def limit(amount: float, unit: str, *, digits: int) -> str:
    """As a value, but never rounded to what it is not."""
    short = unit == "share" and round(amount, digits) != amount
    return f"{amount:g}" if short else value(amount, unit, digits=digits)


def change(delta: float | None, unit: str, *, relative: bool) -> str:
    """A difference with its sign: `−9.1 pt` of a share, `+4.1 %` when relative, else in the
    unit.
    """
    if delta is None or not math.isfinite(delta):
        return ABSENT
    shown, suffix = _change(delta, unit, relative)
    return f"{shown} {suffix}".rstrip()


def interval(low: float | None, high: float | None, unit: str, *, relative: bool) -> str:
    """`(−13.2 … −5.0)`, in the unit that `change` names; empty when there is none."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ""
    ends = [_bound(end, unit, relative) for end in (low, high)]
    return f"({ends[0]} … {ends[1]})"


def size(amount: float, unit: str, *, relative: bool) -> str:
    """An amount of change without a sign: `2 pt`, `10 %`, `0.1`."""
    if relative or unit == "share":
        return f"{100 * amount:.1f}".removesuffix(".0") + (" %" if relative else " pt")
    return value(amount, unit)


def money(usd: float | None) -> str:
    """USD with cents, or with two figures when it is less than that."""
    if usd is None or not math.isfinite(usd):
        return "unknown"
    amount = abs(usd)
    digits = 2 if amount == 0 or amount >= 0.1 else min(8, 1 - math.floor(math.log10(amount)))
    return f"{MINUS if usd < 0 else ''}${amount:,.{digits}f}"


def percent(share: float) -> str:
    """`99 %`, `99.5 %`."""
    return f"{100 * share:.4g} %"


def often(chance: float) -> str:
    """`8 times in 10`; of a chance that is no tenth `85 % of the time`."""
    tenths = round(10 * chance, 6)
    return f"{tenths:g} times in 10" if tenths.is_integer() else f"{percent(chance)} of the time"


def duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def age(days: float) -> str:
    if days < 1:
        hours = math.floor(24 * days)
        return "less than an hour ago" if hours < 1 else f"{count(hours, 'hour')} ago"
    return f"{count(math.floor(days), 'day')} ago"


def count(number: int, noun: str) -> str:
    """`1 case`, `2 cases`, `1,200 cases`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(words: Iterable[str], *, most: int = 3) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b, c and 4 more`."""
    items = list(words)
    if len(items) > most:
        items = [*items[:most], f"{len(items) - most} more"]
    return " and ".join(
        part for part in (", ".join(items[:-1]), items[-1] if items else "") if part
    )


def tight(shown: str) -> str:
    """Broken over two lines only before an interval and between two limits."""
    return re.sub(r" (?![(·])(?<!· )", "\N{NO-BREAK SPACE}", shown)


def _change(delta: float, unit: str, relative: bool) -> tuple[str, str]:
    if relative:
        return _plus(f"{100 * delta:.{1 if abs(delta) < 0.0995 else 0}f}"), "%"
    if unit == "share":
        return _plus(f"{100 * delta:.1f}"), "pt"
    if unit in ("ms", "USD"):
        shown = value(abs(delta), unit)
        sign = "" if delta == 0 else "+" if delta > 0 else MINUS
        return sign + shown, ""
    return _plus(_short(delta)), ""


def _bound(end: float, unit: str, relative: bool) -> str:
    if math.isinf(end):
        return f"{MINUS}∞" if end < 0 else "+∞"
    shown, suffix = _change(end, unit, relative)
    return f"{shown} %" if suffix == "%" else shown


def _short(number: float) -> str:
    """Three significant figures, whole numbers with thousands separators."""
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.{1 if abs(number) >= 10 else 2}f}"


def _plus(shown: str) -> str:
    if not float(shown.replace(",", "")):
        return shown.lstrip("-")
    return _signed(shown) if shown.startswith("-") else f"+{shown}"


def _signed(shown: str) -> str:
    return shown.replace("-", MINUS, 1)


def in_usd(amount: float) -> str:
    """A budget as messages name it: `5.00`, `0.05`."""
    return f"{amount:.2f}" if amount >= 0.1 else f"{amount:g}"
