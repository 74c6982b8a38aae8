"""The rows of a dataset file with their lines: JSON Lines, a JSON list, YAML, CSV and an index of
tasks.

JSON Lines is streamed; the others are read whole. What cannot be read is a Problem among the rows.
"""

from __future__ import annotations

import io
from collections.abc import Container, Mapping
from pathlib import PurePosixPath
from typing import BinaryIO

from gate.errors import InvalidInput, Place, Problem
from gate.files import yaml as yamlfile
from gate.files.encoding import decode
from gate.files.json_rows import read_cases
from gate.files.json_stream import decode_json, explain_error
from gate.files.source import INDEX, DatasetRow, DatasetSource, Rows
from gate.records import Json

__all__ = ["DatasetRow", "DatasetSource", "Rows", "read_dataset"]


def read_dataset(source: DatasetSource, lines: Container[int] | None = None) -> Rows:
    """Every row of the file in order, unchecked but for its form. `lines`: the numbers of the lines
    that are wanted; the others may be left out.
    """
    try:
        with source.open() as stream:
            yield from _read_format(stream, source, lines)
    except FileNotFoundError:
        where = f" in {source.named_at}" if source.named_at else ""
        yield Problem(Place(source.name), f"there is no such file - check its path{where}")
    except OSError as error:
        yield Problem(Place(source.name), f"cannot be read: {error.strerror or error}")
    except InvalidInput as error:
        yield from error.problems


def _read_format(stream: BinaryIO, source: DatasetSource, lines: Container[int] | None) -> Rows:
    file = PurePosixPath(source.file or source.name)
    suffix = file.suffix.lower()
    if file.name == INDEX:
        from gate.files.openagent_yaml import index_cases

        return index_cases(stream, source.name, source.beside)
    if suffix in (".yaml", ".yml"):
        return _yaml(stream, source.name)
    if suffix == ".csv":
        return _csv(stream, source.name)
    return read_cases(stream, source.name, lines)


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
    from gate.files.csv_rows import read_csv

    for row in read_csv(io.StringIO(text, newline=""), name, separator=_find_separator(text)):
        yield row if isinstance(row, Problem) else _csv_row(*row)


def _find_separator(text: str) -> str:
    """What parts the columns: a comma, or what spreadsheets write instead where the first line has
    none.
    """
    head = text.partition("\n")[0]
    return next((sign for sign in ",;\t" if sign in head), ",")


def _csv_row(place: Place, cells: Mapping[str, str]) -> DatasetRow | Problem:
    data: dict[str, Json] = {}
    for name, cell in cells.items():
        try:
            if cell != "":
                data[name] = decode_json(cell) if cell[0] in "[{" else cell
        except (ValueError, RecursionError) as error:
            message = f"{explain_error(error)} - a cell that starts with [ or {{ is read as JSON"
            return Problem(Place(place.file, place.line, name), message)
    return DatasetRow(line=place.line or 1, data=data, texts=True)
