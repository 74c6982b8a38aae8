"""Sentences and tables of a report that is text alone: for a terminal, and as Markdown."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gate.text import escaping
from gate.text.shortening import LIMIT
from gate.text.spans import Line, markdown, plain

_UNIT = re.compile(r"(?<=\d) (?=%|pt\b|ms\b)")  # a number and its unit stay on one line


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    line: Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The first column stands left, the others right."""

    head: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]


Block = Line | Grid | Heading


def text_of(blocks: Iterable[Block], *, width: int) -> str:
    """For a terminal of `width` columns; a table that is wider becomes a paragraph a row."""
    return "\n\n".join(_text(block, width) for block in blocks)


def markdown_of(blocks: Iterable[Block]) -> str:
    return "\n\n".join(_markdown(block) for block in blocks)


def _text(block: Block, width: int) -> str:
    if isinstance(block, Heading):
        title = _plain(block.line)
        return f"{title}\n{'=' * len(title)}"
    if isinstance(block, Grid):
        lines = list(_align_rows(block))
        fits = max(map(len, lines)) <= max(40, width)
        return "\n".join(lines if fits else _stack_rows(block, max(40, width)))
    kept = _UNIT.sub("\N{NO-BREAK SPACE}", _plain(block, limit=1_000))
    for command in (
        _plain((span,), limit=1_000) for span in block if span.kind == "code"
    ):  # to be copied
        kept = kept.replace(command, command.replace(" ", "\N{NO-BREAK SPACE}"))
    filled = textwrap.fill(kept, max(40, width), break_long_words=False, break_on_hyphens=False)
    return filled.replace("\N{NO-BREAK SPACE}", " ")


def _markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"### {markdown(block.line)}"
    if isinstance(block, Grid):
        rule = [":--", *["--:"] * (len(block.head) - 1)]
        rows = [list(block.head), rule, *([markdown(cell) for cell in row] for row in block.rows)]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return markdown(block, limit=1_000)


def _align_rows(grid: Grid) -> Iterator[str]:
    """A row that has a first cell only takes the whole line."""
    rows = [list(grid.head), *([_plain(cell) for cell in row] for row in grid.rows)]
    full = [row for row in rows if any(row[1:])]
    widths = [max(len(row[n]) for row in full) for n in range(len(grid.head))]
    for first, *others in rows:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join(["  " + first.ljust(widths[0]), *cells]).rstrip()


def _stack_rows(grid: Grid, width: int) -> Iterator[str]:
    """The first cell of each row, below it the others with their heads."""
    for first, *others in ([_plain(cell) for cell in row] for row in grid.rows):
        yield f"  {first}"
        labelled = (
            f"{head} {cell}" for head, cell in zip(grid.head[1:], others, strict=True) if cell
        )
        unbroken = " · ".join(text.replace(" ", "\N{NO-BREAK SPACE}") for text in labelled)
        indent = " " * 4
        lines = textwrap.wrap(unbroken, width, initial_indent=indent, subsequent_indent=indent)
        yield from (line.replace("\N{NO-BREAK SPACE}", " ") for line in lines)


def _plain(line: Line, *, limit: int = LIMIT) -> str:
    return escaping.plain(plain(line, limit=limit))
