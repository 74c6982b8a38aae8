"""Changes a dataset's JSON Lines line by line: other lines stay the same, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from gate.errors import InvalidInput, Problem, UsageError
from gate.files.json_values import as_object
from gate.files.rows import read_dataset
from gate.files.source import on_disk
from gate.records import Json
from gate.suites.cases.keys import ANSWER, ANSWER_ALIAS
from gate.text.suggestions import did_you_mean


def writable(path: Path) -> None:
    """Raises UsageError if the format cannot be changed line by line."""
    if path.suffix != ".jsonl":
        raise UsageError(f"{path}: only JSON Lines files (.jsonl) can be edited; convert it first")


def cases_of(path: Path) -> list[dict[str, Json]]:
    """Every row that is a mapping, with other names of `input` replaced. Raises InvalidInput."""
    rows, problems = [], []
    for row in read_dataset(on_disk(path, path.as_posix())):
        if isinstance(row, Problem):
            problems.append(row)
        elif isinstance(row.data, dict):
            rows.append(_resolve_aliases(row.data))
    if problems:
        raise InvalidInput(problems)
    return rows


def append_cases(content: bytes, cases: Iterable[Mapping[str, Json]]) -> bytes:
    """The file's content with these cases at its end."""
    gap = b"" if not content or content.endswith(b"\n") else b"\n"
    return content + gap + b"".join(_line(case) for case in cases)


def change_cases(
    content: bytes,
    ids: Sequence[str],
    change: Callable[[dict[str, Json]], dict[str, Json]],
    name: str,
) -> bytes:
    """The file's content with `change` applied to the cases in `ids`. Raises UsageError for a
    missing one.
    """
    wanted, known = dict.fromkeys(ids), []
    lines = content.splitlines(keepends=True)
    for number, line in enumerate(lines):
        data: Json = json.loads(line) if line.strip() else None
        case = str(data.get("id")) if isinstance(data, dict) else None
        if case is not None:
            known.append(case)
        if case in wanted:
            del wanted[case]
            lines[number] = _line(change(as_object(data)))
    for lost in wanted:
        raise UsageError(f"{name}: there is no case '{lost}'{did_you_mean(lost, known)}")
    return b"".join(lines)


def _line(case: Mapping[str, Json]) -> bytes:
    return json.dumps(case, ensure_ascii=False).encode() + b"\n"


def _resolve_aliases(data: Mapping[str, Json]) -> dict[str, Json]:
    aliases = ("query", "question", "prompt")
    named = next((key for key in aliases if key in data and "input" not in data), None)
    proper = {named: "input"} if named else {}
    if ANSWER not in data:
        proper[ANSWER_ALIAS] = ANSWER
    return {proper.get(key, key): value for key, value in data.items()}
