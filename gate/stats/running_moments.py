"""Mean, standard deviation and largest value of a stream of numbers, which are not kept."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gate.records import Amounts


@dataclass(slots=True)
class RunningMoments:
    """Mean and sample standard deviation of a stream (Welford), with its largest value."""

    n: int = 0
    mean: float = 0.0
    worst: float = -math.inf
    _squares: float = 0.0

    def add(self, value: float) -> None:
        self.n += 1
        step = value - self.mean
        self.mean += step / self.n
        self._squares += step * (value - self.mean)
        self.worst = max(self.worst, value)

    @property
    def std(self) -> float | None:
        """The sample standard deviation; None for fewer than two values."""
        return math.sqrt(self._squares / (self.n - 1)) if self.n > 1 else None

    def amounts(self) -> Amounts | None:
        """The moments, rounded like the rows, so that the order of the numbers does not matter.
        None:
        there are no numbers.
        """
        if not self.n:
            return None
        std = None if self.std is None else round(self.std, 3)
        return Amounts(n=self.n, mean=round(self.mean, 3), worst=round(self.worst, 3), std=std)
