"""The rows of a dataset file with their lines: JSON Lines, a JSON list, YAML, CSV and an index of
tasks.

JSON Lines is streamed; the others are read whole. What cannot be read is a Problem among the rows.
"""

from __future__ import annotations

import io
from pathlib import PurePosixPath
from typing import BinaryIO

from gate.errors import InvalidInput, Place, Problem
from gate.files import yaml as yamlfile
from gate.files.encoding import decode
from gate.files.json_rows import read_cases
from gate.files.json_stream import decode_json, explain_error
from gate.files.source import INDEX, Row, Rows, Source
from gate.records import Json

__all__ = ["Row", "Rows", "Source", "rows"]


def rows(source: Source) -> Rows:
    """Every row of the file in order, unchecked but for its form."""
    try:
        with source.open() as stream:
            yield from _read(stream, source)
    except FileNotFoundError:
        yield Problem(Place(source.name), "there is no such file")
    except OSError as error:
        yield Problem(Place(source.name), f"cannot be read: {error.strerror or error}")
    except InvalidInput as error:
        yield from error.problems


def _read(stream: BinaryIO, source: Source) -> Rows:
    file = PurePosixPath(source.file or source.name)
    suffix = file.suffix.lower()
    if file.name == INDEX:
        from gate.files.openagent_yaml import index_cases

        return index_cases(stream, source.name, source.beside)
    if suffix in (".yaml", ".yml"):
        return _yaml(stream, source.name)
    return (_csv if suffix == ".csv" else read_cases)(stream, source.name)


def _yaml(stream: BinaryIO, name: str) -> Rows:
    try:
        document = yamlfile.parse(stream.read(), name)
    except InvalidInput as error:
        yield from error.problems
        return
    from gate.files.openagent_yaml import yaml_cases

    yield from yaml_cases(document)


def _csv(stream: BinaryIO, name: str) -> Rows:
    try:
        text = decode(stream.read(), name)
    except InvalidInput as error:
        yield from error.problems
        return
    import csv

    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        wrong = _header_fault(header)
        if wrong:
            yield Problem(Place(name, 1), wrong)
            return
        line = reader.line_num + 1
        for cells in reader:
            if cells:
                yield _csv_row(cells, header, Place(name, line))
            line = reader.line_num + 1
    except csv.Error as error:
        yield Problem(Place(name, reader.line_num), f"not CSV: {error}")


def _header_fault(header: list[str]) -> str | None:
    names = [cell.strip() for cell in header]
    if header and not all(names):
        return "a column of the header row has no name"
    twice = next((name for name in names if names.count(name) > 1), None)
    return f"two columns are called '{twice}'" if twice else None


def _csv_row(cells: list[str], header: list[str], place: Place) -> Row | Problem:
    if len(cells) != len(header):
        message = f"{len(cells)} cells, but the header row has {len(header)} - is a quote missing?"
        return Problem(place, message)
    data: dict[str, Json] = {}
    for name, cell in zip(header, cells, strict=True):
        try:
            if cell != "":
                data[name.strip()] = decode_json(cell) if cell[0] in "[{" else cell
        except (ValueError, RecursionError) as error:
            message = f"{explain_error(error)} - a cell that starts with [ or {{ is read as JSON"
            return Problem(Place(place.file, place.line, name.strip()), message)
    return Row(line=place.line or 1, data=data, texts=True)
