"""A history as one HTML file that needs nothing else and can be read without scripts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from gate.records.history import History, PastRun, SuiteHistory
from gate.report.history import cells
from gate.report.history.case_strip import draw_strip
from gate.report.history.chart import Report, draw_course, name_metric
from gate.report.history.text import chance
from gate.report.html_page import content_policy
from gate.report.html_templates import templates
from gate.report.page_script import join_modules, read_asset
from gate.text import figures
from gate.text.escaping import one_line
from gate.text.shortening import shorten

NUMERIC = (2, 3, 4, 6)  # columns
MODULES = ("session_page/script/elements", "history/script/choose")

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    run: PastRun
    cells: tuple[str, ...]
    turn: bool  # a level begins here
    report: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Suite:
    history: SuiteHistory
    numbers: tuple[tuple[str, str], ...]  # title and newest value
    turns: tuple[cells.HistoryTurn, ...]
    rows: tuple[_Row, ...]
    charts: tuple[Markup, ...]  # that lead
    others: tuple[Markup, ...]
    strip: Markup


def _no_report(run: PastRun) -> str:
    return ""


def as_html(history: History, report: Report = _no_report) -> str:
    """`report`: the address of a run's report; empty where there is none."""
    style = read_asset("formats/report.css") + read_asset("history/history.css")
    script = join_modules(MODULES)
    environment = templates(_HERE)
    environment.filters.update(short=shorten, count=figures.count)
    environment.finalize = _show
    return environment.get_template("history.html.j2").render(
        history=history,
        suites=[_suite(suite, report) for suite in history.suites],
        metrics=_list_metrics(history.suites),
        sizes=cells.sizes(history.suites),
        columns=cells.COLUMNS,
        numeric=NUMERIC,
        changed=any(suite.changes for suite in history.suites),
        started=any(suite.starts for suite in history.suites),
        anchored=any(c.anchor is not None for suite in history.suites for c in suite.courses),
        bounded=any(course.lows for suite in history.suites for course in suite.courses),
        chance=chance(history),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own files
        policy=content_policy(style, script),
    )


def _show(value: object) -> object:
    is_text = isinstance(value, str) and not isinstance(value, Markup)
    return one_line(str(value), None) if is_text else value


def _list_metrics(suites: Iterable[SuiteHistory]) -> list[tuple[str, str]]:
    """Every metric once, with the words for it."""
    names = dict.fromkeys(course.metric for suite in suites for course in suite.courses)
    return [(name, name_metric(name)) for name in names]


def _suite(suite: SuiteHistory, report: Report) -> _Suite:
    turns = cells.list_turns(suite)
    starts = {turn.first for turn in turns}
    strip = draw_strip(suite.cases, suite.runs, suite.suite) if suite.cases else ""
    leading, others = (
        tuple(
            Markup(draw_course(course, suite, report))  # noqa: S704 - `markup` escaped its values
            for course in suite.courses
            if course.leads == leads
        )
        for leads in (True, False)
    )
    return _Suite(
        history=suite,
        numbers=tuple((one.title, one.newest(suite)) for one in cells.HEADLINES),
        turns=turns,
        rows=tuple(
            _Row(
                run=run,
                cells=cells.row(run),
                turn=run.session_id in starts,
                report=report(run),
            )
            for run in suite.runs
        ),
        charts=leading,
        others=others,
        strip=Markup(strip),  # noqa: S704 - `markup` escaped its values
    )
