"""What a run came to in plain numbers: how many cases passed, and how much of the plan was made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gate.records import CaseCounts, Comparison, Report, SuiteReport
from gate.text import figures
from gate.text.spans import Line, code, join, say, strong

SUCCESS = "agent.success_rate"
_MOST, _NAMED = 10, 5  # suites, and metrics


def passing(report: Report) -> Line:
    """`18 of 24 cases pass every round, 2 are flaky, 4 fail every round.`, for each suite; with the
    success rate where that is another number, or no table has it.
    """
    suites = list(report.suites.values())
    lines = [line for suite in suites[:_MOST] for line in _suite_lines(report, suite)]
    if more := len(suites) - _MOST:
        lines += [say("{} in report.md", figures.count(more, "more suite"))] if more > 0 else []
    return (*join("; ", lines), *say(".")) if lines else ()


def tells_all(suite: SuiteReport) -> bool:
    """Whether `passing` is what the cases that were asked twice or more did: all were."""
    counts, several = suite.counts, suite.reliability
    if counts is None or several is None:
        return False
    return counts.decided == several.reliable + several.flaky + several.consistently_failing


def size(suite: SuiteReport) -> str:
    """`24 cases x 3 rounds`; of a run that made fewer trials what was made of them."""
    planned = suite.cases * suite.rounds
    planned_size = f"{figures.count(suite.cases, 'case')} x {figures.count(suite.rounds, 'round')}"
    if suite.trials == planned:
        return planned_size
    if suite.trials > planned:
        return f"{planned_size} planned, {figures.count(suite.trials, 'trial')} made"
    trials = f"{suite.trials:,} of {figures.count(planned, 'planned trial')}"
    return f"{trials}, {_number_of_cases(suite.counts, suite)}" if suite.counts else trials


def describe_weighting(report: Report, rows: Iterable[tuple[str, str]]) -> Line:
    """The metrics whose compared figure is not that of all cases, with the figure over all cases;
    empty where they are the same. `rows`: pairs of suite and metric.
    """
    several = len(report.suites) > 1
    compared = _first_comparisons(report)
    parts = []
    for suite, metric in rows:
        if other := _over_all_cases(report, compared.get((suite, metric))):
            where = say("{}: ", suite) if several else ()
            parts.append((*where, *say("{} {}", code(metric), other)))
    if not parts:
        return ()
    more = [say(f"{len(parts) - _NAMED} more")] if len(parts) > _NAMED else []
    return say(
        "Only the paired cases are compared, weighted by their rounds on both sides; with "
        "equal weights over all cases: {}.",
        join(", ", [*parts[:_NAMED], *more]),
    )


def _over_all_cases(report: Report, comparison: Comparison | None) -> str:
    """The figure of a metric over all cases, where the one that was compared shows as another."""
    suite = report.suites.get(comparison.suite) if comparison is not None else None
    estimate = (
        suite.metrics.get(comparison.metric)
        if comparison is not None and suite is not None
        else None
    )
    if comparison is None or estimate is None or estimate.value is None:
        return ""
    shown = [
        figures.value(number, comparison.unit) for number in (comparison.current, estimate.value)
    ]
    return "" if shown[0] == shown[1] else shown[1]


def _suite_lines(report: Report, suite: SuiteReport) -> Iterator[Line]:
    counts = suite.counts
    where = say("{}: ", suite.name) if len(report.suites) > 1 else ()
    rate = _rate(report, suite)
    if counts is None:
        if rate:
            yield (*where, *say("{}{}", size(suite), rate))
        return
    lines = [_passes(counts, suite) if counts.decided else ()]
    left = counts.asked - counts.decided
    if counts.decided and left:
        lines.append(say("{} without a verdict", f"{left:,}"))
    elif left:
        lines.append(say("{} run, but none was judged", figures.count(left, "case")))
    if unasked := max(0, suite.cases - counts.asked):
        of = "" if counts.asked else f" of {figures.count(suite.cases, 'case')}"
        lines.append(say("{}{} not asked", f"{unasked:,}", of))
    yield (*where, *join(", ", [part for part in lines if part]), *rate)


def _passes(counts: CaseCounts, suite: SuiteReport) -> Line:
    of = figures.count(counts.decided, "case")
    several = suite.trials > counts.asked
    every = " every round" if several else ""
    verb = "passes" if counts.decided == counts.passing == 1 else "pass"
    parts = [join("", [say("{}", strong(f"{counts.passing:,} of {of}")), say(f" {verb}{every}")])]
    if counts.flaky:
        parts.append(say(f"{counts.flaky:,} {'is' if counts.flaky == 1 else 'are'} flaky"))
    if counts.failing:
        verb = "fails" if counts.failing == 1 else "fail"
        parts.append(say(f"{counts.failing:,} {verb}{every}"))
    return join(", ", parts)


def _rate(report: Report, suite: SuiteReport) -> Line:
    """The success rate where no table has it, or where it is not the share of the cases that pass,
    and then labelled.
    """
    rate = suite.metrics.get(SUCCESS)
    if rate is None or rate.value is None:
        return ()
    shown = figures.value(rate.value, rate.unit)
    if suite.counts is not None and suite.counts.flaky:
        by = " (each case by its share of passed rounds)"
        return say(": {} {}{}", code(SUCCESS), shown, by)
    judged = {row.metric for row in report.comparisons if row.suite == suite.name}
    judged |= {row.metric for row in report.gates if row.suite == suite.name}
    return say(": {} {}", code(SUCCESS), shown) if SUCCESS not in judged else ()


def _number_of_cases(counts: CaseCounts, suite: SuiteReport) -> str:
    return f"{counts.asked:,} of {figures.count(suite.cases, 'case')}"


def _first_comparisons(report: Report) -> dict[tuple[str, str], Comparison]:
    """The first row with a change of each suite and metric."""
    rows = [c for c in report.comparisons if c.delta is not None and c.current is not None]
    return {(c.suite, c.metric): c for c in reversed(rows)}
