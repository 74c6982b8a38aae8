"""Which numbers of the sources a sentence names by their labels."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from gate.claims.sources import Sources
from gate.numbers import Number

_LABELLED = 400  # numbers of the sources whose labels are read
_BEYOND = 200  # characters after the last number that are read
_REACH = 20  # words on each side of a number that can be its label
_CLAUSE = re.compile(r"[;\n,.:?!](?=\s)|[;\n]")
_JOINING = frozenset(
    ("and", "but", "while", "whereas", "versus", "vs", "against", "compared")
)  # they begin a clause
_SENTENCE = re.compile(r"[.?!](?=\s)|\n")
_WORD = re.compile(r"\b(?:[^\W\d_]\w*|(?:19|20)\d\d)\b")
_SMALL_WORDS = (
    "a an the of in on at to for from by with as is was are were be been it its this that these"
    " those and or but if than then so such what which who how much many did do does has have had"
    " there their our we you they he she i not no more less all any each per into over"
    " under"
)
_STOPWORDS = frozenset(_SMALL_WORDS.split())
_CONTEXT_WEIGHT = 0.25  # of a word that stands in the sentence, but not in the number's own clause

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
    def _holders(self) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
        """Word -> numbers that have it in their clause, and in their sentence."""
        own, around = defaultdict(list), defaultdict(list)
        texts: dict[int, list[Number]] = defaultdict(list)
        for where, number in self.sources.found[:_LABELLED]:
            if not number.maybe_date:
                texts[where].append(number)
        once = set()  # a table and the sentence on it name the same operand
        i = 0
        for where, numbers in texts.items():
            lines = Lines(self.sources.texts[where][: numbers[-1].end + _BEYOND])
            for number, (clause, sentence) in zip(numbers, lines.labels(numbers), strict=True):
                if (key := (number.value, number.unit, clause)) not in once:
                    once.add(key)
                    for word in clause:
                        own[word].append(i)
                    for word in sentence:
                        around[word].append(i)
                i += 1
        return own, around

    def named_by(self, words: Words, *, like: Number | None = None) -> list[Number]:
        """The numbers whose labels share most of the words: all that share as many; where that is
        one only, also the next best ones. `like`: only those with its unit.
        """
        own, around = self._holders
        shared = Counter(i for word in words for i in own.get(word, ()))
        near = Counter(i for word in words for i in around.get(word, ()))
        ranked: dict[float, list[Number]] = defaultdict(list)
        for i in sorted(shared):
            if like is None or self._numbers[i].unit == like.unit:
                score = shared[i] + _CONTEXT_WEIGHT * (near[i] - shared[i])
                ranked[score].append(self._numbers[i])
        named: list[Number] = []
        for score in sorted(ranked, reverse=True)[:2]:
            if len(named) < 2:
                named += ranked[score]
        return named


@dataclass(frozen=True)
class Lines:
    """A text, cut once into words, clauses and sentences."""

    text: str

    def labels(self, numbers: list[Number]) -> Iterator[tuple[Words, Words]]:
        starts, words = [], []
        clauses = [found.end() for found in _CLAUSE.finditer(self.text)]
        for found in _WORD.finditer(self.text):
            if word := _stem(found[0]):
                starts.append(found.start())
                words.append(word)
            elif found[0] in _JOINING:
                clauses.append(found.start())
        clauses.sort()
        sentences = [found.end() for found in _SENTENCE.finditer(self.text)]
        floor = 0
        for number in numbers:
            first, last = _around(sentences, number, len(self.text))
            low, high = bisect_left(starts, first), bisect_left(starts, last)
            at, after = bisect_left(starts, number.start), bisect_left(starts, number.end)
            low, high = max(low, at - _REACH), min(high, after + _REACH)
            begin = low
            if at > low:  # the clause of the last word before the number
                k = bisect_left(clauses, starts[at - 1] + 1)
                own = clauses[k - 1] if k else 0
                begin = max(low, bisect_left(starts, max(own, floor)))
            end = min(high, bisect_left(starts, _around(clauses, number, len(self.text))[1]))
            clause = frozenset((*words[begin:at], *words[after:end]))
            around = frozenset((*words[low:at], *words[after:high]))
            yield clause or around, around
            floor = number.end


def _around(stops: list[int], number: Number, length: int) -> tuple[int, int]:
    """The last stop before the number and the first one after it."""
    k = bisect_left(stops, number.start + 1)
    after = bisect_left(stops, number.end + 1)
    return stops[k - 1] if k else 0, stops[after] if after < len(stops) else length


@lru_cache(maxsize=256)  # the claims of one sentence, in a text that is graded again
def content_words(text: str) -> Words:
    """Words that can tell one number from another, without case and plural."""
    return frozenset(map(_stem, _WORD.findall(text))) - {""}


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    """Without case and plural; empty for a word that tells nothing."""
    plain = word.casefold()
    if plain in _STOPWORDS or plain in _JOINING:
        return ""
    return plain[:-1] if len(plain) > 3 and plain[-1] == "s" else plain
