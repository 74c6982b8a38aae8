"""violations.jsonl: a line a safety violation, in the order of details.jsonl."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from gate.records import Json, TrialRow

FILE = "violations.jsonl"


def render_log(rows: Iterable[TrialRow]) -> str:
    """The file; empty where none was found."""
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for row in rows for one in _flat(row))


def _flat(row: TrialRow) -> Iterator[Json]:
    for violation in row.get("violations") or ():
        yield {
            **{key: value for key, value in violation.items() if key != "violation"},
            **violation["violation"],
        }
