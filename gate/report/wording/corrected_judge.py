"""A judge's number beside what people's labels make of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gate.records import Corrected, Estimate, Report
from gate.report.wording.checks import Check
from gate.text import figures
from gate.text.spans import Line, code, say


def corrections(estimates: Iterable[Estimate]) -> Iterator[Line]:
    """`metric` 4.31, corrected by 48 labels: 4.02 (3.85 to 4.19); the judge agrees ... 0.74."""
    for estimate in estimates:
        if estimate.corrected is not None:
            raw = figures.value(estimate.value, estimate.unit)
            agreed = _agreement_in_words(estimate.corrected)
            yield say(
                "{} {}, {}{}",
                code(estimate.metric),
                raw,
                in_words(estimate.corrected, estimate.unit),
                agreed,
            )


def in_words(corrected: Corrected, unit: str) -> str:
    """`corrected by 48 labels: 4.02 (3.85 to 4.19)`."""
    ends = figures.span_in_words(corrected.ci_low, corrected.ci_high, unit)
    value = figures.value(corrected.value, unit)
    return f"corrected by {figures.count(corrected.n_labels, 'label')}: {value} ({ends})"


def corrections_of_checks(report: Report, rows: Iterable[Check]) -> Iterator[Line]:
    """The corrections of the rows that block or have a limit: what a reader holds against it."""
    estimates = (
        report.suites[row.suite].metrics.get(row.metric)
        for row in rows
        if (row.blocking or row.gate is not None) and row.suite in report.suites
    )
    yield from corrections(estimate for estimate in estimates if estimate is not None)


def _agreement_in_words(corrected: Corrected) -> str:
    if corrected.agreement is None:
        return ""
    return f"; weighted kappa of judge and people {figures.value(corrected.agreement, '')}"
