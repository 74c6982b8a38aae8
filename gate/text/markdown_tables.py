"""Tables in Markdown: which cell stands where, and the headers of its row and its column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gate.text.late_pattern import late_pattern

_RULE = late_pattern(r"[\s|:\-\u2014]*-[\s|:\-\u2014]*")
_MOST_COLUMNS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """`start` and `end` of its text in the page; `row` are those of its line. The column's header
    is a text, "" where there is none.
    """

    start: int
    end: int
    row: tuple[int, int]
    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkdownTable:
    """`cells`: those below the header, in their order."""

    start: int
    end: int
    cells: tuple[Cell, ...]


def find_tables(text: str) -> tuple[MarkdownTable, ...]:
    """Every table with a line of dashes below its header."""
    if "|" not in text or "-" not in text:
        return ()
    return tuple(_read_table(text, list(_lines(text))))


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.split("\n"):
        yield start, start + len(line)
        start += len(line) + 1


def _read_table(text: str, lines: list[tuple[int, int]]) -> Iterator[MarkdownTable]:
    at = 1
    while at < len(lines):
        if not (_is_rule(text, lines[at]) and "|" in text[slice(*lines[at - 1])]):
            at += 1
            continue
        header = lines[at - 1]
        columns = [text[low:high].strip() for low, high in _cells(text, header)]
        cells: list[Cell] = []
        first = at = at + 1
        while at < len(lines) and "|" in text[slice(*lines[at])]:
            cells += _row(text, lines[at], columns)
            at += 1
        yield MarkdownTable(start=header[0], end=lines[max(first, at) - 1][1], cells=tuple(cells))


def _is_rule(text: str, line: tuple[int, int]) -> bool:
    return "|" in text[slice(*line)] and _RULE.fullmatch(text, *line) is not None


def _row(text: str, line: tuple[int, int], columns: list[str]) -> Iterator[Cell]:
    for k, (start, end) in enumerate(_cells(text, line)):
        column = columns[k] if k < len(columns) else ""
        yield Cell(start=start, end=end, row=line, column=column)


def _cells(text: str, line: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Where each cell begins and ends; the bars at the ends of the line are no cells."""
    start, end = line
    inside = text[start:end].strip()
    start += len(text[start:end]) - len(text[start:end].lstrip())
    end = start + len(inside)
    start += inside.startswith("|")
    end -= inside.endswith("|") and len(inside) > 1
    for _ in range(_MOST_COLUMNS):
        bar = _next_bar(text, start, end)
        yield start, bar
        if bar >= end:
            return
        start = bar + 1


def _next_bar(text: str, start: int, end: int) -> int:
    bar = text.find("|", start, end)
    while bar > 0 and text[bar - 1] == "\\":
        bar = text.find("|", bar + 1, end)
    return end if bar < 0 else bar
