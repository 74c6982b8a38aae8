"""Each kind of quantity as text, the same wherever it is read: docs/reports.md has the rules."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

ABSENT = "–"
MINUS = "−"
UNKNOWN = "unknown"

NOISE = 1e-9  # numbers that are closer than this are the same one
_MOST = 12  # decimals
_TIMES = 9.0  # a rise of as many times is told as a multiple


# ------------------------------------------------------------------------------------------- values


def value(number: float | None, unit: str, *, limits: Sequence[float] = ()) -> str:
    """A metric's value with its unit: `0.93`, `2,310 ms`, `$0.0014`, `3.42`. Never as what it is
    not: nothing, all of a share, or one of the `limits` that it is compared with.
    """
    if number is None or not math.isfinite(number):
        return ABSENT
    if unit == "USD":
        return _set_minus(_dollars(number, limits))
    shown = _set_minus(_figure(number, _decimals(number, unit), _anchors(unit, limits)))
    return f"{shown} ms" if unit == "ms" else shown


def limit(amount: float, unit: str) -> str:
    """A number that somebody wrote, such as a limit: as a value, and never rounded."""
    return value(amount, unit, limits=(amount,))


def span(low: float | None, high: float | None, unit: str, *, limits: Sequence[float] = ()) -> str:
    """From one value to another, in a table: `0.89 … 0.94`, `913 … 5,704 ms`; empty without."""
    ends = _ends(low, high, unit, limits)
    return " … ".join(ends)


def span_in_words(
    low: float | None, high: float | None, unit: str, *, limits: Sequence[float] = ()
) -> str:
    """The same in a sentence: `0.89 to 0.94`."""
    return " to ".join(_ends(low, high, unit, limits))


def money(usd: float | None) -> str:
    """USD with cents, or with two figures when it is less than ten of them."""
    if usd is None or not math.isfinite(usd):
        return UNKNOWN
    return _set_minus(_dollars(usd, ()))


def in_usd(amount: float) -> str:
    """A budget as messages name it: `5.00`, `0.05`."""
    dollars, _, rest = limit(amount, "USD").removeprefix("$").replace(",", "").partition(".")
    return f"{dollars}.{rest.rstrip('0').ljust(2, '0')}"


# ------------------------------------------------------------------------------------------ changes


def change(delta: float | None, unit: str, *, relative: bool, tolerance: float = 0.0) -> str:
    """A difference with its sign: `−9.1 pt` of a share, `+4.1 %` when relative (`256 x` from ten
    times on), else in the unit. Never as none, nor as the `tolerance`, when it is neither.
    """
    if delta is None or not math.isfinite(delta):
        return ABSENT
    shown, suffix = _change(delta, unit, relative, tolerance)
    return f"{shown} {suffix}".rstrip()


def interval(
    low: float | None,
    high: float | None,
    unit: str,
    *,
    relative: bool,
    tolerance: float = 0.0,
    delta: float | None = None,
) -> str:
    """The interval of a change for a table: `(−13.2 … −5.0)`, in the unit that `change` names;
    empty without bounds.

    A bound of 0 beside a `delta` other than 0 is excluded by the test: `below 0`.
    """
    ends = _bounds(low, high, unit, relative, tolerance, delta)
    return f"({' … '.join(ends)})" if ends else ""


def interval_in_words(
    low: float | None,
    high: float | None,
    unit: str,
    *,
    relative: bool,
    tolerance: float = 0.0,
    delta: float | None = None,
) -> str:
    """The same in a sentence: `−13.2 to −5.0`."""
    return " to ".join(_bounds(low, high, unit, relative, tolerance, delta))


def size(amount: float, unit: str, *, relative: bool) -> str:
    """An amount of change without a sign: `2 pt`, `10 %`, `0.10`, `250 x the baseline`."""
    if relative and amount >= _TIMES:
        return f"{_figure(amount, _plain_decimals(amount), (0.0,))} x the baseline"
    if relative or unit == "share":
        shown = _figure(100 * amount, 1, (0.0,)).removesuffix(".0")
        return f"{shown} {'%' if relative else 'pt'}"
    return value(amount, unit)


def spell_points(shown: str) -> str:
    """A change or a size for a sentence, where the unit is a word: `2 points` for `2 pt`."""
    return f"{shown.removesuffix(' pt')} points" if shown.endswith(" pt") else shown


def tolerance_in_words(tolerance: float, unit: str, *, relative: bool) -> str:
    """A tolerance, as it was written: `2 pt`, `12.5 %`, `0.10`."""
    if relative or unit == "share":
        shown = _figure(100 * tolerance, 0, (100 * tolerance,))
        return f"{shown} {'%' if relative else 'pt'}"
    return limit(tolerance, unit)


# ----------------------------------------------------------------------------------------- chances


def percent(share: float) -> str:
    """A share that somebody chose, such as a level: `99 %`, `99.5 %`, `99.67 %`."""
    return f"{100 * share:.4g} %"


def portion(share: float) -> str:
    """A share that was counted, in a sentence: `2.4 %`, `44 %`; none or all only when it is."""
    hundredths = 100 * share
    return f"{_figure(hundredths, 0 if hundredths >= 9.95 else 1, (0.0, 100.0))} %"


def portions(low: float, high: float) -> tuple[str, str]:
    """The ends of an interval of one; the unit stands behind the second."""
    return portion(low).removesuffix(" %"), portion(high)


def p_value(p: float, *, level: float | None = None) -> str:
    """`p = 0.0031`, `p < 0.0001`: two figures, and never as the `level` that it is not."""
    anchors = (1.0,) if level is None else (1.0, level)
    return "p < 0.0001" if p < 0.0001 else f"p = {_two_figures(p, anchors)}"


def chance(p: float) -> str:
    """The same in a sentence: `3.1 %`, `less than 0.01 %`."""
    return "less than 0.01 %" if p < 0.0001 else f"{_two_figures(100 * p, (100.0,))} %"


def odds(chance: float) -> str:
    """How often something happens by noise, which is known to a few points: `12 %`, `< 1 %`,
    `> 99 %`.
    """
    if chance < 0.01:
        return "< 1 %"
    return "> 99 %" if chance > 0.99 else f"{_round(100 * chance, 0)} %"


def often(chance: float) -> str:
    """`8 times in 10`; of a chance that is no tenth `85 % of the time`."""
    tenths = round(10 * chance, 6)
    return f"{tenths:g} times in 10" if tenths.is_integer() else f"{percent(chance)} of the time"


# ---------------------------------------------------------------------------------- time and counts


def duration(seconds: float) -> str:
    full = math.floor(seconds + 0.5)
    if full < 60:
        return f"{full} s"
    if full < 3600:
        return f"{full // 60} min {full % 60:02d} s"
    return f"{full // 3600} h {full % 3600 // 60:02d} min"


def age(days: float) -> str:
    if days < 1:
        hours = math.floor(24 * days)
        return "less than an hour ago" if hours < 1 else f"{count(hours, 'hour')} ago"
    return f"{count(math.floor(days), 'day')} ago"


def count(number: int, noun: str) -> str:
    """`1 case`, `2 cases`, `1,200 cases`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# -------------------------------------------------------------------------------------------- words


def join_words(words: Iterable[str], *, most: int = 3) -> str:
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


def keep_hyphens(shown: str) -> str:
    """For a sentence that is kept: whoever shows it sets the minus signs."""
    return shown.replace(MINUS, "-")


# ------------------------------------------------------------------------------------------ parts


def _ends(
    low: float | None, high: float | None, unit: str, limits: Sequence[float]
) -> tuple[str, ...]:
    if low is None and high is None:
        return ()
    ends = (UNKNOWN if end is None else value(end, unit, limits=limits) for end in (low, high))
    first, last = ends
    if unit == "ms" and last.endswith(" ms"):
        first = first.removesuffix(" ms")
    return first, last


def _bounds(
    low: float | None,
    high: float | None,
    unit: str,
    relative: bool,
    tolerance: float,
    delta: float | None,
) -> tuple[str, ...]:
    if low is None and high is None:
        return ()
    moved = delta or 0.0
    first = _bound(low, unit, relative, tolerance)
    last = _bound(high, unit, relative, tolerance)
    if moved > 0.0 and low is not None and abs(low) <= NOISE:
        first = "above 0"
    if moved < 0.0 and high is not None and abs(high) <= NOISE:
        last = "below 0"
    return first, last


def _bound(end: float | None, unit: str, relative: bool, tolerance: float) -> str:
    if end is None or math.isnan(end):
        return UNKNOWN
    if math.isinf(end):
        return f"{MINUS}∞" if end < 0 else "+∞"
    shown, suffix = _change(end, unit, relative, tolerance)
    return shown if suffix == "pt" else f"{shown} {suffix}".rstrip()


def _change(delta: float, unit: str, relative: bool, tolerance: float) -> tuple[str, str]:
    margins = (0.0, tolerance, -tolerance)
    if relative and delta >= _TIMES:
        times = 1.0 + delta
        return _figure(times, _plain_decimals(times), (1.0 + tolerance,)), "x"
    if relative or unit == "share":
        hundredths = 100 * delta
        decimals = 0 if relative and abs(hundredths) >= 9.95 else 1
        shown = _figure(hundredths, decimals, [100 * margin for margin in margins])
        return _plus(shown), "%" if relative else "pt"
    amount = abs(delta)
    shown = value(amount, unit, limits=(abs(tolerance),) if tolerance else ())
    return ("" if amount <= NOISE else "+" if delta > 0 else MINUS) + shown, ""


def _anchors(unit: str, limits: Sequence[float]) -> tuple[float, ...]:
    return (0.0, 1.0, *limits) if unit == "share" else (0.0, *limits)


def _decimals(number: float, unit: str) -> int:
    if unit == "share":
        return 2
    return (0 if abs(number) >= 99.95 else 1) if unit == "ms" else _plain_decimals(number)


def _plain_decimals(number: float) -> int:
    """Three figures, whole numbers from 100 on."""
    return 0 if abs(number) >= 99.95 else 1 if abs(number) >= 9.995 else 2


def _dollars(usd: float, limits: Sequence[float]) -> str:
    amount = abs(usd)
    decimals = 2
    if NOISE < amount < 0.1:
        decimals = min(_MOST, 1 - math.floor(math.log10(amount)))
    shown = _figure(amount, decimals, (0.0, *map(abs, limits)))
    return f"{'-' if usd < -NOISE else ''}${shown}"


def _two_figures(amount: float, anchors: Sequence[float]) -> str:
    if amount <= 0.0:
        return "0"
    decimals = max(0, min(_MOST, 1 - math.floor(math.log10(amount))))
    shown = _figure(amount, decimals, anchors)
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def _figure(number: float, decimals: int, anchors: Iterable[float]) -> str:
    """With as many more decimals as it takes to stand on the same side of each anchor as the number
    does, and of one that it is, on it.
    """
    sides = [(anchor, _side(number, anchor)) for anchor in anchors]
    for more in range(decimals, _MOST + 1):
        shown = _round(number, more)
        read = float(shown.replace(",", ""))
        if all(_side(read, anchor) == side for anchor, side in sides):
            return shown
    return _round(number, decimals)


def _side(number: float, anchor: float) -> int:
    return 0 if abs(number - anchor) <= NOISE else 1 if number > anchor else -1


def _round(number: float, decimals: int) -> str:
    """Half up, away from zero, of the decimal number that people see: 0.575 is 0.58, whatever its
    last bits say. The nudge is less than a unit in the twelfth figure.
    """
    if abs(number) <= NOISE:
        return f"{0:.{decimals}f}"
    if abs(number) >= 1e15:
        return f"{number:.2e}"
    shown = f"{float(f'{number:.12g}') * (1 + 4e-13):,.{decimals}f}"
    return shown if float(shown.replace(",", "")) else shown.removeprefix("-")


def _plus(shown: str) -> str:
    if not float(shown.replace(",", "")):
        return shown
    return _set_minus(shown) if shown.startswith("-") else f"+{shown}"


def _set_minus(shown: str) -> str:
    return MINUS + shown[1:] if shown.startswith("-") else shown
