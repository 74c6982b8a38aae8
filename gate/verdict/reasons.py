"""Verdicts as sentences that a developer believes: size, interval, chance, what could be seen, what
it cost.
"""

from __future__ import annotations

from collections.abc import Sequence

from gate.records import Calls, Comparison, GateResult, Outcome
from gate.text import figures

RARE = 0.0001  # a smaller chance is not worth its digits


def regressed(row: Comparison) -> str:
    """`m` fell by 9.1 points (0.93 -> 0.84, 98 % interval -13.2 to -5.0; allowed -2.0; ...)."""
    return f"{_moved(row)} ({_numbers(row)}; {_chance(row)})"


def improved(row: Comparison) -> str:
    """`m` rose by 9.1 points (0.84 -> 0.93, 98 % interval +5.0 to +13.2)."""
    return f"{_moved(row)} ({_change(row)})"


def suspected(row: Comparison, power: float) -> str:
    """A change that may be harm, and why it does not block."""
    moved = f"{_moved(row, may=True)} ({_numbers(row)})"
    seen = _caught(row, power, named=False)
    return f"{moved}, but {_chance(row)}, too often to call it a regression; {seen}"


def undecided(metric: str, why: str) -> str:
    """`m`: why; once where the reason begins with the name."""
    rest = why.removeprefix(metric)
    return f"`{metric}`: {why}" if rest == why else f"`{metric}`{rest}"


def unjudged(metrics: Sequence[str], why: str) -> str:
    """`m` and `n` are missing: judge unreachable: why."""
    named = figures.listed([f"`{metric}`" for metric in metrics], most=3)
    return f"{named} {'is' if len(metrics) == 1 else 'are'} missing: {why}"


def gate_failed(row: GateResult) -> str:
    """`m` is 0.78, below min 0.82 (98 % interval 0.75 to 0.81)."""
    value = row.value or 0.0
    shown, low, high = (_value(row.unit, v) for v in (value, row.ci_low, row.ci_high))
    bounds = f" (interval {low} to {high})" if low != high else ""
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
    """What a green tick would hide: what was accepted, else the smallest drop that would have been
    seen.
    """
    if taken := _accepted(comparisons, gates):
        return f"accepted: {joined(taken)}"
    rows = [row for row in comparisons if row.level == "block" and row.p_value is not None]
    if not rows:
        met = sum(gate.status == "pass" for gate in gates)
        return f"{figures.count(met, 'gate')} met; no blocking metric was compared with a baseline"
    worse = next((row for row in rows if row.status == "within_tolerance"), None)
    if worse is not None:
        said = f"no regression beyond what is allowed: {regressed(worse)}"
        said += f"; {_caught(worse, power, named=False)}"
    else:
        row = _least_sensitive(rows)
        so_far = "" if row.settled else " so far"
        link = "; " if _sees(row) else ", but "
        said = f"no regression seen{so_far}{link}{_caught(row, power)} ({_measured(row)})"
    settled = all(row.settled for row in rows)
    return said if settled else f"{said}; the run ended before this was settled"


def _accepted(comparisons: Sequence[Comparison], gates: Sequence[GateResult]) -> list[str]:
    """What got worse or broke a limit with somebody's consent."""
    rows = [row for row in comparisons if row.level == "block" and row.status == "accepted"]
    limits = [row for row in gates if row.level == "block" and row.status == "accepted"]
    compared = {(row.suite, row.metric) for row in rows}
    return [
        *(regressed(row) for row in rows if row.p_value is not None),
        *(undecided(row.metric, row.reason) for row in rows if row.p_value is None),
        *(gate_failed(g) for g in limits if (g.suite, g.metric) not in compared),
    ]


def joined(reasons: Sequence[str]) -> str:
    """The first in full; the rest as a number."""
    more = len(reasons) - 1
    return reasons[0] + (f"; and {figures.count(more, 'more reason')}" if more else "")


def with_calls(reason: str, outcome: Outcome, calls: Calls, *, trials: int) -> str:
    """The reason and what it cost, where that is not what was planned. `trials`: that were made;
    `calls` count a trial again when it was tried again.
    """
    plan, more = f"{calls.planned:,} planned calls", calls.made - calls.planned
    if 0 < trials < calls.planned and calls.made < calls.planned:
        found = outcome == "fail" and calls.saved
        made = (
            f"found after {calls.made:,} of {plan}" if found else f"{calls.made:,} of {plan} made"
        )
        return f"{reason}; {made}" + (f", {calls.saved:,} saved" if calls.saved else "")
    if trials <= calls.planned:
        return reason
    cost = f"{figures.count(calls.made, 'call')}, {more:,} more than planned"
    if outcome != "inconclusive":
        return f"{reason}; {cost}, settled it"
    most = ", and `max_rounds` allows no more" if trials >= calls.cap else ""
    return f"{reason}; {cost}, did not settle it{most}"


# ------------------------------------------------------------------------------------------ clauses


def _least_sensitive(rows: Sequence[Comparison]) -> Comparison:
    """The comparison that a reader looks for first: what is not settled, then success, then the one
    that sees least.
    """
    pool = [row for row in rows if not row.settled] or list(rows)
    pool = [row for row in pool if row.metric == "agent.success_rate"] or pool
    return max(pool, key=lambda row: row.mde if row.mde is not None else float("inf"))


def _moved(row: Comparison, *, may: bool = False) -> str:
    delta = row.delta or 0.0
    verb = ("have fallen" if may else "fell") if delta < 0 else ("have risen" if may else "rose")
    return f"`{row.metric}` {'may ' if may else ''}{verb} by {_size(row, abs(delta))}"


def _numbers(row: Comparison) -> str:
    """0.93 -> 0.84, 98 % interval -13.2 to -5.0; allowed -2.0."""
    allowed = _signed(row, -row.tolerance if row.direction == "higher" else row.tolerance)
    return f"{_change(row)}; allowed {allowed}"


def _change(row: Comparison) -> str:
    values = (row.baseline, row.current)
    digits = figures.digits_of(values, row.unit)
    before, after = (_short(row.unit, value, digits) for value in values)
    return f"{before} -> {after}{_interval(row)}"


def _measured(row: Comparison) -> str:
    if not row.delta:
        return f"measured no change{_interval(row)}"
    unit = " points" if _points(row) else "" if row.relative or not row.unit else f" {row.unit}"
    return f"measured {_signed(row, row.delta)}{unit}{_interval(row)}; {_chance(row)}"


def _interval(row: Comparison) -> str:
    if row.ci_low is None and row.ci_high is None:
        return ""
    low, high = _signed(row, row.ci_low), _signed(row, row.ci_high)
    delta = row.delta or 0.0  # a bound of 0 is one that the test excludes
    low = "above 0" if delta > 0.0 and row.ci_low == 0.0 else low
    high = "below 0" if delta < 0.0 and row.ci_high == 0.0 else high
    return f", {figures.percent(row.confidence)} interval {low} to {high}"


def _chance(row: Comparison) -> str:
    """How often shuffling each case's runs between the two sides shows as large a change."""
    fell = (row.delta or 0.0) < 0.0
    p = row.p_value if fell == (row.direction == "higher") else row.p_better
    return (
        f"if nothing had changed, a {'drop' if fell else 'rise'} this large would show "
        f"{_percent(1.0 if p is None else p)} of the time"
    )


def _percent(chance: float) -> str:
    if chance < RARE:
        return f"less than {100 * RARE:g} %"
    return f"{100 * chance:.0f} %" if chance >= 0.1 else f"{100 * chance:.2g} %"


def _caught(row: Comparison, power: float, *, named: bool = True) -> str:
    change = "drop" if row.direction == "higher" else "rise"
    where = f" in `{row.metric}`" if named else ""
    size = f"a {change} of {_size(row, row.mde or 0.0)} or more" if _sees(row) else f"no {change}"
    return f"{size}{where} would have been caught {figures.often(power)}"


def _sees(row: Comparison) -> bool:
    """Whether there is a change that would have been caught: no drop is larger than all."""
    whole = 1.0 if row.relative else abs(row.baseline or 0.0)
    return row.mde is not None and (row.direction == "lower" or row.mde <= whole)


# ------------------------------------------------------------------------------------------ figures


def _points(row: Comparison) -> bool:
    return row.unit == "share" and not row.relative


def _size(row: Comparison, size: float) -> str:
    if row.relative:
        return f"{100.0 * size:.1f} %"
    return f"{100.0 * size:.1f} points" if _points(row) else _value(row.unit, size)


def _signed(row: Comparison, number: float | None) -> str:
    if number is None:
        return "unknown"
    hundredths = row.relative or _points(row)
    shown = f"{100.0 * number:+.1f}" if hundredths else f"{number:+.4g}"
    shown = shown if float(shown) else shown[1:]  # no sign of nothing
    return f"{shown} %" if row.relative else shown


def _value(unit: str, number: float | None) -> str:
    """A value in its unit, with four significant digits."""
    if number is None:
        return "unknown"
    if unit == "USD":
        return f"${number:.4g}"
    text = f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
    return f"{text} {unit}" if unit not in ("", "points", "share") else text


def _short(unit: str, number: float | None, digits: int) -> str:
    """As `_value`, but a share has few decimals: its change is given in points."""
    known = unit == "share" and number is not None
    return f"{number:.{digits}f}" if known else _value(unit, number)
