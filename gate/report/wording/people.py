"""What people said of answers: labels, whether or not a judge was asked."""

from __future__ import annotations

from collections.abc import Iterator

from gate.records import Ratings, Report, SuiteReport
from gate.text import figures
from gate.text.escaping import one_line
from gate.text.spans import Line, code, join, say

_METRICS = 20  # of a suite


def lines(report: Report) -> list[Line]:
    """A sentence for each metric that people rated."""
    several = len(report.suites) > 1
    return [
        join("", [say("{}: ", one_line(suite.name, 60)) if several else (), sentence])
        for suite in report.suites.values()
        for sentence in sentences(suite)
    ]


def sentences(suite: SuiteReport) -> Iterator[Line]:
    """People rated `metric` 4.02 (3.85 to 4.19): 48 labels on 24 answers by 2 reviewers; ..."""
    for one in suite.people[:_METRICS]:
        unit = suite.metrics[one.metric].unit if one.metric in suite.metrics else ""
        mean = figures.value(one.mean, unit)
        ends = f" ({figures.span_in_words(*one.ci95, unit)})" if one.ci95 else ""
        yield say(
            "People rated {} {}{}: {} on {} by {}{}",
            code(one_line(one.metric, 80)),
            mean,
            ends,
            figures.count(one.labels, "label"),
            figures.count(one.answers, "answer"),
            figures.count(one.reviewers, "reviewer"),
            _agreed(one),
        )


def _agreed(one: Ratings) -> str:
    """Nothing where there is nobody to agree with."""
    found = one.agreement
    if one.reviewers < 2:
        return ""
    if found.value is None or found.low is None or found.high is None:
        return f"; how far they agree cannot be told ({found.reason})"
    ends = figures.span_in_words(found.low, found.high, "")
    return f"; they agree by alpha {figures.value(found.value, '')} ({ends})"
