"""Published results of others beside one's own: told as quotations, compared with nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gate.records import QuotedValue, Report, SuiteReport
from gate.text import figures
from gate.text.shortening import shorten
from gate.text.spans import Line, code, join, say

HEAD = ("Metric", "here", "quoted", "of", "year", "source")
NOTE = (
    "Quoted values are results published by others. They were not measured here and do not "
    "affect the verdict"
)
_METRICS = 20  # of a suite
_VALUES = 10  # of a metric
_NAME, _SOURCE = 60, 120  # characters


def lines(report: Report) -> list[Line]:
    """A sentence for each metric with quotations: `metric` 0.61 here; quoted, not measured here:
    GPT-4 ~0.50 (2023, source); human ...
    """
    several = len(report.suites) > 1
    return [
        _sentence(suite, metric, some, named=several)
        for suite in report.suites.values()
        for metric, some in _by_metric(suite).items()
    ]


def rows(suite: SuiteReport) -> Iterator[tuple[str, ...]]:
    """What HEAD names of each quotation, hostile text."""
    for metric, some in _by_metric(suite).items():
        for score in some:
            yield (metric, _here(suite, metric), *_quotation(suite, score))


def _by_metric(suite: SuiteReport) -> Mapping[str, Sequence[QuotedValue]]:
    """In the order in which they are stored."""
    scores: dict[str, list[QuotedValue]] = {}
    for score in suite.quoted:
        some = (
            scores.setdefault(score.metric, [])
            if len(scores) < _METRICS
            else scores.get(score.metric)
        )
        if some is not None and len(some) < _VALUES:
            some.append(score)
    return scores


def _sentence(suite: SuiteReport, metric: str, some: Sequence[QuotedValue], *, named: bool) -> Line:
    where = say("{}: ", shorten(suite.name, _NAME)) if named else ()
    quotations = (
        say("{} {} ({}, {})", who, value, year, source)
        for value, who, year, source in (_quotation(suite, one) for one in some)
    )
    here = _here(suite, metric)
    measured = say(
        "{} {} here; quoted, not measured here: {}",
        code(shorten(metric, 80)),
        here,
        join("; ", quotations),
    )
    return join("", [where, measured])


def _here(suite: SuiteReport, metric: str) -> str:
    estimate = suite.metrics.get(metric)
    return figures.value(estimate.value, estimate.unit) if estimate else figures.ABSENT


def _quotation(suite: SuiteReport, score: QuotedValue) -> tuple[str, str, str, str]:
    """Value, with the digits that it was published with, who, year, source. A value that is about
    right has `~` in front.
    """
    estimate = suite.metrics.get(score.metric)
    value = figures.limit(score.value, "share" if estimate is None else estimate.unit)
    value = f"~{value}" if score.approximate else value
    return (
        value,
        shorten(score.of, _NAME),
        shorten(str(score.year), 6),
        shorten(score.source, _SOURCE),
    )
