"""How the blocking metrics went from run to run: a line of values, or of block
characters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gate.records import Report, StoredRun, limits_by_metric
from gate.report.wording.plain_counts import SUCCESS
from gate.report.wording.sentences import commit_url
from gate.text import figures
from gate.text.spans import Line, Span, code, join, link, say, strong

BARS = "▁▂▃▄▅▆▇█"
UNKNOWN = "·"
SHOWN = 8  # runs whose values stand in a line
FLAT = 0.10  # of the largest value: less up and down does not fill the whole height


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """`bars`: one sign a run, oldest first, this run last."""

    suite: str
    metric: str
    bars: str
    first: str
    last: str
    runs: int  # of the baseline


def trends(report: Report) -> Iterator[Trend]:
    """The course of every metric with at least two known values before this run's."""
    limits = limits_by_metric(report.gates)
    for suite in report.suites.values():
        for metric, past in suite.history.items():
            now = suite.metrics.get(metric)
            if now is None or now.value is None:
                continue
            values = (*past, now.value)
            measured = [value for value in values if value is not None]
            if len(measured) < 3:
                continue
            ends = (measured[0], measured[-1])
            held = limits.get((suite.name, metric), ())
            first, last = (figures.value(end, now.unit, limits=held) for end in ends)
            yield Trend(
                suite=suite.name,
                metric=metric,
                bars=sparkline(values),
                first=first,
                last=last,
                runs=len(past),
            )


def last_runs(report: Report) -> Line:
    """`agent.success_rate` in the baseline's last 8 runs, 2026-01-10 to 2026-01-17: 0.91 0.90 ... →
    0.60: of the success rate, else of the first blocking metric that has runs; each value links to
    its commit where the repository is known. Empty below two known values.
    """
    known = sorted(trends(report), key=lambda trend: trend.metric != SUCCESS)
    if not known:
        return ()
    told = known[0]
    suite = report.suites[told.suite]
    past = suite.history[told.metric][-SHOWN:]
    runs = suite.history_runs[-SHOWN:] if len(suite.history_runs) >= len(past) else ()
    unit, limits = suite.metrics[told.metric].unit, limits_by_metric(report.gates)
    held = limits.get((told.suite, told.metric), ())
    urls = [commit_url(report, run.commit) for run in runs] or [None] * len(past)
    values = (
        say("{}", link(Span(figures.value(value, unit, limits=held)), url))
        for value, url in zip(past, urls, strict=True)
    )
    of = say(" of {}", told.suite) if len(report.suites) > 1 else ()
    asked = suite.counts.asked if suite.counts else suite.cases
    return say(
        "{}{} in the baseline's last {}{}: {} → {}{}",
        code(told.metric),
        of,
        figures.count(len(past), "run"),
        _dates(runs),
        join(" ", values),
        strong(told.last),
        f" in {figures.count(asked, 'case')}" if asked < suite.cases else "",
    )


def _dates(runs: Sequence[StoredRun]) -> str:
    """`, 2026-01-10 to 2026-01-17`: of the first and the last, where both are known."""
    days = [run.created_at[:10] for run in (*runs[:1], *runs[-1:])]
    if not days or not all(re.fullmatch(r"\d{4}-\d\d-\d\d", day) for day in days):
        return ""
    return ", " + " to ".join(dict.fromkeys(days))


def sparkline(values: Sequence[float | None]) -> str:
    """One block character a value."""
    top = len(BARS) - 1
    return "".join(
        UNKNOWN if height is None else BARS[round(top * height)] for height in heights(values)
    )


def heights(values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Each value's height from 0 to 1. The scale reaches over the values, and at least over `FLAT`
    of the largest: chance alone must not look like mountains.
    """
    measured = [value for value in values if value is not None]
    low, high = min(measured, default=0.0), max(measured, default=0.0)
    span = max(high - low, FLAT * max(abs(low), abs(high)), 1e-12)
    bottom = (low + high - span) / 2
    return tuple(None if value is None else (value - bottom) / span for value in values)
