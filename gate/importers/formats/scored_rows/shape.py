"""What the columns of such an export are called, and their values as ours."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from gate.files.json_stream import decode_json
from gate.files.timestamps import after, moment_of
from gate.records import LARGEST, Json
from gate.text.escaping import one_line

Role = Literal[
    "id",
    "input",
    "output",
    "expected",
    "category",
    "tags",
    "model",
    "error",
    "level",
    "started_at",
    "ended_at",
    "latency_s",
    "latency_ms",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "total_tokens",
    "cost_usd",
    "trace",
    "parent",
]
ROLES: tuple[str, ...] = get_args(Role)
_YES, _NO = {"true", "yes", "pass", "passed", "1"}, {"false", "no", "fail", "failed", "0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowShape:
    """How one tool's exports look. `columns`: role -> where it may stand, a column or a dotted path
    into one that holds JSON; the first with a value counts. `scores`: the column that holds all of
    them; else each column that is not `own` and holds nothing but numbers is one.
    """

    tool: str
    columns: Mapping[str, tuple[str, ...]]
    scores: str = ""
    own: frozenset[str] = field(default_factory=frozenset)

    def at(self, role: Role, cells: Mapping[str, Json]) -> Json:
        for path in self.columns.get(role, ()):
            found = value_at(cells, path)
            if found not in (None, ""):
                return found
        return None

    def number(self, role: Role, cells: Mapping[str, Json]) -> float | None:
        return read_number(self.at(role, cells))


def value_at(cells: Mapping[str, Json], path: str) -> Json:
    """A column of that name, or what lies below it; None where there is none."""
    if path in cells:
        return cells[path]
    head, dot, rest = path.partition(".")
    inner = decode_cell(cells.get(head)) if dot else None
    return value_at(inner, rest) if isinstance(inner, dict) else None


def decode_cell(value: Json) -> Json:
    """JSON in a text as what it says; a text that is none as it stands."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return decode_json(value)
        except (ValueError, RecursionError):
            return value
    return value


def read_number(value: Json) -> float | None:
    """Also of a text, of true and false, and the mean of a list; None for what is none."""
    value = decode_cell(value)
    if isinstance(value, list):
        found = [read_number(one) for one in value if not isinstance(one, list)]
        known = [one for one in found if one is not None]
        return math.fsum(known) / len(known) if known and len(known) == len(value) else None
    if isinstance(value, str):
        word = value.strip().lower()
        try:
            value = word == "true" if word in ("true", "false") else float(word)
        except ValueError:
            return None
    if isinstance(value, (int, float)) and -LARGEST <= value <= LARGEST:
        return float(value)
    return None


def read_flag(value: Json) -> bool | None:
    """Pass or fail, however it is written; None for what is neither."""
    if isinstance(value, (bool, int, float)) and value in (0, 1):
        return bool(value)
    word = str(value).strip().lower() if isinstance(value, str) else ""
    return True if word in _YES else False if word in _NO else None


def text(value: Json) -> str:
    """Texts as they are, the rest as JSON; nothing of null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_moment(value: Json) -> datetime | None:
    """A time as ISO 8601 (without an offset: UTC) or as seconds since 1970."""
    seconds = None if isinstance(value, bool) else read_number(value)
    return moment_of(value) if seconds is None else after(seconds)


def short(value: Json) -> str:
    return one_line(text(value), 80)
