"""A judge's number beside what people's labels make of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gate.records import Corrected, Estimate, Report
from gate.report.wording.checks import Check
from gate.text import figures
from gate.text.spans import Line, code, say


def corrections(estimates: Iterable[Estimate]) -> Iterator[Line]:
    """`metric` 4.31, corrected by 48 labels: 4.02 (3.85 to 4.19); the judge agrees ... 0.74."""
    for one in estimates:
        if one.corrected is not None:
            raw = figures.value(one.value, one.unit)
            agreed = _agreed(one.corrected)
            yield say(
                "{} {}, {}{}", code(one.metric), raw, in_words(one.corrected, one.unit), agreed
            )


def in_words(found: Corrected, unit: str) -> str:
    """`corrected by 48 labels: 4.02 (3.85 to 4.19)`."""
    ends = figures.span_in_words(found.ci_low, found.ci_high, unit)
    value = figures.value(found.value, unit)
    return f"corrected by {figures.count(found.n_labels, 'label')}: {value} ({ends})"


def of_checks(report: Report, rows: Iterable[Check]) -> Iterator[Line]:
    """Those of the rows that block or have a limit: what a reader holds against it."""
    found = (
        report.suites[row.suite].metrics.get(row.metric)
        for row in rows
        if (row.blocking or row.gate is not None) and row.suite in report.suites
    )
    yield from corrections(one for one in found if one is not None)


def _agreed(found: Corrected) -> str:
    if found.agreement is None:
        return ""
    return f"; weighted kappa of judge and people {figures.value(found.agreement, '')}"
