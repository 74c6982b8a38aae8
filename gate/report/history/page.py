"""A history as one HTML file that needs nothing else and has no script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markupsafe import Markup

from gate.records.history import History, SuiteHistory
from gate.report.history import cells
from gate.report.history.text import chance
from gate.report.html_page import content_policy
from gate.report.html_templates import templates
from gate.report.wording.trend import heights
from gate.text import figures
from gate.text.escaping import one_line
from gate.text.shortening import shorten

WIDTH, HEIGHT, EDGE = 240, 44, 4  # of a course, in its own units
NUMERIC = (2, 3, 4, 6)  # columns

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class _Number:
    """`lines`: points of its course, a line for each stretch of known values."""

    title: str
    newest: str
    lines: tuple[str, ...]
    turns: tuple[float, ...]  # where the level changed
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    cells: tuple[str, ...]
    turn: bool  # a level begins here


@dataclass(frozen=True, slots=True, kw_only=True)
class _Suite:
    history: SuiteHistory
    numbers: tuple[_Number, ...]
    turns: tuple[cells.HistoryTurn, ...]
    rows: tuple[_Row, ...]


def as_html(history: History) -> str:
    style = _style()
    environment = templates(_HERE)
    environment.filters.update(short=shorten, count=figures.count)
    environment.finalize = _show
    return environment.get_template("history.html.j2").render(
        history=history,
        suites=[_suite(suite) for suite in history.suites],
        sizes=cells.sizes(history.suites),
        columns=cells.COLUMNS,
        numeric=NUMERIC,
        width=WIDTH,
        height=HEIGHT,
        changed=any(suite.changes for suite in history.suites),
        chance=chance(history),
        style=Markup(style),  # noqa: S704 - our own file
        policy=content_policy(style),
    )


def _show(value: object) -> object:
    is_text = isinstance(value, str) and not isinstance(value, Markup)
    return one_line(str(value), None) if is_text else value


def _suite(suite: SuiteHistory) -> _Suite:
    turns = cells.list_turns(suite)
    starts = {turn.first for turn in turns}
    return _Suite(
        history=suite,
        numbers=tuple(_number(one, suite) for one in cells.HEADLINES),
        turns=turns,
        rows=tuple(_Row(cells=cells.row(run), turn=run.session_id in starts) for run in suite.runs),
    )


def _number(headline: cells.Headline, suite: SuiteHistory) -> _Number:
    values = headline.values(suite)
    measured = [value for value in values if value is not None]
    ends = (
        (cells.format_value(end, headline.metric) for end in (measured[0], measured[-1]))
        if measured
        else ()
    )
    starts = {
        change.first.session_id for change in suite.changes if change.metric == headline.metric.name
    }
    across = _across(len(values))
    return _Number(
        title=headline.title,
        newest=headline.newest(suite),
        lines=tuple(_lines(values)) if len(measured) > 1 else (),
        turns=tuple(
            round((across[n] + across[max(0, n - 1)]) / 2, 1)
            for n, run in enumerate(suite.runs)
            if run.session_id in starts
        ),
        told=f"{' → '.join(ends)} in {figures.count(len(measured), 'run')}",
    )


def _across(runs: int) -> list[float]:
    step = (WIDTH - 2 * EDGE) / max(1, runs - 1)
    return [round(EDGE + n * step, 1) for n in range(runs)]


def _lines(values: Sequence[float | None]) -> Iterator[str]:
    """Points of each stretch of known values; a single one is a dash."""
    points: list[str] = []
    for x, height in zip(_across(len(values)), heights(values), strict=True):
        if height is None:
            if points:
                yield " ".join(points)
            points = []
            continue
        y = round(HEIGHT - EDGE - height * (HEIGHT - 2 * EDGE), 1)
        points += [f"{x},{y}"] if points else [f"{x - 1},{y}", f"{x},{y}"]
    if points:
        yield " ".join(points)


@cache
def _style() -> str:
    """The reports' own, and what only this page has."""
    report = _HERE.parent / "formats" / "report.css"
    return report.read_text("utf-8") + (_HERE / "history.css").read_text("utf-8")
