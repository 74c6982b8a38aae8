"""Values of somebody else's JSON, of whatever type they are."""

from __future__ import annotations

import math
from collections.abc import Mapping

from gate.records import LARGEST, Json

CLOSE = 1e-6  # numbers that differ by no more are one


def mapping(value: Json) -> Mapping[str, Json]:
    """An object; of anything else an empty one."""
    return value if isinstance(value, dict) else {}


def number(value: Json) -> float | None:
    """A finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) <= LARGEST and math.isfinite(value) else None
