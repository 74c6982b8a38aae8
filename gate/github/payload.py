"""An event's payload: how it is read, and single fields of it or of an answer of the API. All of it
is hostile text, so a field of another type counts as missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from gate.files.json_values import is_integer
from gate.records import Json

MAX_EVENT_BYTES = 32 * 1024 * 1024  # GitHub caps a payload at 25 MB

Event = Mapping[str, Json]


def read_event(env: Mapping[str, str]) -> Event | None:
    """The payload that GITHUB_EVENT_PATH names; None when it is absent or is no JSON object."""
    name = env.get("GITHUB_EVENT_PATH")
    if not name:
        return None
    try:
        with Path(name).open("rb") as file:
            data: Json = json.loads(file.read(MAX_EVENT_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def text(event: Json, path: str) -> str | None:
    """The text at a dotted path; None for an empty one, too."""
    value = _at(event, path)
    return value if isinstance(value, str) and value else None


def number(event: Json, path: str) -> int | None:
    value = _at(event, path)
    return value if is_integer(value) else None


def id_of(answer: Json) -> int:
    """The number by which GitHub names it; 0 where the answer has none."""
    return number(answer, "id") or 0


def moment(event: Json, path: str) -> datetime | None:
    """An ISO 8601 time with its zone."""
    try:
        parsed = datetime.fromisoformat(text(event, path) or "")
    except ValueError:
        return None
    return parsed if parsed.tzinfo is not None else None


def is_true(event: Json, path: str) -> bool:
    return _at(event, path) is True


def is_false(event: Json, path: str) -> bool:
    return _at(event, path) is False


def has(event: Json, path: str) -> bool:
    """Whether something that is not empty stands there."""
    return bool(_at(event, path))


def branch_of(ref: str | None) -> str | None:
    """A branch's name of its full one."""
    return ref.removeprefix("refs/heads/") if ref else None


def _at(event: Json, path: str) -> Json:
    value = event
    for key in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value
