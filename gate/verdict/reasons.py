"""Verdicts as sentences that a developer believes: size, interval, chance, what could be seen, what
it cost.
"""

from __future__ import annotations

from collections.abc import Sequence

from gate.records import Blind, Calls, Comparison, Floor, GateResult, Outcome, limits_by_metric
from gate.text import figures

Limits = Sequence[float]  # what the figures of a metric are compared with, beside its baseline


def describe_regression(row: Comparison, limits: Limits = ()) -> str:
    """`m` fell by 9.1 points (0.93 -> 0.84, 98 % interval -13.2 to -5.0; allowed 2 points; ...)."""
    return f"{_movement(row)} ({_numbers(row, limits)}; {_chance(row)})"


def describe_improvement(row: Comparison, limits: Limits = ()) -> str:
    """`m` rose by 9.1 points (0.84 -> 0.93, 98 % interval +5.0 to +13.2)."""
    return f"{_movement(row)} ({_change(row, limits)})"


def describe_suspicion(row: Comparison, power: float, limits: Limits = ()) -> str:
    """A change that may be harm, and why it does not block."""
    moved = f"{_movement(row, may=True)} ({_numbers(row, limits)})"
    seen = row.reason or _caught_drop(row, power, named=False)
    return f"{moved}, but {_chance(row)}, too likely to call it a regression; {seen}"


def describe_undecided(metric: str, why: str) -> str:
    """`m`: why; once where the reason begins with the name."""
    rest = why.removeprefix(metric)
    return f"`{metric}`: {why}" if rest == why else f"`{metric}`{rest}"


def describe_blindness(blind: Blind) -> str:
    """With how many cases and rounds no result would be significant, and with how many one could
    be.
    """
    size = f"{figures.count(blind.cases, 'case')} with {figures.count(blind.rounds, 'round')}"
    ways = [f"{blind.enough_cases} cases could"]
    if blind.enough_rounds is not None:
        ways = [f"{figures.count(blind.enough_rounds, 'round')}, or {ways[0]}"]
    each = " each" if blind.cases > 1 else ""
    return f"no result of {size}{each} could be distinguished from chance; {ways[0]}"


def describe_floor(floor: Floor) -> str:
    """None of the 12 graded answers passed, and what follows from that."""
    sentence = f"none of the {floor.answers:,} graded answers passed"
    if floor.mild:
        return f"{sentence}; `floor` only warns here, because {floor.mild}"
    return f"{sentence}, which fails a suite even without a baseline (`floor`)"


def describe_unjudged(metrics: Sequence[str], why: str) -> str:
    """`m` and `n` are missing: judge unreachable: why."""
    named = figures.join_words([f"`{metric}`" for metric in metrics], most=3)
    return f"{named} {'is' if len(metrics) == 1 else 'are'} missing: {why}"


def describe_gate_failure(row: GateResult) -> str:
    """`m` is 0.78, below min 0.82 (interval 0.75 to 0.81)."""
    value = row.value or 0.0
    shown = figures.value(value, row.unit, limits=row.limits)
    ends = figures.span_in_words(row.ci_low, row.ci_high, row.unit, limits=row.limits)
    parts = [f"interval {ends}"] if row.ci_low != row.ci_high else []
    parts += [describe_lost_cases(row)] if row.as_before else []
    bounds = f" ({'; '.join(parts)})" if parts else ""
    if row.min is not None and value < row.min - figures.NOISE:
        rule = f"below min {figures.limit(row.min, row.unit)}"
    elif row.max is not None and value > row.max + figures.NOISE:
        rule = f"above max {figures.limit(row.max, row.unit)}"
    elif row.min is not None:
        rule = f"which does not prove min {figures.limit(row.min, row.unit)}"
    else:
        rule = f"which does not prove max {figures.limit(row.max or 0.0, row.unit)}"
    return figures.keep_hyphens(f"`{row.metric}` is {shown}, {rule}{bounds}")


def describe_lost_cases(row: GateResult) -> str:
    """Why the value is another than that of the answers alone."""
    verb = "counts" if row.as_before == 1 else "count"
    return f"{figures.count(row.as_before, 'lost case')} {verb} as in the baseline"


def describe_doubt(row: GateResult) -> str:
    """`m` is 0.79, below min 0.8 (interval 0.69 to 0.87), which its rule convicted lets through."""
    return f"{describe_gate_failure(row)}, which its rule {row.rule} allows"


def describe_pass(
    comparisons: Sequence[Comparison], gates: Sequence[GateResult], power: float
) -> str:
    """What a green tick would hide: what was accepted, else the smallest drop that would have been
    seen.
    """
    if taken := _accepted_changes(comparisons, gates):
        return f"accepted: {join_reasons(taken)}"
    limits = limits_by_metric(gates)
    doubts = [describe_doubt(row) for row in gates if row.level == "block" and row.status == "warn"]
    doubts_first = f"{join_reasons(doubts)}; " if doubts else ""
    rows = [row for row in comparisons if row.level == "block" and row.p_value is not None]
    if not rows:
        met = figures.count(sum(gate.status == "pass" for gate in gates), "gate")
        return f"{doubts_first}{met} met; no blocking metric was compared with a baseline"
    worse = next((row for row in rows if row.status == "within_tolerance"), None)
    if worse is not None:
        held = limits.get((worse.suite, worse.metric), ())
        sentence = f"no regression beyond the tolerance: {describe_regression(worse, held)}"
        sentence += f"; {_caught_drop(worse, power, named=False)}"
    else:
        row = _least_sensitive(rows)
        so_far = "" if row.settled else " so far"
        link = "; " if _sees(row) else ", but "
        sentence = (
            f"no regression seen{so_far}{link}{_caught_drop(row, power)} ({_measured_values(row)})"
        )
    settled = all(row.settled for row in rows)
    sentence = doubts_first + sentence
    return sentence if settled else f"{sentence}; the run ended before this was settled"


def _accepted_changes(comparisons: Sequence[Comparison], gates: Sequence[GateResult]) -> list[str]:
    """What got worse or broke a limit with somebody's consent."""
    rows = [row for row in comparisons if row.level == "block" and row.status == "accepted"]
    broken = [row for row in gates if row.level == "block" and row.status == "accepted"]
    compared = {(row.suite, row.metric) for row in rows}
    held = limits_by_metric(gates)
    return [
        *(
            describe_regression(row, held.get((row.suite, row.metric), ()))
            for row in rows
            if row.p_value is not None
        ),
        *(describe_undecided(row.metric, row.reason) for row in rows if row.p_value is None),
        *(describe_gate_failure(g) for g in broken if (g.suite, g.metric) not in compared),
    ]


def join_reasons(reasons: Sequence[str]) -> str:
    """The first in full; the rest as a number."""
    more = len(reasons) - 1
    return reasons[0] + (f"; and {figures.count(more, 'more reason')}" if more else "")


def with_calls(reason: str, outcome: Outcome, calls: Calls, *, trials: int) -> str:
    """The reason and what it cost, where that is not what was planned. `trials`: that were made;
    `calls` count a trial again when it was tried again.
    """
    plan, more = f"{calls.planned:,} planned calls", calls.made - calls.planned
    if 0 < trials < calls.planned and calls.made < calls.planned:
        is_early_fail = outcome == "fail" and calls.saved
        trials_made = (
            f"found after {calls.made:,} of {plan}"
            if is_early_fail
            else f"{calls.made:,} of {plan} made"
        )
        return f"{reason}; {trials_made}" + (f", {calls.saved:,} saved" if calls.saved else "")
    if trials <= calls.planned:
        return reason
    cost = f"{figures.count(calls.made, 'call')}, {more:,} more than planned"
    if trials > calls.cap:  # recorded ones: nobody made them because of a doubt
        return f"{reason}; {cost}"
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


def _movement(row: Comparison, *, may: bool = False) -> str:
    """`m` fell by 9.1 points; of what is ten times as much or more: rose to 256 x."""
    fell = (row.delta or 0.0) < 0
    verb = ("have fallen" if may else "fell") if fell else ("have risen" if may else "rose")
    size = _delta(row).lstrip("+-")
    way = "to" if size.endswith(" x") else "by"
    whose = " for a typical answer" if row.typical else ""
    return f"`{row.metric}` {'may ' if may else ''}{verb} {way} {figures.spell_points(size)}{whose}"


def _numbers(row: Comparison, limits: Limits) -> str:
    """0.93 -> 0.84, 98 % interval -13.2 to -5.0; allowed 2 points."""
    allowed = figures.tolerance_in_words(row.tolerance, row.unit, relative=row.relative)
    return f"{_change(row, limits)}; allowed {figures.spell_points(allowed)}"


def _change(row: Comparison, limits: Limits) -> str:
    before, after = (
        figures.value(value, row.unit, limits=limits) for value in (row.baseline, row.current)
    )
    what = "mean " if row.typical else ""
    return figures.keep_hyphens(f"{what}{before} -> {after}") + _interval(row)


def _measured_values(row: Comparison) -> str:
    if abs(row.delta or 0.0) <= figures.NOISE:
        return f"measured no change{_interval(row)}"
    whose = " of a typical answer" if row.typical else ""
    return f"measured {figures.spell_points(_delta(row))}{whose}{_interval(row)}; {_chance(row)}"


def _delta(row: Comparison) -> str:
    shown = figures.change(row.delta, row.unit, relative=row.relative, tolerance=row.tolerance)
    return figures.keep_hyphens(shown)


def _interval(row: Comparison) -> str:
    shown = figures.interval_in_words(
        *(row.ci_low, row.ci_high, row.unit),
        relative=row.relative,
        tolerance=row.tolerance,
        delta=row.delta,
    )
    return (
        f", {figures.percent(row.confidence)} interval {figures.keep_hyphens(shown)}"
        if shown
        else ""
    )


def _chance(row: Comparison) -> str:
    """How often shuffling each case's runs between the two sides shows as large a change."""
    fell = (row.delta or 0.0) < 0.0
    p = row.p_value if fell == (row.direction == "higher") else row.p_better
    return (
        f"if nothing had changed, a {'drop' if fell else 'rise'} this large would appear "
        f"{figures.chance(1.0 if p is None else p)} of the time"
    )


def _caught_drop(row: Comparison, power: float, *, named: bool = True) -> str:
    change = "drop" if row.direction == "higher" else "rise"
    where = f" in `{row.metric}`" if named else ""
    least = figures.spell_points(figures.size(row.mde or 0.0, row.unit, relative=row.relative))
    size = f"a {change} of {least} or more" if _sees(row) else f"no {change}"
    return f"{size}{where} would have been caught {figures.often(power)}"


def _sees(row: Comparison) -> bool:
    """Whether there is a change that would have been caught: no drop is larger than all."""
    all_there_is = 1.0 if row.relative else abs(row.baseline or 0.0)
    return row.mde is not None and (row.direction == "lower" or row.mde <= all_there_is)
