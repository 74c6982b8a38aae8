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
    told = [line for suite in suites[:_MOST] for line in _of_suite(report, suite)]
    if more := len(suites) - _MOST:
        told += [say("{} in report.md", figures.count(more, "more suite"))] if more > 0 else []
    return (*join("; ", told), *say(".")) if told else ()


def tells_all(suite: SuiteReport) -> bool:
    """Whether `passing` is what the cases that were asked twice or more did: all were."""
    counts, several = suite.counts, suite.reliability
    if counts is None or several is None:
        return False
    return counts.decided == several.reliable + several.flaky + several.consistently_failing


def size(suite: SuiteReport) -> str:
    """`24 cases x 3 rounds`; of a run that made fewer trials what was made of them."""
    planned = suite.cases * suite.rounds
    whole = f"{figures.count(suite.cases, 'case')} x {figures.count(suite.rounds, 'round')}"
    if suite.trials == planned:
        return whole
    if suite.trials > planned:
        return f"{whole} planned, {figures.count(suite.trials, 'trial')} made"
    made = f"{suite.trials:,} of {figures.count(planned, 'planned trial')}"
    return f"{made}, {_asked(suite.counts, suite)}" if suite.counts else made


def weighted(report: Report, rows: Iterable[tuple[str, str]]) -> Line:
    """Of which metrics of these (suite, metric) the figure that was compared is not that of all
    cases, and what that is; empty where they are the same.
    """
    several = len(report.suites) > 1
    compared = _compared_rows(report)
    told = []
    for suite, metric in rows:
        if other := _over_all_cases(report, compared.get((suite, metric))):
            where = say("{}: ", suite) if several else ()
            told.append((*where, *say("{} {}", code(metric), other)))
    if not told:
        return ()
    more = [say(f"{len(told) - _NAMED} more")] if len(told) > _NAMED else []
    return say(
        "Compared are the paired cases, each weighted by its rounds on both sides; over all cases "
        "alike: {}.",
        join(", ", [*told[:_NAMED], *more]),
    )


def _over_all_cases(report: Report, found: Comparison | None) -> str:
    """The figure of a metric over all cases, where the one that was compared shows as another."""
    suite = report.suites.get(found.suite) if found is not None else None
    estimate = suite.metrics.get(found.metric) if found is not None and suite is not None else None
    if found is None or estimate is None or estimate.value is None:
        return ""
    shown = [figures.value(number, found.unit) for number in (found.current, estimate.value)]
    return "" if shown[0] == shown[1] else shown[1]


def _of_suite(report: Report, suite: SuiteReport) -> Iterator[Line]:
    counts = suite.counts
    where = say("{}: ", suite.name) if len(report.suites) > 1 else ()
    rate = _rate(report, suite)
    if counts is None:
        if rate:
            yield (*where, *say("{}{}", size(suite), rate))
        return
    said = [_passes(counts, suite) if counts.decided else ()]
    left = counts.asked - counts.decided
    if counts.decided and left:
        said.append(say("{} without a verdict", f"{left:,}"))
    elif left:
        said.append(say("{} asked, none of which is judged", figures.count(left, "case")))
    if unasked := max(0, suite.cases - counts.asked):
        of = "" if counts.asked else f" of {figures.count(suite.cases, 'case')}"
        said.append(say("{}{} not asked", f"{unasked:,}", of))
    yield (*where, *join(", ", [part for part in said if part]), *rate)


def _passes(counts: CaseCounts, suite: SuiteReport) -> Line:
    of = figures.count(counts.decided, "case")
    several = suite.trials > counts.asked
    every = " every round" if several else ""
    verb = "passes" if counts.decided == counts.passing == 1 else "pass"
    told = [join("", [say("{}", strong(f"{counts.passing:,} of {of}")), say(f" {verb}{every}")])]
    if counts.flaky:
        told.append(say(f"{counts.flaky:,} {'is' if counts.flaky == 1 else 'are'} flaky"))
    if counts.failing:
        verb = "fails" if counts.failing == 1 else "fail"
        told.append(say(f"{counts.failing:,} {verb}{every}"))
    return join(", ", told)


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


def _asked(counts: CaseCounts, suite: SuiteReport) -> str:
    return f"{counts.asked:,} of {figures.count(suite.cases, 'case')}"


def _compared_rows(report: Report) -> dict[tuple[str, str], Comparison]:
    """The first row with a change of each suite and metric."""
    known = [c for c in report.comparisons if c.delta is not None and c.current is not None]
    return {(c.suite, c.metric): c for c in reversed(known)}
