"""The blocking metrics in the last runs of the baseline, this run last, as in `gate history`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gate.records import Report, SuiteReport
from gate.records.history import Course, LevelChange, PastRun, SuiteHistory
from gate.report.history.chart import draw_course
from gate.report.session_page.sentence_markup import NONE
from gate.report.wording import trend
from gate.report.wording.sentences import commit_url
from gate.text import figures
from gate.text.escaping import one_line
from gate.text.html_markup import Markup, join_markup, markup
from gate.text.main_level import name_anchor

RUNS = 30  # of the baseline, the newest
# What the drawing does not tell of a run.
_UNTOLD: dict[str, Any] = dict.fromkeys(
    ("cases", "rounds", "success_rate", "efficiency", "avg_steps", "cost_per_task", "modes")
)


def draw_trends(report: Report) -> Markup:
    """Nothing where too few runs are stored."""
    several = len(report.suites) > 1
    found = [
        markup(
            "%s%s<p>%s</p>\n",
            markup("<h3>%s</h3>\n", one_line(told.suite, 60)) if several else NONE,
            _draw(report, report.suites[told.suite], told.metric),
            f"{told.first} → {told.last}, {figures.count(told.runs, 'run')} before this one"
            + _asked(report.suites[told.suite]),
        )
        for told in trend.trends(report)
        if report.suites[told.suite].history_runs
    ]
    if not found:
        return NONE
    return markup(
        '<section class="chart"><h2>The last runs</h2>\n<p class="soft">The last dot is this run. '
        "The upright line is where a level changed, beside it the two levels; ✓ is where somebody "
        "accepted a change; the dashed line is the anchor that main is compared with.</p>\n%s"
        "</section>\n",
        join_markup(found),
    )


def _asked(suite: SuiteReport) -> str:
    asked = suite.counts.asked if suite.counts else suite.cases
    return f", which asked {asked:,} of {suite.cases:,} cases" * (asked < suite.cases)


def _draw(report: Report, suite: SuiteReport, metric: str) -> Markup:
    made = report.provenance
    stored = [(run.commit, run.created_at) for run in suite.history_runs]
    runs = [
        PastRun(
            session_id=str(number),
            created_at=created_at,
            commit=commit,
            commit_url=commit_url(report, commit) or "",
            **_UNTOLD,
        )
        for number, (commit, created_at) in enumerate([*stored, (made.commit, report.created_at)])
    ]
    first = max(0, len(stored) - RUNS)
    now = suite.metrics[metric]
    values = (*suite.history[metric], now.value)
    unknown = (None,) * len(stored)
    bounded = now.ci_low is not None and now.ci_high is not None
    levels = suite.anchor.levels if suite.anchor else ()
    anchor = next((level.anchor for level in levels if level.metric == metric), None)
    course = Course(
        metric=metric,
        unit=now.unit,
        direction=now.direction,
        leads=True,
        values=values[first:],
        lows=(*unknown, now.ci_low)[first:] if bounded else (),
        highs=(*unknown, now.ci_high)[first:] if bounded else (),
        anchor=anchor,
        anchor_name=name_anchor(suite.anchor).strip("`") if suite.anchor else "",
    )
    changes = [
        LevelChange(
            metric=metric,
            unit=now.unit,
            direction=now.direction,
            before=shift.before,
            after=shift.after,
            runs_before=shift.runs_before,
            runs_after=shift.runs_after,
            last=runs[shift.at - 1],
            first=runs[shift.at],
            p=0.0,  # nobody is told it
        )
        for shift in suite.history_shifts
        if shift.metric == metric and first < shift.at < len(stored)
    ]
    starts = [
        replace(start, before=start.before - first)
        for start in suite.history_starts
        if start.before > first
    ]
    history = SuiteHistory(
        suite=suite.name,
        source="",
        runs=tuple(runs[first:]),
        changes=tuple(changes),
        starts=tuple(starts),
    )
    return draw_course(course, history, lambda run: "")
