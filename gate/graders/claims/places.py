"""Whether a value stands in the sources where the answer speaks of it: in the sentence or the row
that its own sentence takes its words from.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from gate.graders.claims.labels import Row, Words, rows_of, words
from gate.graders.claims.sentences import Sentences
from gate.text.numbers.number import LIMIT

ELSEWHERE = "the sources have it in another connection"
_MOST = 400  # sentences and rows
_FEWEST = 2
_MORE = 2  # words by which another place has to be nearer
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]{3,}")
_SIGN = re.compile(r"[^\W\d_]|\d{3}|\d\D+\d")  # "1." before an item is no place
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
            text, rows = text[:LIMIT], self._rows[where]
            for begin, end in Sentences(text).spans():
                header = "|" in text[begin:end] and begin not in rows
                if _SIGN.search(text, begin, end) and not header:
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
        """Of a row those of its header too."""
        made = []
        for where, begin, end in self._spans:
            own, row = words(self.texts[where][begin:end]), self._rows[where].get(begin)
            made.append(own | words(" ".join(row.header)) if row else own)
        return made

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
        """Whether a sentence or row begins with what stands at a position, figures apart."""
        k = self._at(spot)
        return k is not None and not _LETTER.search(self.texts[spot[0]], self._spans[k][1], spot[1])

    def is_subject(self, spot: tuple[int, int]) -> bool:
        """Whether a sentence begins with what stands at a position, articles apart, or it is in the
        first cell of its row that has a word.
        """
        k = self._at(spot)
        if k is None:
            return False
        where, begin, _ = self._spans[k]
        text = self.texts[where]
        if row := self._rows[where].get(begin):
            earlier, _, _ = text[begin : spot[1]].rpartition(row.sign)
            return not _WORD.search(earlier)
        return bool(_BEGIN.fullmatch(text, begin, spot[1]))

    @cached_property
    def _rows(self) -> list[Mapping[int, Row]]:
        return [rows_of(text[:LIMIT]) for text in self.texts]

    def is_elsewhere(
        self,
        spots: Iterable[tuple[int, int]],
        said: Iterable[Words],
        others: Iterable[tuple[int, int]] = (),
    ) -> bool:
        """Whether a sentence speaks of another place than those that have its value: none of these
        shares a word with it, or a place with another value of the kind shares all those words and
        more.

        `spots`: text and position of the value. `said`: the words of the sentence; then those of
        the question and of the sentence before, too. They count if no place has one of the first,
        and a place of the value that has one of them is never wrong for having none of the first.
        `others`: positions of other values of the kind.
        """
        if len(self._spans) < _FEWEST:
            return False
        holding = {k for spot in spots if (k := self._at(spot)) is not None}
        if not holding.isdisjoint(self._bare):
            return False  # the result of a tool says its number of nothing else
        said = list(said)
        for some in said:
            shared: dict[int, set[str]] = defaultdict(set)
            for word in some:
                for k in self._telling.get(word, ()):
                    shared[k].add(word)
            if shared:
                if holding.isdisjoint(shared) and self._has_any(holding, said[-1]):
                    return False
                if not holding or holding.isdisjoint(shared):
                    return bool(holding)  # no place that has the value shares a word
                nearer = _list_nearer(holding, shared)
                return bool(nearer) and any(self._at(spot) in nearer for spot in others)
        return False

    def _has_any(self, places: Set[int], some: Words) -> bool:
        return any(not places.isdisjoint(self._telling.get(word, ())) for word in some)


def _list_nearer(holding: Set[int], shared: Mapping[int, Set[str]]) -> Set[int]:
    """The other places that share all words that the places of the value share, and more."""
    held = [shared.get(k, frozenset()) for k in holding]
    most = max(map(len, held)) + _MORE
    return {
        k
        for k, some in shared.items()
        if len(some) >= most and k not in holding and all(one < some for one in held)
    }
