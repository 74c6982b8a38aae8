"""What does not fit a JSON Schema, and where."""

from __future__ import annotations

from dataclasses import dataclass

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """`path` leads to the value (or to the unknown or missing key itself); `message` is a clause
    without the path.
    """

    path: Path
    message: str
