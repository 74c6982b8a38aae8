"""What does not fit a JSON Schema, and where."""

from __future__ import annotations

from dataclasses import dataclass

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """`path` leads to the value (to the unknown key itself, to what lacks a key); `message` is a
    clause without the path. `rule`: the keyword of JSON Schema; `key`: the missing key.
    """

    path: Path
    message: str
    rule: str = ""
    key: str = ""
