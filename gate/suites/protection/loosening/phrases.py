"""How numbers and places are written where a rule has become looser."""

from __future__ import annotations

from gate.errors import Place
from gate.records import Tolerance


def at(place: Place | None) -> str:
    """` in gate.yml:31`, with the file in backticks; empty where the line is not known."""
    return f" in `{place.file}:{place.line}`" if place is not None and place.line else ""


def number(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def amount(tolerance: Tolerance) -> str:
    """As gate.yml has it: `0.02`, `5%`."""
    return f"{100 * tolerance.value:g}%" if tolerance.relative else f"{tolerance.value:g}"
