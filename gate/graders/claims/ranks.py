"""Whether what an answer calls the highest or the lowest is that in its column or list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from gate.graders.claims.labels import Words, words
from gate.graders.claims.mentions import Unknown
from gate.graders.claims.operands import Labels
from gate.graders.claims.sentences import Sentences
from gate.text.late_pattern import late_pattern
from gate.text.numbers.number import Number

RANK = "the sources have higher and lower numbers of this kind"
UNRANKED = "no source says so, and no column shows it"
# The last letter of one: what stands before it is read only there.
_ENDING = late_pattern(r"[tTmM](?!\w)(?:(?<=[aeoAEO][sS].)|(?<=[iI][mM][uU].))")
_SUPERLATIVE = late_pattern(
    r"\b(?:the|its|their|our|whose) (?:by far |absolute )?"
    r"(?P<word>most|least|fewest|maximum|minimum|(?!(?:late|old|new|near|inter|requ|for|gu|t|r|w|e|cont|harv|inv|hon|mod|prot|b)est\b)[a-z]{3,}est)\Z",
    re.IGNORECASE,
)
_LEAD = 14  # characters before the word: "whose absolute"
_FEWEST = 3  # numbers among which a highest and a lowest one mean something
_TOTALS = frozenset(("total", "sum", "all", "overall", "average", "mean"))
_MOST = 20  # superlatives of one answer


@dataclass(frozen=True)
class Ranks:
    """The superlatives of one answer."""

    answer: str
    numbers: Sequence[Number]  # all of the answer
    stating: dict[int, Sequence[int]]  # index -> the numbers of the sources that state it
    labels: Labels

    def list_unsupported(self, sentences: Sentences) -> Iterator[Unknown]:
        """Those that the numbers of the sources contradict or do not show, where the sources have
        columns, and do not say it themselves.
        """
        found = list(islice(_find_superlatives(self.answer), _MOST))
        columns = self._columns() if found else []
        for one in found if columns else ():
            if any(one["word"].lower() in text.lower() for text in self.labels.sources.texts):
                continue
            begin, end = sentences.around(one.start())
            said = words(self.answer[begin:end])
            if why := self._why_not(one.end(), begin, end, said, columns):
                number = Number(value=0.0, text=one[0], start=one.start(), end=one.end())
                yield Unknown(number, why)

    def _columns(self) -> list[list[int]]:
        near = self.labels.sources.labels
        rows = ([k for k in some if not near[k].near & _TOTALS] for some in self.labels.columns)
        return [some for some in rows if len(some) >= _FEWEST]

    def _why_not(
        self, at: int, begin: int, end: int, said: Words, columns: Sequence[Sequence[int]]
    ) -> str:
        inside = [k for k, one in enumerate(self.numbers) if begin <= one.start < end]
        labels = self.labels.sources.labels
        if inside:
            nearest = min(inside, key=lambda k: abs(self.numbers[k].start - at))
            sources = set(self.stating.get(nearest, ()))
            held = [(k, some) for some in columns for k in sources.intersection(some)]
            if held:
                sure = len(inside) == 1 and all(labels[k].series for k, _ in held)
                shown = any(self._is_extreme(k, some) for k, some in held)
                return "" if shown else RANK if sure else UNRANKED
        named = [(k, some) for some in columns for k in some if self._names(k, some, said)]
        shown = any(self._is_extreme(k, some) for k, some in named)
        return UNRANKED if named and not shown else ""

    def _names(self, k: int, column: Sequence[int], said: Words) -> bool:
        """Whether words say which number of the column they speak of."""
        labels = self.labels.sources.labels
        own = labels[k].near.difference(*(labels[j].near for j in column if j != k))
        return bool(own & said)

    def _is_extreme(self, k: int, column: Sequence[int]) -> bool:
        amounts = [self.labels.operands[j].amount for j in column]
        return self.labels.operands[k].amount in (min(amounts), max(amounts))


def _find_superlatives(text: str) -> Iterator[re.Match[str]]:
    for ending in _ENDING.finditer(text):
        begin = text.rfind(" ", 0, ending.start()) - _LEAD
        if found := _SUPERLATIVE.search(text, max(0, begin), ending.end()):
            yield found
