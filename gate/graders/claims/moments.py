"""The years, dates and times of day that texts tell, and how long it is between two of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import combinations
from typing import TypeVar

from gate.graders.claims.entities import dates_in

_CLOCK = re.compile(r"(?<![\d:.])(\d{1,2}):([0-5]\d)(?::([0-5]\d))?(?![\d:])")
_YEAR = re.compile(r"(?<![\d.,$€£#-])(?:1[5-9]|20)\d\d(?!\d|[.,]\d|[ ]?%)")
_DAY = 86_400.0
_MONTH = 365.2425 / 12  # days
_MOST = 40  # of each kind
_Told = TypeVar("_Told", int, float)


@dataclass(frozen=True)
class Moments:
    """Of some texts."""

    texts: tuple[str, ...]

    @cached_property
    def _seconds(self) -> list[float]:
        found = (
            3600.0 * int(one[1]) + 60.0 * int(one[2]) + int(one[3] or 0)
            for text in self.texts
            for one in _CLOCK.finditer(text)
        )
        return _first(found)

    @cached_property
    def _years(self) -> list[int]:
        return _first(int(one[0]) for text in self.texts for one in _YEAR.finditer(text))

    @cached_property
    def _days(self) -> list[int]:
        return _first(day for text in self.texts for day in _ordinals(text))

    @property
    def several(self) -> bool:
        """Whether some time can lie between two of them."""
        return any(len(some) > 1 for some in (self._days, self._years, self._seconds))

    def months_apart(self, months: float) -> bool:
        """Whether two dates are, to half a month."""
        return any(abs(abs(a - b) / _MONTH - months) <= 0.5 for a, b in combinations(self._days, 2))

    def apart(self, seconds: float, allowed: float) -> bool:
        """Whether two times of day or dates are so far apart."""
        between = (abs(a - b) for a, b in combinations(self._seconds, 2))
        if any(abs(one - seconds) <= min(allowed, 30.0) for one in between):
            return True
        return any(
            abs(abs(a - b) * _DAY - seconds) <= min(allowed, _DAY / 2)
            for a, b in combinations(self._days, 2)
        )

    def years_apart(self, years: float, sentence: str) -> bool:
        """Whether two years are, or two dates in whole years; of a sentence that tells two years,
        those.
        """
        told = [int(one[0]) for one in _YEAR.finditer(sentence)]
        if len(set(told)) == 2:
            return abs(told[0] - told[-1]) == years
        if any(abs(a - b) == years for a, b in combinations(self._years, 2)):
            return True
        return any(int(abs(a - b) / 365.2425) == years for a, b in combinations(self._days, 2))


def _first(found: Iterable[_Told]) -> list[_Told]:
    return list(dict.fromkeys(found))[:_MOST]


def _ordinals(text: str) -> Iterator[int]:
    for year, month, day in dates_in(text):
        if year and month and day:
            try:
                yield date(year, month, day).toordinal()
            except ValueError:
                continue
