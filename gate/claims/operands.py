"""Which numbers of the sources a sentence names by their labels."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile

from gate.claims.sources import Sources
from gate.numbers import Number

_LABELLED = 400  # numbers of the sources whose labels are read
_REACH = 120  # characters on each side of a number that can be its label
_STOP = re.compile(r"[;\n,.:?!]")
_SENTENCE_STOPS = frozenset(".?!\n")
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
            labels = _labels(self.sources.texts[where], numbers)
            for number, (clause, sentence) in zip(numbers, labels, strict=True):
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


def _labels(text: str, numbers: list[Number]) -> Iterator[tuple[Words, Words]]:
    """Of each number the words of its clause, up to the number before it, and of its sentence."""
    clauses, sentences = stops(text[: numbers[-1].end + _REACH])
    floor = 0
    for number in numbers:
        low, high = max(0, number.start - _REACH), number.end + _REACH
        first, last = _around(sentences, number, low, high)
        begin, end = _around(clauses, number, first, last)
        before = text[max(begin, floor) : number.start]
        if not _WORD.search(before):  # "Revenue: 5"
            before = text[max(first, floor) : number.start]
        clause = _last_clause(before) | _first_clause(text[number.end : end])
        around = content_words(text[first:last])
        yield clause or around, around
        floor = number.end


def stops(text: str) -> tuple[list[int], list[int]]:
    """Where clauses and sentences begin; a comma or a point in a figure ends neither."""
    clauses, sentences = [0], [0]
    for found in _STOP.finditer(text):
        sign, end = found[0], found.end()
        if sign in ";\n" or text[end : end + 1].isspace():
            clauses.append(end)
            if sign in _SENTENCE_STOPS:
                sentences.append(end)
    return clauses, sentences


def _around(stops: list[int], number: Number, low: int, high: int) -> tuple[int, int]:
    """The last stop before the number and the first one after it, within bounds."""
    before = bisect_right(stops, number.start)
    after = bisect_right(stops, number.end)
    return max(low, stops[before - 1]), min(high, stops[after] if after < len(stops) else high)


def _last_clause(text: str) -> Words:
    words: list[str] = []
    joined = False
    for word in _WORD.findall(text):
        if word in _JOINING:
            joined = True
        elif stem := _stem(word):
            words = [stem] if joined else [*words, stem]
            joined = False
    return frozenset(words)


def _first_clause(text: str) -> Words:
    words = takewhile(lambda word: word not in _JOINING, _WORD.findall(text))
    return frozenset(map(_stem, words)) - {""}


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
