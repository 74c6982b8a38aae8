"""JSON among the sources, as the tables and lines that people would write."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from gate.records import Json

_FEWEST = 2  # records that make a table
_COLUMNS = 30
_DEPTH = 8
_OPENS = ("{", "[")


def read_json(text: str) -> str:
    """A text that is JSON, or has a JSON object in each line, in words: a list of records as a
    Markdown table, another record as one line. Any other text as it is.
    """
    if text.lstrip()[:1] not in _OPENS:
        return text
    data = _parse(text)
    return text if data is None else describe_json(data)


def describe_json(data: Json) -> str:
    """JSON data as a person would write it; what lies deeper than eight levels is left out."""
    return "\n".join(_lines(data, "", _DEPTH))


def _parse(text: str) -> Json | None:
    """Numbers stay as they are written."""
    try:
        return _load(text)
    except (ValueError, RecursionError):
        pass
    try:
        return [_load(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None


def _load(text: str) -> Json:
    data: Json = json.loads(text, parse_float=str, parse_int=str)
    return data


def _lines(data: Json, about: str, depth: int) -> Iterator[str]:
    if isinstance(data, dict) and depth:
        yield from _record(data, about, depth)
    elif isinstance(data, list) and depth:
        if records := _flat_records(data):
            yield from ("", *_table(records, about), "")
            return
        plain = [_cell(item) for item in data if not isinstance(item, (dict, list))]
        if plain:
            yield f"{about}: {', '.join(plain)}" if about else ", ".join(plain)
        for item in data:
            if isinstance(item, (dict, list)):
                yield from _lines(item, about, depth - 1)
    elif data is not None and not isinstance(data, (dict, list)):
        yield f"{about}: {_cell(data)}" if about else _cell(data)


def _record(record: Mapping[str, Json], about: str, depth: int) -> Iterator[str]:
    plain = [
        f"{name}: {_cell(value)}"
        for name, value in record.items()
        if value is not None and not isinstance(value, (dict, list)) and not _is_text(value)
    ]
    if plain:
        yield "; ".join([about, *plain] if about else plain)
    for name, value in record.items():
        if isinstance(value, (dict, list)):
            yield from _lines(value, name, depth - 1)
        elif _is_text(value):
            yield f"{name}:\n{value}\n"


def _flat_records(data: Sequence[Json]) -> list[Mapping[str, Json]]:
    """The records, if all are, none has anything inside, and together they have few columns."""
    records: list[Mapping[str, Json]] = [one for one in data if isinstance(one, dict)]
    names = {name for one in records for name in one}
    nested = any(
        isinstance(value, (dict, list)) or _is_text(value)
        for one in records
        for value in one.values()
    )
    fits = _FEWEST <= len(records) == len(data) and 1 < len(names) <= _COLUMNS
    return records if fits and not nested else []


def _table(records: Sequence[Mapping[str, Json]], about: str) -> Iterator[str]:
    names = list(dict.fromkeys(name for one in records for name in one))
    if about:
        yield f"{about}:"
    yield f"| {' | '.join(names)} |"
    yield "|" + " --- |" * len(names)
    for one in records:
        yield f"| {' | '.join(_cell(one.get(name)) for name in names)} |"


def _is_text(value: Json) -> bool:
    """Whether it has lines of its own, perhaps with tables."""
    return isinstance(value, str) and "\n" in value.strip()


def _cell(value: Json) -> str:
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    return " ".join(str(value).replace("|", "/").split())
