"""A history for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from gate.records.history import History, SuiteHistory
from gate.report.history import cells
from gate.report.wording.blocks import Block, Grid, Heading
from gate.report.wording.trend import sparkline
from gate.text import figures
from gate.text.spans import Line, Span, join, prose, say, strong


def blocks(history: History) -> Iterator[Block]:
    """The page, for a terminal or as Markdown."""
    for suite in history.suites:
        yield Heading(line=say("{}: {}", suite.suite, figures.count(len(suite.runs), "run")))
        yield from _suite(suite)
    if any(suite.changes for suite in history.suites):
        yield say(chance(history))
    for note in history.notes:
        yield say("Note: {}", prose(note))


def chance(history: History) -> str:
    """What is claimed of the changes that are named."""
    return (
        "A suite that did not change is reported as changed about "
        f"{figures.percent(history.alpha)} of the time."
    )


def _suite(suite: SuiteHistory) -> Iterator[Block]:
    if not suite.runs:
        yield say("No run in this period; {} before it.", figures.count(suite.older, "run"))
        return
    yield _headlines(suite)
    rows = tuple(tuple((Span(cell),) for cell in cells.row(run)) for run in suite.runs)
    yield Grid(head=cells.COLUMNS, rows=rows)
    for turn in cells.list_turns(suite):
        sentences = [prose(text) for text in ("; ".join(turn.moved), *turn.why)]
        yield (*say("{}: ", strong(turn.between)), *join(". ", sentences), Span("."))
    if suite.older:
        yield say("{} are not shown.", figures.count(suite.older, "older run"))
    for note in suite.notes:
        yield say("Note: {}", prose(note))
    yield say("Read from {}.", prose(suite.source))


def _headlines(suite: SuiteHistory) -> Line:
    """Each with its course where there is one to show."""
    lines = []
    for headline in cells.HEADLINES:
        values = headline.values(suite)
        measured = [value for value in values if value is not None]
        course = f" {sparkline(values)}" if len(measured) > 1 else ""
        lines.append(say("{} {}{}", headline.title, strong(headline.newest(suite)), course))
    return join(" · ", lines)
