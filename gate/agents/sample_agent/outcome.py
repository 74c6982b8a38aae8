"""What one part of a task came to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutcome:
    """`text` is the answer in words. `figure` is the number that it states, as it goes into an
    expression; `label` the name it is about ("EMEA"). None: it states no such thing.
    """

    text: str
    figure: str | None = None
    label: str | None = None
