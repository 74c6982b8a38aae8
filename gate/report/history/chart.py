"""The course of one metric as a drawing: dates along it, values up it, a dot a run with the
interval behind it, marks where the level changed or somebody accepted a change. Places are shares
of the width, so nothing is stretched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from gate.records.history import Course, LevelChange, PastRun, SuiteHistory
from gate.report.history import cells
from gate.report.history.axis import choose_ticks, spread_evenly
from gate.text import figures
from gate.text.escaping import one_line
from gate.text.html_markup import Markup, join_markup, markup
from gate.text.shortening import shorten

DRAWN = 200  # runs; older ones stand in the table
_HEIGHT, _TOP, _BOTTOM = 220, 26, 172  # pixels: of the drawing, and of its highest and lowest value
_TICKS = 4  # distances between values
_FEW, _MANY = 3, 7  # dates, on a telephone and elsewhere

Report = Callable[[PastRun], str]  # the address of a run's report; empty where there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """Where the runs and the values of a drawing are."""

    runs: Sequence[PastRun]
    ticks: tuple[float, ...]

    def across(self, number: float) -> str:
        return _place(100 * (number + 0.5) / len(self.runs))

    def up(self, value: float) -> str:
        low, high = self.ticks[0], self.ticks[-1]
        return _place(_BOTTOM - (_BOTTOM - _TOP) * (value - low) / (high - low))


def draw_course(course: Course, suite: SuiteHistory, report: Report) -> Markup:
    """A figure with its title, and the same in words for whoever does not see it."""
    first = max(0, len(suite.runs) - DRAWN)
    runs, values = suite.runs[first:], course.values[first:]
    lows, highs = course.lows[first:], course.highs[first:]
    known = [value for value in (*values, *lows, *highs, course.anchor) if value is not None]
    if not known:  # it was measured only in older runs
        known = [0.0]
    frame = _Frame(runs=runs, ticks=choose_ticks(min(known), max(known), _TICKS))
    changes = [change for change in suite.changes if change.metric == course.metric]
    at = {run.session_id: number for number, run in enumerate(runs)}
    marks = [
        (start.before - first, start.told)
        for start in suite.starts
        if start.before > first and (not start.metrics or course.metric in start.metrics)
    ]
    return markup(
        '<figure class="metric" data-metric="%s"><figcaption><strong>%s</strong> '
        '<span class="soft">%s</span></figcaption>\n<div class="plot">%s'
        '<svg class="area" width="100%%" height="%s" role="group" aria-label="%s">%s</svg></div>'
        "</figure>\n",
        one_line(course.metric, None),
        name_metric(course.metric),
        _explain(course, suite),
        _draw_values(frame, course),
        _HEIGHT,
        f"{name_metric(course.metric)}, {_describe(values, course)}",
        join_markup(
            [
                *_grid(frame),
                *_bands(frame, lows, highs),
                *_draw_anchor(frame, course),
                *_levels(frame, changes, at, course),
                *_starts(frame, marks),
                *_line(frame, values),
                *_dots(frame, values, course, report),
                *_dates(frame),
            ]
        ),
    )


def name_metric(metric: str) -> str:
    """`Success rate` for one of the table, the name of any other."""
    return cells.TITLES.get(metric) or one_line(metric, 80)


def _explain(course: Course, suite: SuiteHistory) -> str:
    title = "" if course.metric not in cells.TITLES else f"{course.metric}, "
    unit = f"{one_line(course.unit, 20)}, " if course.unit else ""
    older = f"; the newest {DRAWN} runs" if len(suite.runs) > DRAWN else ""
    return f"{title}{unit}{course.direction} is better{older}"


def _describe(values: Sequence[float | None], course: Course) -> str:
    """`0.95 → 0.70 in 8 runs`."""
    measured = [value for value in values if value is not None]
    ends = (measured[0], measured[-1]) if measured else ()
    shown = " → ".join(figures.value(end, course.unit) for end in ends)
    return f"{shown} in {figures.count(len(measured), 'run')}"


def _draw_values(frame: _Frame, course: Course) -> Markup:
    return markup(
        '<svg class="values" width="72" height="%s" aria-hidden="true">%s</svg>',
        _HEIGHT,
        join_markup(
            markup(
                '<text x="66" y="%s" dy="4" text-anchor="end">%s</text>',
                frame.up(tick),
                _name_tick(tick, frame.ticks[1] - frame.ticks[0], course.unit),
            )
            for tick in frame.ticks
        ),
    )


def _name_tick(tick: float, step: float, unit: str) -> str:
    """As few decimals as tell one from the next."""
    decimals = next((n for n in range(7) if abs(step * 10**n - round(step * 10**n)) < 1e-6), 7)
    shown = f"{tick:,.{decimals}f}"
    return f"${shown}" if unit == "USD" else f"{shown} ms" if unit == "ms" else shown


def _grid(frame: _Frame) -> Iterator[Markup]:
    for tick in frame.ticks:
        y = frame.up(tick)
        yield markup('<line class="grid" x1="0" y1="%s" x2="100%%" y2="%s"/>', y, y)


def _bands(
    frame: _Frame, lows: Sequence[float | None], highs: Sequence[float | None]
) -> Iterator[Markup]:
    width = _place(100 / len(frame.runs))
    for number, (low, high) in enumerate(zip(lows, highs, strict=True)):
        if low is not None and high is not None:
            top, bottom = frame.up(high), frame.up(low)
            yield markup(
                '<rect class="interval" x="%s%%" y="%s" width="%s%%" height="%s"/>',
                frame.across(number - 0.5),
                top,
                width,
                _place(max(1.0, float(bottom) - float(top))),
            )


def _draw_anchor(frame: _Frame, course: Course) -> Iterator[Markup]:
    """The level that main is compared with, from edge to edge."""
    if course.anchor is None:
        return
    y = frame.up(course.anchor)
    yield markup(
        '<g class="anchor"><title>%s</title><line x1="0" y1="%s" x2="100%%" y2="%s"/>'
        '<text x="100%%" y="%s" dy="-5" text-anchor="end">%s</text></g>',
        f"Anchor: {one_line(course.anchor_name, 80)}, {figures.value(course.anchor, course.unit)}",
        *(y, y, y),
        f"anchor {figures.value(course.anchor, course.unit)}",
    )


def _levels(
    frame: _Frame, changes: Sequence[LevelChange], at: Mapping[str, int], course: Course
) -> Iterator[Markup]:
    """At each change a line across the drawing, and the two levels with their values."""
    for change in changes:
        turn = at.get(change.first.session_id)
        if not turn:
            continue
        worse = (change.after < change.before) == (change.direction == "higher")
        edges = (max(-0.5, turn - 0.5 - change.runs_before), turn - 0.5)
        after = (turn - 0.5, min(len(frame.runs) - 0.5, turn - 0.5 + change.runs_after))
        across = frame.across(turn - 0.5)
        kind = "bad" if worse else "good"
        yield markup(
            '<line class="turn %s" x1="%s%%" y1="16" x2="%s%%" y2="%s"/>',
            kind,
            across,
            across,
            _BOTTOM,
        )
        for (left, right), value in ((edges, change.before), (after, change.after)):
            y = frame.up(max(frame.ticks[0], min(frame.ticks[-1], value)))
            yield markup(
                '<line class="level" x1="%s%%" y1="%s" x2="%s%%" y2="%s"/>',
                frame.across(left),
                y,
                frame.across(right),
                y,
            )
        before, now = (figures.value(v, course.unit) for v in (change.before, change.after))
        yield markup(
            '<text class="turn %s" x="%s%%" y="12" text-anchor="%s">%s</text>',
            kind,
            across,
            _anchor(turn, len(frame.runs)),
            f"{before} → {now}",
        )


def _starts(frame: _Frame, marks: Sequence[tuple[int, str]]) -> Iterator[Markup]:
    for before, told in marks:
        across = frame.across(before - 0.5)
        yield markup(
            '<g class="start"><title>%s</title><line x1="%s%%" y1="%s" x2="%s%%" y2="%s"/>'
            '<text x="%s%%" y="%s" text-anchor="middle">✓</text></g>',
            f"Accepted {one_line(told, 300)}",
            *(across, _TOP, across, _BOTTOM),
            *(across, _BOTTOM + 14),
        )


def _line(frame: _Frame, values: Sequence[float | None]) -> Iterator[Markup]:
    for (number, value), (_, following) in pairwise(enumerate(values)):
        if value is not None and following is not None:
            yield markup(
                '<line class="way" x1="%s%%" y1="%s" x2="%s%%" y2="%s"/>',
                *(frame.across(number), frame.up(value)),
                *(frame.across(number + 1), frame.up(following)),
            )


def _dots(
    frame: _Frame, values: Sequence[float | None], course: Course, report: Report
) -> Iterator[Markup]:
    """Each leads to the run's report, or to its commit; the stroke below it to the commit."""
    for number, (run, value) in enumerate(zip(frame.runs, values, strict=True)):
        across = frame.across(number)
        commit = cells.commit(run.commit)
        if run.commit_url:
            yield markup(
                '<a href="%s" aria-label="%s"><rect class="commit" x="%s%%" y="%s" width="3" '
                'height="8" transform="translate(-1.5)"/></a>',
                run.commit_url,
                f"Commit {commit} of {cells.date(run.created_at)}",
                across,
                _BOTTOM,
            )
        if value is None:
            continue
        shown = figures.value(value, course.unit)
        said = f"{cells.date(run.created_at)}, {commit}: {shown}"
        dot = markup(
            '<circle class="dot" cx="%s%%" cy="%s" r="4"><title>%s</title></circle>',
            across,
            frame.up(value),
            said,
        )
        address = report(run) or run.commit_url
        yield markup('<a href="%s" aria-label="%s">%s</a>', address, said, dot) if address else dot


def _dates(frame: _Frame) -> Iterator[Markup]:
    """Fewer on a narrow screen."""
    amount = len(frame.runs)
    for kind, most in (("few", _FEW), ("many", _MANY)):
        before = ""
        for number in spread_evenly(amount, most):
            day = shorten(cells.date(frame.runs[number].created_at), 20)
            shown = day[:10] if day[:10] != before else day[11:]
            before = day[:10]
            yield markup(
                '<text class="%s" x="%s%%" y="%s" text-anchor="%s">%s</text>',
                kind,
                frame.across(number),
                _HEIGHT - 12,
                _anchor(number, amount),
                shown,
            )


def _anchor(number: int, amount: int) -> str:
    """Of a text, so that it stays inside."""
    if amount > 1 and number < 0.12 * amount:
        return "start"
    return "end" if amount > 1 and number > 0.88 * (amount - 1) else "middle"


def _place(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
