"""Published results of others beside one's own: told as quotations, held against nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gate.records import QuotedValue, Report, SuiteReport
from gate.text import figures
from gate.text.escaping import one_line
from gate.text.spans import Line, code, join, say

HEAD = ("Metric", "here", "quoted", "of", "year", "source")
NOTE = "Quoted values are others' published results: not measured here, and nothing depends on them"
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
        for one in some:
            yield (metric, _here(suite, metric), *_told(suite, one))


def _by_metric(suite: SuiteReport) -> Mapping[str, Sequence[QuotedValue]]:
    """In the order in which they are stored."""
    found: dict[str, list[QuotedValue]] = {}
    for one in suite.quoted:
        some = found.setdefault(one.metric, []) if len(found) < _METRICS else found.get(one.metric)
        if some is not None and len(some) < _VALUES:
            some.append(one)
    return found


def _sentence(suite: SuiteReport, metric: str, some: Sequence[QuotedValue], *, named: bool) -> Line:
    where = say("{}: ", one_line(suite.name, _NAME)) if named else ()
    told = (
        say("{} {} ({}, {})", who, value, year, source)
        for value, who, year, source in (_told(suite, one) for one in some)
    )
    here = _here(suite, metric)
    own = say(
        "{} {} here; quoted, not measured here: {}",
        code(one_line(metric, 80)),
        here,
        join("; ", told),
    )
    return join("", [where, own])


def _here(suite: SuiteReport, metric: str) -> str:
    own = suite.metrics.get(metric)
    return figures.value(own.value, own.unit) if own else figures.ABSENT


def _told(suite: SuiteReport, one: QuotedValue) -> tuple[str, str, str, str]:
    """Value, with the digits that it was published with, who, year, source. A value that is about
    right has `~` in front.
    """
    own = suite.metrics.get(one.metric)
    value = figures.limit(one.value, "share" if own is None else own.unit)
    value = f"~{value}" if one.approximate else value
    return value, one_line(one.of, _NAME), one_line(str(one.year), 6), one_line(one.source, _SOURCE)
