"""Where the sentences of a text begin and end."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from gate.text.late_pattern import late_pattern

# A point in a figure ends no sentence, nor does that of "St. Brigid".
_SHORT = "St Dr Mr Ms Mrs Prof vs No ca e.g i.e approx"
_NO_SHORT = "".join(rf"(?<!\b{re.escape(word)}\.)" for word in _SHORT.split())
_NO_SHORT_END = rf"(?<![{''.join(word[-1] for word in _SHORT.split())}]\.)"
# Nor does that of a day, as in "7. Mai" or "il 3. marzo".
_NO_DAY = r"(?!(?<=\d\.)\s(?:[a-zäöüéß]|(?:Jan|Feb|M[aä]r|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)))"
_STOP = late_pattern(rf"[.?!\n](?:(?<=\n)|(?=\s)(?:{_NO_SHORT_END}|{_NO_SHORT}){_NO_DAY})")


@dataclass(frozen=True)
class Sentences:
    """The sentences of one text; a line's end ends one too."""

    text: str

    @cached_property
    def _begins(self) -> list[int]:
        return _find_begins(self.text)

    def around(self, at: int, *, back: int = 0) -> tuple[int, int]:
        """Where the sentence around `at` begins and ends, with `back` sentences before it."""
        begins = self._begins
        k = bisect_right(begins, at)
        return begins[max(0, k - 1 - back) if back else k - 1], begins[k]

    def spans(self) -> Iterator[tuple[int, int]]:
        """Where each of them begins and ends."""
        return pairwise(self._begins)


@lru_cache(maxsize=16)  # an answer's and its sources' are asked for by several checks
def _find_begins(text: str) -> list[int]:
    ends = [found.end() for found in _STOP.finditer(text)]
    return [0, *ends, len(text) + 1]
