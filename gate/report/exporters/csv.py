"""`csv`: a table with a row a trial, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from gate.plugins import EXPORTERS, Rows
from gate.records import Report, TrialRow
from gate.report.flat_rows import flatten_row, score_names
from gate.text.escaping import clean
from gate.text.spreadsheet_cells import defuse


@EXPORTERS.register("csv")
@dataclass(frozen=True, slots=True, kw_only=True)
class Csv:
    """RFC 4180: a header, commas, lines that end in CR LF, UTF-8 without a mark. Text that a
    spreadsheet could take for a formula gets an apostrophe in front; hidden characters have signs.
    """

    def pieces(self, report: Report, rows: Rows) -> Iterator[str]:
        scores = score_names(rows())
        yield _line(flatten_row(report, cast("TrialRow", _NO_TRIAL), scores))
        for row in rows():
            yield _line(flatten_row(report, row, scores).values())


# The columns of a session without any trial, too.
_NO_TRIAL = {
    **dict.fromkeys(("suite", "case_id", "question", "status", "started_at"), ""),
    **dict.fromkeys(("category", "model", "output", "error", "passed", "latency_ms", "cost_usd")),
    **{"round": 1, "failures": [], "attempts": [], "scores": {}},
}


def _line(cells: Iterable[str | int | float | None]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(
        [defuse(clean(cell)) if isinstance(cell, str) else cell for cell in cells]
    )
    return out.getvalue()
