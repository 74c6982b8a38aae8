"""Rows of CSV below a header row, each with its line."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from gate.errors import Place, Problem


def read_csv(
    lines: Iterable[str],
    name: str,
    *,
    separator: str = ",",
    unnamed: bool = False,
    spaced: bool = False,
) -> Iterator[tuple[Place, Mapping[str, str]] | Problem]:
    """Column -> cell, all of them texts; blank lines are passed over. `lines`: with their ends.
    `unnamed`: one column may have no name. `spaced`: a space may follow a separator.
    What is wrong with the form ends it, at the line where its row begins.
    """
    line = 1
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=spaced, strict=True)
    try:
        header = [cell.strip() for cell in next(reader, [])]
        if fault := _find_header_fault(header, unnamed):
            yield Problem(Place(name, 1), fault)
            return
        line = reader.line_num + 1
        for cells in reader:
            place, line = Place(name, line), reader.line_num + 1
            if len(cells) == len(header):
                yield place, dict(zip(header, cells, strict=True))
            elif cells:
                counts = f"{len(cells)} cells, but the header row has {len(header)}"
                yield Problem(place, f"{counts} - is a quote missing?")
    except csv.Error as error:
        yield Problem(Place(name, line), f"not CSV: {_explain_error(error, line, reader.line_num)}")


def _explain_error(error: csv.Error, first: int, last: int) -> str:
    """A quote that is not closed takes in the lines below, up to the next quote or the end."""
    if last == first and "end of data" not in str(error):
        return str(error)
    where = f" in line {last}" if last != first else ""
    return f"{error}{where} - is a quote that opens in this row not closed?"


def _find_header_fault(header: list[str], unnamed: bool) -> str:
    if header and not all(header) and not unnamed:
        return "a column of the header row has no name"
    twice = next((name for name, times in Counter(header).items() if times > 1), None)
    return "" if twice is None else f"two columns are called '{twice[:80]}' - rename one"
