"""An answer, read once for all that is looked for in it: numbers, and what stands near a label."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from gate.text.late_pattern import late_pattern
from gate.text.numbers.number import Locale, Number
from gate.text.phrases import fold_text

if TYPE_CHECKING:
    from gate.text.markdown_tables import Cell, MarkdownTable
    from gate.text.numbers.measures import Measure
    from gate.text.numbers.respectively import Pair

Labels = tuple[str, ...]
Span = tuple[int, int]

# Where a clause ends, so that in "revenue 12, cost 15" each figure has its own label.
_CLAUSE_END = late_pattern(
    r"[;\n]|[,.](?=\s)|\b(?:and|but|while|whereas|versus|vs)\b", re.IGNORECASE
)
_SENTENCE_END = late_pattern(r"[;\n]|[.!?](?=\s)")
_LISTS_APART = late_pattern(r"respectively|in that order", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Page:
    """`words`: whether numbers in words ("twelve") are read too."""

    text: str
    locale: Locale = "en"
    words: bool = True

    @cached_property
    def folded(self) -> str:
        return fold_text(self.text)

    @cached_property
    def figures(self) -> tuple[Number, ...]:
        """Those in digits, in their order."""
        from gate.text.numbers.agreement import with_digits_shown  # facts in words need none
        from gate.text.numbers.scanning import numbers

        found = [
            one if one.value % 10.0 else with_digits_shown(one, self.text)
            for one in numbers(self.text, self.locale)
        ]
        return tuple(self._with_heads(found) if "|" in self.text else found)

    def _with_heads(self, found: Sequence[Number]) -> Iterator[Number]:
        """The numbers, in tables with the scale and the currency that heads say: "EUR million"."""
        from gate.text.numbers.heads import headed, read_head  # few tables tell them

        for one, column, row in zip(found, *self._heads(found), strict=True):
            head = read_head(column) or read_head(row)
            yield headed(one, head) if head else one

    def _heads(self, found: Sequence[Number]) -> tuple[list[str], list[str]]:
        """Of each number the head of its column and, where that is a text, its row's first cell."""
        columns = self._columns([one.start for one in found])
        rows = {
            cell.row: self.text[slice(*cell.row)].strip().strip("|").partition("|")[0]
            for table in self._tables
            for cell in table.cells
        }
        lines = sorted(rows)
        starts = [start for start, _ in lines]
        places = [bisect_right(starts, one.start) - 1 for one in found]
        return columns, [
            rows[lines[at]] if at >= 0 and one.start < lines[at][1] else ""
            for at, one in zip(places, found, strict=True)
        ]

    @cached_property
    def heads(self) -> Sequence[str]:
        """Of each number the head of its column and the first cell of its row; " " outside of
        tables.
        """
        return [" ".join(told) for told in zip(*self._heads(self.numbers), strict=True)]

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Those in digits, those in words, and shares ("8 out of 10"), each in their order."""
        return (*self.figures, *self._worded, *self._shares)

    def each_number(self) -> Iterator[tuple[int, Number]]:
        """With its index; those in words are read when those in digits have been looked at."""
        yield from enumerate(self.figures)
        for i in range(len(self.figures), len(self.numbers)):
            yield i, self.numbers[i]

    @cached_property
    def _worded(self) -> tuple[Number, ...]:
        if not self.words:
            return ()
        from gate.text.numbers.foreign_words import find_foreign  # most facts are in digits
        from gate.text.numbers.words import worded

        return (*worded(self.text), *find_foreign(self.text))

    @cached_property
    def single(self) -> tuple[tuple[Number, Measure], ...]:
        """Amounts of one: "an hour"."""
        from gate.text.numbers.amounts import find_single  # most facts have no unit

        return tuple(find_single(self.plain)) if self.words else ()

    @cached_property
    def _shares(self) -> tuple[Number, ...]:
        from gate.text.numbers.shares import find_shares  # most facts are stated in digits

        return find_shares(self.plain, words=self.words)

    @cached_property
    def amounts(self) -> Sequence[tuple[Number, Measure] | None]:
        """Of each number what it measures, None where no unit says it."""
        from gate.text.numbers.amounts import find_measures  # most facts have no unit

        order = self._in_order[1]
        found = find_measures(
            self.plain,
            [self.numbers[i] for i in order],
            self._columns([self.numbers[i].start for i in order]),
        )
        by_number = dict(zip(order, found, strict=True))
        return [by_number[i] for i in range(len(order))]

    def _columns(self, places: Sequence[int]) -> list[str]:
        """The heads above what stands at those places in tables; empty outside of tables."""
        cells = sorted((c.start, c.end, c.column) for table in self._tables for c in table.cells)
        starts = [start for start, _, _ in cells]
        found = [bisect_right(starts, place) - 1 for place in places]
        return [
            cells[at][2] if at >= 0 and place < cells[at][1] else ""
            for at, place in zip(found, places, strict=True)
        ]

    @cached_property
    def plain(self) -> str:
        """The text as numbers are read in it, as long as it is."""
        from gate.text.numbers.scanning import read_plainly

        return read_plainly(self.text)

    @cached_property
    def _in_order(self) -> tuple[list[int], list[int]]:
        """Where each number begins, and its index, by place."""
        ordered = sorted((number.start, i) for i, number in enumerate(self.numbers))
        return [start for start, _ in ordered], [i for _, i in ordered]

    def next_number(self, i: int) -> int | None:
        """The index of the number that stands after another."""
        starts, which = self._in_order
        after = bisect_right(starts, self.numbers[i].start)
        return which[after] if after < len(which) else None

    @cached_property
    def _tables(self) -> tuple[MarkdownTable, ...]:
        if "|" not in self.text:
            return ()
        from gate.text.markdown_tables import find_tables

        return find_tables(self.text)

    @cached_property
    def _pairs(self) -> tuple[Pair, ...]:
        if not _LISTS_APART.search(self.text):
            return ()
        from gate.text.numbers.respectively import paired

        return paired(self.text, self.figures)

    @cached_property
    def _clause_ends(self) -> list[int]:
        return [*(end.start() for end in _CLAUSE_END.finditer(self.text)), len(self.text)]

    @cached_property
    def _sentence_ends(self) -> list[int]:
        return [*(end.start() for end in _SENTENCE_END.finditer(self.text)), len(self.text)]

    def between(self, start: int, end: int) -> list[Number]:
        """The numbers that begin there."""
        return [self.numbers[i] for i in self._inside(start, end)]

    def clause_at(self, place: int) -> Span:
        """Where the clause begins and ends in which a place is."""
        return _between(self._clause_ends, place)

    def sentence_at(self, place: int) -> Span:
        """Likewise the sentence, or the line."""
        return _between(self._sentence_ends, place)

    def near(self, labels: Labels) -> list[int]:
        """Which numbers stand in a clause with a label; where that has none, the next number after
        it. In a table: in its column or its row, in a sentence with "respectively" the one of the
        label's own place.
        """
        found = {i for cell in self._cells(labels) for i in self._inside(cell.start, cell.end)}
        in_table = bool(found)
        for label in self._labels(labels):
            if _around(self._tables, label) is not None:
                continue  # what it refers to are cells
            if pairs := [one.number for one in self._pairs if one.start <= label[0] < one.end]:
                found.update(pairs)
                continue
            inside = self._inside(*self._clause(label))
            found.update(inside or self._next(label[1], beyond_tables=in_table))
        return sorted(found)

    def clauses(self, labels: Labels) -> list[str]:
        """Each clause and each cell with one of the labels, once."""
        spans = {self._clause(label) for label in self._labels(labels)}
        spans = {span for span in spans if _around(self._tables, span) is None}
        spans |= {(cell.start, cell.end) for cell in self._cells(labels)}
        return [self.text[low:high] for low, high in sorted(spans)]

    def _labels(self, labels: Labels) -> Iterator[Span]:
        return (at.span() for at in _pattern(labels).finditer(self.text))

    def _clause(self, label: Span) -> Span:
        return self.clause_at(label[1])

    def _inside(self, begin: int, end: int) -> Sequence[int]:
        starts, which = self._in_order
        return which[bisect_left(starts, begin) : bisect_left(starts, end)]

    def _next(self, at: int, *, beyond_tables: bool) -> Sequence[int]:
        starts, which = self._in_order
        after = bisect_left(starts, at)
        following = which[after : after + 1]
        if beyond_tables and following:
            span = (starts[after], starts[after])
            return () if _around(self._tables, span) else following
        return following

    def _cells(self, labels: Labels) -> Iterator[Cell]:
        """Cells whose column or row has a label, or which each have a part of it ("north cost")."""
        for table in self._tables:
            rows: dict[Span, str] = {}
            for cell in table.cells:
                if cell.row not in rows:
                    rows[cell.row] = self.text[slice(*cell.row)]
            for label in labels:
                yield from _cells_of(label, table, rows)


def _between(ends: Sequence[int], place: int) -> Span:
    at = bisect_left(ends, place)
    return (ends[at - 1] if at else 0), ends[at]


def _cells_of(label: str, table: MarkdownTable, rows: dict[Span, str]) -> list[Cell]:
    pattern = _pattern((label,))
    in_rows = {row for row, text in rows.items() if pattern.search(text)}
    in_columns = {name for name in {cell.column for cell in table.cells} if pattern.search(name)}
    if in_rows or in_columns:
        return [one for one in table.cells if one.row in in_rows or one.column in in_columns]
    wanted = _words(label)
    if len(wanted) < 2:
        return []
    by_row = {row: wanted & _words(text) for row, text in rows.items()}
    by_column = {cell.column: wanted & _words(cell.column) for cell in table.cells}
    return [
        one
        for one in table.cells
        if by_row[one.row]
        and by_column[one.column]
        and by_row[one.row] | by_column[one.column] == wanted
    ]


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORDS.findall(text.casefold()))


_WORDS = late_pattern(r"\w+")


def _around(found: Sequence[MarkdownTable], span: Span) -> MarkdownTable | None:
    """The table in which it begins."""
    return next((one for one in found if one.start <= span[0] < one.end), None)


@lru_cache(maxsize=4096)
def _pattern(labels: Labels) -> re.Pattern[str]:
    longest_first = sorted(labels, key=len, reverse=True)
    return re.compile("|".join(map(_whole, longest_first)), re.IGNORECASE)


def _whole(label: str) -> str:
    """The label as whole words; one that begins or ends with a sign, as "%", beside anything."""
    words = r"\s+".join(map(re.escape, label.split()))
    before = r"(?<!\w)" if label[:1].isalnum() else ""
    return before + words + (r"(?!\w)" if label[-1:].isalnum() else "")
