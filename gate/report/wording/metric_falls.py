"""The cases that made a metric worse although no grader fails them for it."""

from __future__ import annotations

from gate.records import CaseFall, MetricFall, Report
from gate.text import figures
from gate.text.spans import Line, code, say, strong


def list_open(report: Report, *, most: int) -> tuple[MetricFall, ...]:
    """The falls that a reader should see at once: of metrics that block, unless the run passed."""
    blocking = () if report.outcome == "pass" else report.worse
    return tuple(fall for fall in blocking if fall.blocks)[:most]


def by_case(report: Report) -> dict[tuple[str, str], tuple[str, ...]]:
    """Suite and case -> `faithfulness 5.00 → 1.00` of each metric that it made worse, in the order
    in which a reader should look at them.
    """
    changes: dict[tuple[str, str], tuple[str, ...]] = {}
    for fall in report.worse:
        for case in fall.worst:
            text = f"{fall.metric.partition('.')[2] or fall.metric} {change(fall, case)}"
            key = (fall.suite, case.case_id)
            changes[key] = (*changes.get(key, ()), text)
    return changes


def titles(report: Report) -> tuple[Line, ...]:
    """The titles for a page that lists the cases itself."""
    return tuple(title(report, fall, shown=fall.cases, end=".") for fall in report.worse)


def title(report: Report, fall: MetricFall, *, shown: int, end: str = ":") -> Line:
    """`22 cases got worse in m, the first 5:`."""
    what = strong(figures.count(fall.cases, "case"))
    verb = (
        "got worse in"
        if fall.fell
        else ("is" if fall.cases == 1 else "are") + " beyond the limit of"
    )
    where = f" of {fall.suite}" if len(report.suites) > 1 else ""
    first = f", the first {shown}" if shown < fall.cases else ""
    return say("{} " + verb + " {}{}{}" + end, what, code(fall.metric), where, first)


def change(fall: MetricFall, case: CaseFall) -> str:
    """`5.00 → 1.00`."""
    was, now = (figures.value(number, fall.unit) for number in (case.baseline, case.current))
    return f"{was} → {now}"
