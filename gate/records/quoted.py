"""Results of others, quoted beside one's own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedValue:
    """A published result. It is shown beside the value of `metric`, marked as quoted, and never
    decides anything.
    """

    metric: str  # ours, of the same unit: a share of 0.65 for 65 %
    value: float
    of: str  # who reached it: "GPT-4", "human"
    year: int
    source: str  # where it stands, in words or as a link
    approximate: bool = False
