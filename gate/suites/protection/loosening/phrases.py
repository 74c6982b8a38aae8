"""The wording of numbers and places in sentences about loosened rules."""

from __future__ import annotations

from gate.errors import Place
from gate.records import Tolerance


def at(place: Place | None) -> str:
    """` in gate.yml:31`, with the file in backticks; empty if the line is unknown."""
    return f" in `{place.file}:{place.line}`" if place is not None and place.line else ""


def number(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def amount(tolerance: Tolerance) -> str:
    """The tolerance as gate.yml has it: `0.02`, `5%`."""
    return f"{100 * tolerance.value:g}%" if tolerance.relative else f"{tolerance.value:g}"
