"""Metrics that have no value: one sentence with the reasons, instead of a row of dashes each."""

from __future__ import annotations

from gate.records import Report
from gate.text.spans import Line, code, join, say


def list_missing(report: Report, suite: str) -> dict[str, str]:
    """Metric -> why this run has no value of it; not where the baseline has one."""
    before = {c.metric for c in report.comparisons if c.suite == suite and c.baseline is not None}
    return {
        name: estimate.reason
        for name, estimate in sorted(report.suites[suite].metrics.items())
        if estimate.value is None and estimate.reason and name not in before
    }


def sentence(report: Report, suite: str) -> Line:
    """`Not measured: a, b (why); c (why).`; nothing when all are."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in list_missing(report, suite).items():
        by_reason.setdefault(reason, []).append(name)
    parts = [
        say("{} ({})", join(", ", [(code(name),) for name in names]), reason)
        for reason, names in by_reason.items()
    ]
    return say("Not measured: {}.", join("; ", parts)) if parts else ()
