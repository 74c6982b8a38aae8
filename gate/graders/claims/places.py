"""Whether a value stands in the sources where the answer speaks of it: in the sentence or the row
that its own sentence takes its words from.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from gate.graders.claims.labels import Words, rows_of, words
from gate.graders.claims.sentences import Sentences
from gate.text.numbers.number import LIMIT

ELSEWHERE = "the sources have it in another connection"
_MOST = 400  # sentences and rows
_FEWEST = 2
_BEGIN = re.compile(r"\W*(?:(?:the|an?) )?", re.IGNORECASE)


@dataclass(frozen=True)
class Places:
    """The sentences and rows of some sources."""

    texts: Sequence[str]

    @cached_property
    def _spans(self) -> list[tuple[int, int, int]]:
        """Which text, and where each sentence or row begins and ends."""
        made: list[tuple[int, int, int]] = []
        for where, text in enumerate(self.texts):
            text = text[:LIMIT]
            rows = rows_of(text)
            for begin, end in Sentences(text).spans():
                header = "|" in text[begin:end] and begin not in rows
                if text[begin:end].strip() and not header:
                    made.append((where, begin, end))
        return made[:_MOST]

    @cached_property
    def _starts(self) -> list[tuple[int, int]]:
        return [(where, begin) for where, begin, _ in self._spans]

    @cached_property
    def _telling(self) -> dict[str, list[int]]:
        """Word -> the places that have it; of words that at most half of them have."""
        held: dict[str, list[int]] = defaultdict(list)
        for k, some in enumerate(self._words):
            for word in some:
                held[word].append(k)
        most = max(1, len(self._spans) // 2)
        return {word: some for word, some in held.items() if len(some) <= most}

    @cached_property
    def _words(self) -> list[Words]:
        return [words(self.texts[where][begin:end]) for where, begin, end in self._spans]

    @cached_property
    def _bare(self) -> frozenset[int]:
        """The places in texts without a word."""
        worded = {span[0] for span, some in zip(self._spans, self._words, strict=True) if some}
        return frozenset(k for k, (where, _, _) in enumerate(self._spans) if where not in worded)

    def _at(self, spot: tuple[int, int]) -> int | None:
        """The place that has a text's position."""
        k = bisect_right(self._starts, spot) - 1
        if k < 0:
            return None
        where, _, end = self._spans[k]
        return k if where == spot[0] and spot[1] < end else None

    def begins_with(self, spot: tuple[int, int]) -> bool:
        """Whether a sentence or row begins with what stands at a position, articles apart."""
        k = self._at(spot)
        if k is None:
            return False
        where, begin, _ = self._spans[k]
        return bool(_BEGIN.fullmatch(self.texts[where], begin, spot[1]))

    def is_elsewhere(self, spots: Iterable[tuple[int, int]], said: Iterable[Words]) -> bool:
        """Whether none of the places that have a value shares a word with what is said of it, while
        another place does.

        `spots`: text and position of the value. `said`: the words of its sentence; then those to go
        by if no place has one of them.
        """
        if len(self._spans) < _FEWEST:
            return False
        holding = {self._at(spot) for spot in spots} - {None}
        if not holding.isdisjoint(self._bare):
            return False  # the result of a tool says its number of nothing else
        for some in said:
            sharing = [k for word in some for k in self._telling.get(word, ())]
            if sharing:
                return bool(holding) and holding.isdisjoint(sharing)
        return False
