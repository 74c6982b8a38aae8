"""What the benchmarks hold against a bound."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A measured figure and the most that it may be."""

    what: str
    unit: str  # "x" of ratios
    most: float
    here: float

    @property
    def is_met(self) -> bool:
        return self.here <= self.most
