"""What `gate plan` says: sentences and tables, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gate.records.planning import Bill, MetricOutlook, Plan, SuiteOutlook
from gate.report.wording.blocks import Block, Grid, Heading
from gate.report.wording.plan_advice import (
    advice,
    impossible,
    limit_of,
    risk,
    rounds_of,
    saving,
    size,
    within_tolerance,
    words,
)
from gate.report.wording.sentences import SOUND_RUNS, needs_runs
from gate.text import figures
from gate.text.figures import ABSENT
from gate.text.spans import Line, code, join, prose, say, strong

DETAILED = 3  # metrics of a suite whose targets are listed; the JSON form has those of all


# --------------------------------------------------------------------------------------- contents
def blocks(plan: Plan) -> Iterator[Block]:
    """The page, for a terminal or as Markdown."""
    shared = f", over all {plan.tests} blocking metrics together" if plan.tests > 1 else ""
    yield say(
        "A harmless change is blocked at most {} of the time{}. A change listed as caught "
        "is blocked {} of the time.",
        figures.percent(plan.alpha),
        shared,
        figures.percent(plan.power),
    )
    for note in plan.notes[:5]:
        yield say("Note: {}", prose(note))
    for suite in plan.suites:
        yield from _suite(suite)


def _suite(suite: SuiteOutlook) -> Iterator[Block]:
    yield Heading(line=say("{}: {}", suite.suite, _shape(suite)))
    yield _baseline(suite)
    for note in (*suite.notes, *suite.baseline.notes):
        yield say("Note: {}", prose(note))
    yield from _limits(suite)
    if not suite.metrics:
        yield say("No metric of this suite can block, so there is nothing to plan.")
        return
    yield _metrics(suite)
    for metric in suite.metrics:
        if metric.reason:
            yield say("{}: {}.", code(metric.metric), prose(metric.reason))
    yield _spending(suite)
    detailed = [metric for metric in suite.metrics if metric.targets]
    if detailed:
        yield _what_it_takes(suite)
        yield Grid(head=_head(suite), rows=tuple(_targets(detailed[:DETAILED], suite)))
        if any(within_tolerance(one, t.change) for one in detailed[:DETAILED] for t in one.targets):
            yield say(
                "* Equal to the tolerance: at best about half of these changes are caught, at "
                "any cost."
            )
        for line in (saving(detailed[0], suite), impossible(detailed[0], suite)):
            if line:
                yield line
    noise = _noise(suite)
    if noise:
        yield noise
    yield (*say("{} ", strong("Next:")), *advice(suite))


def _limits(suite: SuiteOutlook) -> Iterator[Block]:
    """How often noise alone misses each limit, and what to do about those that it often does."""
    if not suite.limits:
        return
    yield say("How often an unchanged agent would break a limit by chance in a run of this size:")
    rows = ((code(limit_of(limit)[0]), *limit_of(limit)[1:]) for limit in suite.limits)
    yield Grid(
        head=("limit", "", "missed by chance"),
        rows=tuple(((first,), *(say("{}", cell) for cell in rest)) for first, *rest in rows),
    )
    whys = dict.fromkeys((limit.odds.chance is None, limit.odds.why) for limit in suite.limits)
    for unknown, why in whys:
        if why:
            yield say("{}: {}.", "Unknown" if unknown else "* A first guess", prose(why))
    for line in map(risk, suite.limits):
        if line:
            yield line


def _shape(suite: SuiteOutlook) -> str:
    shown = f"{figures.count(suite.cases, 'case')} x {figures.count(suite.rounds, 'round')}"
    more = f", up to {suite.max_rounds} while undecided" if suite.max_rounds > suite.rounds else ""
    return shown + more + (", each by two agents" if suite.fresh else "")


def _baseline(suite: SuiteOutlook) -> Line:
    info = suite.baseline
    where = say(" ({})", prose(info.detail, 300)) if info.detail else ()
    if suite.assumed:
        stored = (
            ""
            if suite.fresh
            else (
                ", assuming one stored run of the base branch; "
                f"{SOUND_RUNS} runs of it make a sound baseline"
            )
        )
        return say(
            "There is no baseline{}: the figures are estimates without data{}.", where, stored
        )
    rounds = rounds_of(suite)
    plural = "" if suite.rounds_b == 1 else "s"
    runs = f" of {figures.count(info.runs, 'run')}" if info.runs > 1 else ""
    new = f", {suite.unstored:,} of the cases are not in it" if suite.unstored else ""
    what = "Noise from" if suite.fresh else "Baseline:"
    luck: Line = ()
    if needs_runs(info):
        more = str(SOUND_RUNS - info.runs)
        luck = say(" {} more runs of the base branch make it sound: few may be lucky ones.", more)
    text = "{} {} stored round{} a case{}{}{}.{}"
    return say(text, what, rounds, plural, runs, where, new, luck)


def _metrics(suite: SuiteOutlook) -> Grid:
    early = _early(suite)
    once = f"fixed at {figures.count(suite.rounds, 'round')}"
    guessed = any(metric.guess for metric in suite.metrics)
    rows = (
        (
            (code(metric.metric),),
            say("{}", figures.value(metric.value, metric.unit)),
            say("{}", words(metric, metric.mde)),
            *([say("{}", words(metric, metric.mde_fixed))] if early else []),
            say("{}", ABSENT if metric.sd is None else f"± {size(metric, metric.sd)}"),
        )
        for metric in suite.metrics
    )
    noise = "call noise" + " (guess)" * guessed
    shown = ("least caught", once) if early else ("least caught",)
    return Grid(head=("blocking metric", "baseline", *shown, noise), rows=tuple(rows))


def _spending(suite: SuiteOutlook) -> Line:
    calls = f"{suite.at_most.calls or 0:,}"
    if not _early(suite):
        return say("A run makes {} calls (cost: {}).", calls, _usd(suite.at_most))
    low, high = suite.unchanged.calls or 0, suite.unchanged_apart.calls or 0
    line = say(
        "A run makes {} calls at most (cost: {}), on average {} when nothing changed (cost: {}).",
        calls,
        _usd(suite.at_most),
        f"{high:,}" if high <= 1.1 * low else f"{low:,} to {high:,}",
        _usd(suite.unchanged_apart),
    )
    if not suite.numbered:
        return line
    planned = f"{suite.planned.calls or 0:,}"
    more = say("A gate with a value close to its limit always needs all {} planned calls.", planned)
    return join(" ", (line, more))


def _what_it_takes(suite: SuiteOutlook) -> Line:
    if not _early(suite):
        return say("What it takes to catch other changes:")
    return say(
        'What it takes to catch other changes. "at most": calls of the longest run. '
        '"unchanged", "changed": calls of an average run without and with that '
        'change. "fixed": calls when every round is made and judged once. "cost": of '
        "an average run without a change."
    )


def _head(suite: SuiteOutlook) -> tuple[str, ...]:
    if not _early(suite):
        return ("to catch", "cases", "calls", "cost")
    return ("to catch", "cases", "at most", "unchanged", "changed", "fixed", "cost")


def _targets(metrics: Sequence[MetricOutlook], suite: SuiteOutlook) -> Iterator[tuple[Line, ...]]:
    several, columns = len(suite.metrics) > 1, len(_head(suite))
    for metric in metrics:
        if several:
            yield ((code(metric.metric),), *[()] * (columns - 1))
        for target in metric.targets:
            tolerated = " *" if within_tolerance(metric, target.change) else ""
            bills = (target.at_most, target.unchanged, target.changed, target.fixed)
            yield (
                say("{}{}{}", "- " if several else "", words(metric, target.change), tolerated),
                _number(target.cases),
                *(_number(bill.calls) for bill in (bills if _early(suite) else bills[:1])),
                say("{}", _usd(target.unchanged)),
            )


def _number(number: int | None) -> Line:
    return say("{}", ABSENT if number is None else f"{number:,}")


def _early(suite: SuiteOutlook) -> bool:
    return suite.max_rounds > suite.rounds or suite.looks > 1


def _usd(bill: Bill) -> str:
    return figures.money(bill.usd)


def _noise(suite: SuiteOutlook) -> Line:
    """Where the calls go, and where the noise comes from."""
    facts = []
    if suite.never_changing is not None:
        same = figures.portion(suite.never_changing)
        facts.append(
            say("{} of the calls go to cases whose stored answers all passed or all failed.", same)
        )
    first = suite.metrics[0]
    if first.between is not None:
        facts.append(
            say(
                "{} of the variance of {} is between cases and cancels out, because each "
                "case is compared with itself.",
                figures.portion(first.between),
                code(first.metric),
            )
        )
    return join(" ", facts)
