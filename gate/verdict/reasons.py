"""Verdicts as sentences that a developer believes: size, interval, what was allowed."""

from __future__ import annotations

from collections.abc import Sequence

from gate.records import Comparison, GateResult


def regressed(row: Comparison) -> str:
    """`m` fell by 9.1 points (0.93 -> 0.84, 98 % interval -13.2 to -5.0; allowed -2.0)."""
    sign = -1.0 if row.direction == "higher" else 1.0
    allowed = _signed(row, sign * row.tolerance)
    return f"{_moved(row)} ({_numbers(row)}; allowed {allowed})"


def suspected(row: Comparison) -> str:
    p = 100.0 * (row.p_value or 0.0)
    return (
        f"{_moved(row, may=True)} ({_numbers(row)}), but a change this large would show "
        f"{p:.2g} % of the time if nothing had changed"
    )


def undecided(metric: str, why: str) -> str:
    return f"`{metric}`: {why}"


def gate_failed(row: GateResult) -> str:
    """`m` is 0.78, below min 0.82 (98 % interval 0.75 to 0.81)."""
    value = row.value or 0.0
    shown, low, high = (_value(row.unit, v) for v in (value, row.ci_low, row.ci_high))
    bounds = f" (interval {low} to {high})"
    low_side = row.min is not None and value < row.min
    high_side = row.max is not None and value > row.max
    if low_side:
        return f"`{row.metric}` is {shown}, below min {_value(row.unit, row.min)}{bounds}"
    if high_side:
        return f"`{row.metric}` is {shown}, above max {_value(row.unit, row.max)}{bounds}"
    limit = f"min {_value(row.unit, row.min)}" if row.min is not None else ""
    limit = limit or f"max {_value(row.unit, row.max)}"
    return f"`{row.metric}` is {shown}, which does not prove {limit}{bounds}"


def passed(comparisons: Sequence[Comparison], gates: Sequence[GateResult], power: float) -> str:
    """What a green tick would hide: the smallest drop that would have been seen."""
    row = _headline(comparisons)
    if row is None:
        met = sum(gate.status == "pass" for gate in gates)
        return f"{_count(met, 'gate')} met; no blocking metric was compared with a baseline"
    times = f"{10.0 * power:g} times in 10"
    change = "drop" if row.direction == "higher" else "rise"
    if row.mde is None or (row.direction == "higher" and row.mde > _whole(row)):
        return (
            f"no regression seen, but no {change} in `{row.metric}` would have been caught {times}"
        )
    size = _size(row, row.mde)
    return (
        f"no regression seen; a {change} of {size} or more in `{row.metric}` "
        f"would have been caught {times}"
    )


def joined(reasons: Sequence[str]) -> str:
    """The first in full; the rest as a number."""
    more = len(reasons) - 1
    return reasons[0] + (f"; and {_count(more, 'more reason')}" if more else "")


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _headline(comparisons: Sequence[Comparison]) -> Comparison | None:
    """The blocking comparison that a reader looks for first: success, else the least sensitive."""
    rows = [row for row in comparisons if row.level == "block" and row.p_value is not None]
    success = [row for row in rows if row.metric == "agent.success_rate"]
    pool = success or rows
    return max(pool, key=lambda row: row.mde if row.mde is not None else float("inf"), default=None)


def _whole(row: Comparison) -> float:
    """The largest drop there can be."""
    return 1.0 if row.relative else abs(row.baseline or 0.0)


def _moved(row: Comparison, *, may: bool = False) -> str:
    delta = row.delta or 0.0
    verb = ("have fallen" if may else "fell") if delta < 0 else ("have risen" if may else "rose")
    return f"`{row.metric}` {'may ' if may else ''}{verb} by {_size(row, abs(delta))}"


def _numbers(row: Comparison) -> str:
    before, after = (_short(row.unit, value) for value in (row.baseline, row.current))
    low, high = _signed(row, row.ci_low), _signed(row, row.ci_high)
    return f"{before} -> {after}, {100.0 * row.confidence:g} % interval {low} to {high}"


def _points(row: Comparison) -> bool:
    return row.unit == "share" and not row.relative


def _size(row: Comparison, size: float) -> str:
    if row.relative:
        return f"{100.0 * size:.1f} %"
    return f"{100.0 * size:.1f} points" if _points(row) else _value(row.unit, size)


def _signed(row: Comparison, number: float | None) -> str:
    if number is None:
        return "unknown"
    if row.relative:
        return f"{100.0 * number:+.1f} %"
    return f"{100.0 * number:+.1f}" if _points(row) else f"{number:+.4g}"


def _value(unit: str, number: float | None) -> str:
    """A value in its unit, with four significant digits."""
    if number is None:
        return "unknown"
    if unit == "USD":
        return f"${number:.4g}"
    text = f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
    return f"{text} {unit}" if unit not in ("", "points", "share") else text


def _short(unit: str, number: float | None) -> str:
    """As `_value`, but a share has two decimals: its change is given in points."""
    return f"{number:.2f}" if unit == "share" and number is not None else _value(unit, number)
