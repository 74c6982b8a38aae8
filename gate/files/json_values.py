"""Readers of JSON that nobody vouches for: each takes a value of any type and gives one type."""

from __future__ import annotations

import math
from typing import TypeGuard

from gate.records import LARGEST, Json
from gate.text.shortening import tidy

CLOSE = 1e-6  # numbers that differ by no more are one


def as_object(value: object) -> dict[str, Json]:
    """An object; of anything else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Json]:
    """A list; of anything else an empty one."""
    return value if isinstance(value, list) else []


def as_objects(value: object) -> list[dict[str, Json]]:
    """The objects in a list; what else is in it is left out."""
    return [item for item in as_list(value) if isinstance(item, dict)]


def as_strings(value: object) -> list[str]:
    """The strings in a list; what else is in it is left out."""
    return [item for item in as_list(value) if isinstance(item, str)]


def as_string(value: object) -> str:
    """A string; of anything else an empty one."""
    return value if isinstance(value, str) else ""


def string_or_none(value: object, most: int | None = None) -> str | None:
    """A string, cut to its first `most` characters; None for anything else."""
    return value[:most] if isinstance(value, str) else None


def line_or_none(value: object, most: int = 200) -> str | None:
    """A string as one line of at most so many characters; None for a blank one or anything else."""
    return tidy(value, most) if isinstance(value, str) and value.strip() else None


def as_boolean(value: object) -> bool | None:
    """True or false; None for anything else."""
    return value if isinstance(value, bool) else None


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a number: true and false are none, NaN and Infinity are."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_integer(value: object) -> TypeGuard[int]:
    """Whether it is written as a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def as_number(value: object) -> float | None:
    """A finite number of at most LARGEST either side of 0; None for anything else."""
    if not is_number(value) or not abs(value) <= LARGEST:
        return None
    return float(value) if math.isfinite(value) else None


def as_amount(value: object) -> float | None:
    """A finite number from 0 on; None for anything else."""
    number = as_number(value)
    return number if number is not None and number >= 0 else None


def as_count(value: object) -> int | None:
    """A whole number from 0 on, also where it is written 12.0; None for anything else."""
    amount = as_amount(value)
    return int(amount) if amount is not None and amount == int(amount) else None
