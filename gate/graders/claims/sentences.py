"""Where the sentences of a text begin and end."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

_STOP = re.compile(r"[.?!\n](?:(?<=\n)|(?=\s))")  # a point in a figure ends none


@dataclass(frozen=True)
class Sentences:
    """The sentences of one text; a line's end ends one too."""

    text: str

    @cached_property
    def _begins(self) -> list[int]:
        ends = [found.end() for found in _STOP.finditer(self.text)]
        return [0, *ends, len(self.text) + 1]

    def around(self, at: int, *, back: int = 0) -> tuple[int, int]:
        """Where the sentence around `at` begins and ends, with `back` sentences before it."""
        k = bisect_right(self._begins, at)
        return self._begins[max(0, k - 1 - back)], self._begins[k]
