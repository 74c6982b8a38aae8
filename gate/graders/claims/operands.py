"""Which numbers of the sources a sentence names by their labels."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from gate.graders.claims.sources import Sources
from gate.text.numbers.number import Number

_LABELLED = 400  # numbers of the sources whose labels are read
_REACH = 120  # characters on each side of a number that can be its label
_STOP = re.compile(r"[.?!\n]")
_STOPS = ";,.:?!"
_JOINING = frozenset(  # they begin a clause
    ("and", "but", "while", "whereas", "versus", "vs", "against", "compared")
)
_WORD = re.compile(r"[^\W\d_]\w*|\b(?:19|20)\d\d\b")
_SMALL_WORDS = (
    "a an the of in on at to for from by with as is was are were be been it its this that these"
    " those and or but if than then so such what which who how much many did do does has have had"
    " there their our we you they he she i not no more less all any each per into over"
    " under"
)
_STOPWORDS = frozenset(_SMALL_WORDS.split())

Words = frozenset[str]


@dataclass(frozen=True)
class Labels:
    """The words around each number of the sources."""

    sources: Sources

    @cached_property
    def _numbers(self) -> list[Number]:
        """Those that have labels; a year is a word of other labels."""
        return [one for _, one in self.sources.found[:_LABELLED] if not one.maybe_date]

    @cached_property
    def _holders(self) -> dict[str, list[int]]:
        """Word -> numbers that have it in their label."""
        texts: dict[int, list[Number]] = defaultdict(list)
        for where, number in self.sources.found[:_LABELLED]:
            if not number.maybe_date:
                texts[where].append(number)
        holders: dict[str, list[int]] = defaultdict(list)
        once = set()  # a table and the sentence on it name the same operand
        labels = (
            pair
            for where, some in texts.items()
            for pair in _labels(self.sources.texts[where], some)
        )
        for i, (number, words) in enumerate(labels):
            if (key := (number.value, number.unit, words)) not in once:
                once.add(key)
                for word in words:
                    holders[word].append(i)
        return holders

    def named_by(self, words: Words, *, like: Number | None = None) -> list[Number]:
        """The numbers whose labels share most of the words: all that share as many; where that is
        one only, also the next best ones. `like`: only those with its unit.
        """
        shared = Counter(i for word in words for i in self._holders.get(word, ()))
        ranked: dict[int, list[Number]] = defaultdict(list)
        for i in sorted(shared):
            if like is None or self._numbers[i].unit == like.unit:
                ranked[shared[i]].append(self._numbers[i])
        named: list[Number] = []
        for score in sorted(ranked, reverse=True)[:2]:
            if len(named) < 2:
                named += ranked[score]
        return named


def _labels(text: str, numbers: list[Number]) -> Iterator[tuple[Number, Words]]:
    """Each number with the words of its clause; where that has none ("| North | 300 | 120 |"), with
    those of the number before it.
    """
    ends = [*(one.start for one in numbers[1:]), numbers[-1].end + _REACH]
    before = _clauses(text[max(0, numbers[0].start - _REACH) : numbers[0].start])
    words: Words = frozenset()
    for number, end in zip(numbers, ends, strict=True):
        between = _clauses(text[number.end : min(end, number.end + _REACH)])
        if end - number.end > _REACH:
            after, upcoming = between[0], _clauses(text[max(number.end, end - _REACH) : end])
        else:
            after, upcoming = between[0], between
        words = frozenset((*_nearest(before), *after)) or words
        yield number, words
        before = upcoming if len(upcoming) > 1 else [[]]


def _nearest(clauses: list[list[str]]) -> list[str]:
    """The last clause with a word: "Revenue: 5"."""
    return next((words for words in reversed(clauses) if words), [])


def _clauses(text: str) -> list[list[str]]:
    """The words of each clause, in order."""
    clauses: list[list[str]] = [[]]
    for piece in text.replace("\n", " ; ").split():
        if piece in _JOINING:
            clauses.append([])
        else:
            words, ends = _words(piece)
            clauses[-1] += words
            if ends:
                clauses.append([])
    return clauses


def stops(text: str) -> list[int]:
    """Where sentences begin; a point in a figure ends none."""
    found = (one.end() for one in _STOP.finditer(text))
    return [0, *(end for end in found if text[end - 1] == "\n" or text[end : end + 1].isspace())]


def content_words(text: str) -> Words:
    """Words that can tell one number from another, without case and plural."""
    return frozenset(word for piece in text.split() for word in _words(piece)[0])


@lru_cache(maxsize=8192)
def _words(piece: str) -> tuple[tuple[str, ...], bool]:
    """The words in what stands between two spaces, without those that tell nothing; and whether a
    clause ends after it.
    """
    plain = (word.casefold() for word in _WORD.findall(piece))
    words = (word[:-1] if len(word) > 3 and word[-1] == "s" else word for word in plain)
    kept = (word for word in words if word not in _STOPWORDS and word not in _JOINING)
    return tuple(kept), piece[-1] in _STOPS
