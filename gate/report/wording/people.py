"""What people said of answers: labels, whether or not a judge was asked."""

from __future__ import annotations

from collections.abc import Iterator

from gate.records import Ratings, Report, SuiteReport
from gate.text import figures
from gate.text.shortening import shorten
from gate.text.spans import Line, code, join, say

_METRICS = 20  # of a suite


def lines(report: Report) -> list[Line]:
    """A sentence for each metric that people rated."""
    several = len(report.suites) > 1
    return [
        join("", [say("{}: ", shorten(suite.name, 60)) if several else (), sentence])
        for suite in report.suites.values()
        for sentence in sentences(suite)
    ]


def sentences(suite: SuiteReport) -> Iterator[Line]:
    """People rated `metric` 4.02 (3.85 to 4.19): 48 labels on 24 answers by 2 reviewers; ..."""
    for ratings in suite.people[:_METRICS]:
        unit = suite.metrics[ratings.metric].unit if ratings.metric in suite.metrics else ""
        mean = figures.value(ratings.mean, unit)
        ends = f" ({figures.span_in_words(*ratings.ci95, unit)})" if ratings.ci95 else ""
        yield say(
            "People rated {} {}{}: {} on {} by {}{}",
            code(shorten(ratings.metric, 80)),
            mean,
            ends,
            figures.count(ratings.labels, "label"),
            figures.count(ratings.answers, "answer"),
            figures.count(ratings.reviewers, "reviewer"),
            _agreement_in_words(ratings),
        )


def _agreement_in_words(ratings: Ratings) -> str:
    """Nothing where there is nobody to agree with."""
    agreement = ratings.agreement
    if ratings.reviewers < 2:
        return ""
    if agreement.value is None or agreement.low is None or agreement.high is None:
        return f"; how far they agree is unknown ({agreement.reason})"
    ends = figures.span_in_words(agreement.low, agreement.high, "")
    return f"; they agree by alpha {figures.value(agreement.value, '')} ({ends})"
