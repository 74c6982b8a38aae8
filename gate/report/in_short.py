"""A report for programs that look at one number: flat counts, and each metric by its name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from gate.records import Comparison, Estimate, GateResult, Report
from gate.records.report import Counts, MetricInShort

NOT_MET = ("fail", "missing")  # of a limit


def count_all(report: Report) -> Counts:
    """Suites, cases and trials, and what became of cases and metrics."""
    statuses = Counter(one.status for one in report.comparisons)
    cases = report.cases
    return Counts(
        suites=len(report.suites),
        cases=sum(suite.cases for suite in report.suites.values()),
        trials=sum(suite.trials for suite in report.suites.values()),
        newly_failing=len(cases.newly_failing),
        newly_passing=len(cases.newly_passing),
        flaky=len(cases.flaky),
        added=len(cases.added),
        removed=len(cases.removed),
        changed=len(cases.changed),
        errored=len(cases.errored),
        no_opinion=len(cases.no_opinion),
        quarantined=len(cases.quarantined),
        regressions=statuses["regression"],
        improvements=statuses["improvement"],
        failed_gates=sum(gate.status in NOT_MET for gate in report.gates),
    )


def shorten_metrics(report: Report) -> Mapping[str, MetricInShort]:
    """By name; by `suite/name` where several suites have the metric."""
    compared = {(one.suite, one.metric): one for one in report.comparisons}
    limited = {(one.suite, one.metric): one for one in report.gates}
    measured = {
        (suite.name, name): estimate
        for suite in report.suites.values()
        for name, estimate in suite.metrics.items()
    }
    keys = sorted({*measured, *compared, *limited})
    suites_with = Counter(metric for _, metric in keys)
    return {
        metric if suites_with[metric] == 1 else f"{suite}/{metric}": _metric(
            measured.get((suite, metric)),
            compared.get((suite, metric)),
            limited.get((suite, metric)),
        )
        for suite, metric in keys
    }


def _metric(
    estimate: Estimate | None, comparison: Comparison | None, gate: GateResult | None
) -> MetricInShort:
    now = estimate.value if estimate else gate.value if gate else None
    status = gate.status if gate else None
    if comparison is None:
        low, high = (estimate.ci_low, estimate.ci_high) if estimate else (None, None)
        return MetricInShort(baseline=None, now=now, change=None, low=low, high=high, status=status)
    return MetricInShort(
        baseline=comparison.baseline,
        now=now if comparison.current is None else comparison.current,
        change=comparison.delta,
        low=comparison.ci_low,
        high=comparison.ci_high,
        status=status if status in NOT_MET else comparison.status,
        relative=comparison.relative,
    )
