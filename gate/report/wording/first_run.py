"""What a run came to where nothing judges it: neither a gate nor a baseline has a table then."""

from __future__ import annotations

from gate.records import Report
from gate.report.wording.dimensions import dimensions, in_short
from gate.text import figures
from gate.text.spans import Line, code, join, say

SUCCESS = "agent.success_rate"
_OF_ALL = ("operational", "agent")  # dimensions that every run has
_MOST = 4  # metrics of a dimension


def success(report: Report) -> Line:
    """The success rate of the suites in which nothing judges it: what a first run came to."""
    judged = {row.suite for row in report.comparisons if row.metric == SUCCESS}
    judged |= {gate.suite for gate in report.gates if gate.metric == SUCCESS}
    found = []
    for suite in report.suites.values():
        rate = suite.metrics.get(SUCCESS)
        if suite.name not in judged and rate is not None and rate.value is not None:
            shown = figures.value(rate.value, rate.unit)
            size = f"{figures.count(suite.cases, 'case')} x {figures.count(suite.rounds, 'round')}"
            found.append(say("{} {} ({})", suite.name, shown, size))
    return say("{}: {}.", code(SUCCESS), join(", ", found)) if found else ()


def first_figures(report: Report) -> tuple[Line, ...]:
    """Where no table judges anything: that, and of an import the metrics of the tool itself, a
    line a dimension.
    """
    if report.comparisons or report.gates:
        return ()
    several = len(report.suites) > 1
    found = [success(report)]
    for one in dimensions(report) if report.imported else ():
        if one.name not in _OF_ALL:
            name = f"{one.suite}, {one.title}" if several else one.title
            found.append(say("{}: {}", name, in_short(one, most=_MOST)))
    return tuple(line for line in found if line)
