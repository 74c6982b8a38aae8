"""`jsonl`: JSON Lines with a flat row a trial, as `datasets.load_dataset("json")` reads them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from gate.plugins import EXPORTERS, Rows
from gate.records import Json, Report, TrialRow
from gate.report.flat_rows import flatten_row, numbers, score_names


@EXPORTERS.register("jsonl")
@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLines:
    """Each column has one type in the whole file, and no list or object is in it. A reader takes a
    column's type from the first part of the file: rows that have the first number of a column come
    first.
    """

    def pieces(self, report: Report, rows: Rows) -> Iterator[str]:
        scores = score_names(rows())
        first = _find_first_values(rows(), scores)
        for number, row in enumerate(islice(rows(), max(first, default=-1) + 1)):
            if number in first:
                yield _line(flatten_row(report, row, scores))
        for number, row in enumerate(rows()):
            if number not in first:
                yield _line(flatten_row(report, row, scores))


def _find_first_values(rows: Iterable[TrialRow], scores: Iterable[str]) -> frozenset[int]:
    """Numbers of the rows in which a column is not null for the first time."""
    wanted: set[str] | None = None
    numbered = set()
    for number, row in enumerate(rows):
        values = numbers(row, scores)
        wanted = {*values} if wanted is None else wanted
        new = {name for name in wanted if values[name] is not None}
        if new:
            numbered.add(number)
            wanted -= new
        if not wanted:
            break
    return frozenset(numbered)


def _line(row: Mapping[str, Json]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
