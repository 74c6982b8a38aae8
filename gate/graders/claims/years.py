"""Years of an answer that no source has, or that the sources say of something else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from gate.graders.claims.labels import Words, words
from gate.graders.claims.sentences import Sentences
from gate.text.numbers.number import Number

# A pattern that begins with one of a few signs is found three times as fast.
YEAR = re.compile(r"[12](?<![\d.,].)(?:(?<=1)9|(?<=2)0)\d\d(?!\d|[.,]\d)")
NO_YEAR = "no source has this year"
OTHER_YEAR = "the sources say another year of this"
_FEW = 2  # words beside a year that tell nothing
_BEFORE = re.compile(r"[,;]\s|\band\b")
_AFTER = re.compile(r"[,;.]\s|\band\b|\.?\Z")


@dataclass(frozen=True)
class Years:
    """The years of some sources and of the question."""

    texts: Sequence[str]
    question: str

    def why_not(self, answer: str, number: Number, begin: int, end: int) -> str:
        """What speaks against a year of the answer, whose sentence has that begin and end; empty
        where nothing does, the number is no year, or the sources have none.
        """
        if not YEAR.fullmatch(number.text) or not self._known:
            return ""
        if number.text not in self._known:
            return NO_YEAR
        return OTHER_YEAR if self._is_of_another(answer, number, begin, end) else ""

    @cached_property
    def _known(self) -> frozenset[str]:
        told = {year for text in self.texts for year in YEAR.findall(text)}
        return frozenset((*told, *YEAR.findall(self.question))) if told else frozenset()

    def _is_of_another(self, answer: str, number: Number, begin: int, end: int) -> bool:
        """ "The roof was renewed in 2016", which the sources say of 2009."""
        mine = words(_clause(answer, number.start, number.end, begin, end))
        same = [told for year, told in self._clauses if year == number.text]
        if not same or any(mine & told - {number.text} or len(told) <= _FEW for told in same):
            return False
        return any(len(mine & told) >= _FEW for year, told in self._clauses if year != number.text)

    @cached_property
    def _clauses(self) -> list[tuple[str, Words]]:
        """Each year of the sources, with the words of its clause."""
        made = []
        for text in self.texts:
            sentences = Sentences(text)
            for found in YEAR.finditer(text):
                begin, end = sentences.around(found.start())
                made.append((found[0], words(_clause(text, *found.span(), begin, end))))
        return made


def _clause(text: str, start: int, end: int, low: int, high: int) -> str:
    """What stands between commas around a place of a sentence."""
    before = _BEFORE.split(text[low:start])[-1]
    return f"{before} {_AFTER.split(text[end:high])[0]}"
