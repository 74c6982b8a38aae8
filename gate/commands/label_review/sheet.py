"""The sample as a spreadsheet: a row for each case, a column for each criterion; and how it is read
back. A cell that a spreadsheet could take for a formula gets an apostrophe in front (CWE-1236).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence

from gate.commands.label_review.form import Card
from gate.commands.label_review.manifest import Manifest
from gate.commands.label_review.raw_answer import Spoken, Stated
from gate.errors import InvalidInput, Place, Problem
from gate.files.encoding import decode
from gate.records import Json
from gate.text.spreadsheet_cells import defuse, restore

CELL = 30_000  # characters; a spreadsheet keeps 32,767
ITEM, PERIOD, SUITE, SAMPLE = "item", "period", "suite", "sample"
ANSWER_DIGEST, REVIEWER, SKIPPED, NOTE = "answer_digest", "reviewer", "cannot_judge", "note"
_SHOWN = (ITEM, "case_id", "question", "answer", "reference", "evidence")
_OWN = (ITEM, PERIOD, SUITE, SAMPLE, ANSWER_DIGEST, REVIEWER, SKIPPED, NOTE)
_YES, _NO = {"x", "yes", "true", "1"}, {"", "no", "false", "0"}
_SEPARATORS = ",;\t"
_SCALE = re.compile(r"\s*\(\d+ to \d+\)$")


def render(manifest: Manifest, cards: Sequence[Card]) -> str:
    """The CSV, in UTF-8 with a byte order mark, which Excel needs; line ends follow RFC 4180."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    scales = [_escape_cell(f"{one.name} ({one.low} to {one.high})") for one in manifest.criteria]
    writer.writerow(
        (*_SHOWN, REVIEWER, *scales, SKIPPED, NOTE, PERIOD, SUITE, SAMPLE, ANSWER_DIGEST)
    )
    for card in cards:
        texts = [card.case_id, card.question, card.answer]
        texts += [_join_sections(card.reference), _join_sections(card.evidence)]
        blank = [""] * (len(scales) + 3)
        names = [manifest.period, manifest.suite, manifest.digest, card.answer_digest]
        writer.writerow([card.item, *map(_escape_cell, texts), *blank, *map(_escape_cell, names)])
    return "\ufeff" + out.getvalue()


def read(content: bytes, file: str) -> Iterator[Spoken | Problem]:
    """What people wrote, case by case; rows without entries are left out. Commas, semicolons and
    tabs may separate cells. Raises InvalidInput if it is not such a table.
    """
    text = decode(content, file)
    lines = iter(_table(text, file))
    _, header = next(lines, (1, []))
    names = [_SCALE.sub("", restore(cell.strip())) for cell in header]
    lacking = [name for name in (ITEM, PERIOD, SAMPLE, REVIEWER) if name not in names]
    if lacking:
        message = f"no column '{lacking[0]}'; use the CSV that `gate review sample` wrote"
        raise InvalidInput([Problem(Place(file, 1), message)])
    for line, cells in lines:
        row = {name: restore(cell) for name, cell in zip(names, cells, strict=False)}
        ratings = {name: value for name, value in row.items() if name not in _OWN}
        if any(row.get(name, "").strip() for name in (REVIEWER, SKIPPED, NOTE)) or _has_rating(
            ratings
        ):
            yield _read_row(row, ratings, Place(file, line))


def _has_rating(row: Mapping[str, str]) -> bool:
    return any(value.strip() for name, value in row.items() if "." in name)


def _read_row(row: Mapping[str, str], ratings: Mapping[str, str], place: Place) -> Spoken | Problem:
    skipped = row.get(SKIPPED, "").strip().casefold()
    if skipped not in _YES | _NO:
        return Problem(place, f"{SKIPPED}: '{skipped[:20]}' is neither 'x' nor empty")
    item = _value(row.get(ITEM, ""))
    return Spoken(
        place=place,
        period=row[PERIOD].strip(),
        sample=row[SAMPLE].strip(),
        reviewer=row[REVIEWER].strip(),
        item=item,
        answer_digest=row.get(ANSWER_DIGEST, "").strip(),
        ratings=tuple(
            Stated(name=name, value=_value(value))
            for name, value in ratings.items()
            if "." in name and value.strip()
        ),
        cannot_judge=skipped in _YES,
        note=row.get(NOTE, "").strip(),
    )


def _value(cell: str) -> Json:
    """A whole number however a spreadsheet writes it (4, 4.0, 4,0); else the text."""
    plain = re.sub(r"[.,]0+$", "", cell.strip())
    return int(plain) if re.fullmatch(r"\d{1,9}", plain) else cell.strip()


def _table(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """The rows with the lines they begin at; empty ones left out."""
    has_separator = text.startswith("sep=")  # a first line that Excel reads the separator from
    lines = text.split("\n", 2)[: has_separator + 1]
    separator = max(_SEPARATORS, key=lines[-1].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    if has_separator:
        next(reader, None)
    line = reader.line_num + 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        message = f"not CSV: {error}"
        raise InvalidInput([Problem(Place(file, reader.line_num), message)]) from error


def _join_sections(texts: Sequence[tuple[str, str]]) -> str:
    return "\n\n".join(f"{title}:\n{text}" for title, text in texts)


def _escape_cell(text: str) -> str:
    cut = text if len(text) <= CELL else text[: CELL - 1] + "…"
    return defuse(cut)
