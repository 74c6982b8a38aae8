"""What an import came to where neither a gate nor a baseline has a table."""

from __future__ import annotations

from gate.records import Report
from gate.report.wording.dimensions import dimensions, in_short
from gate.text.spans import Line, say

_OF_ALL = ("operational", "agent")  # dimensions that every run has
_MOST = 4  # metrics of a dimension


def first_figures(report: Report) -> tuple[Line, ...]:
    """The metrics of the tool itself, a line a dimension, where no table judges anything."""
    if report.comparisons or report.gates or not report.imported:
        return ()
    several = len(report.suites) > 1
    lines = []
    for dimension in dimensions(report):
        if dimension.name not in _OF_ALL:
            name = f"{dimension.suite}, {dimension.title}" if several else dimension.title
            lines.append(say("{}: {}", name, in_short(dimension, most=_MOST)))
    return tuple(lines)
