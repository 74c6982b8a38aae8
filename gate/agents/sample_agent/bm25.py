"""Ranking of documents by Okapi BM25."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from gate.agents.sample_agent.documents import KnowledgePage

_WORD = re.compile(r"[a-z0-9]+(?:[.,][0-9]+)*")
_IDLE = (
    "a about all also an and any are as at be been before but by can did do does each ever every "
    "for from get give had has have how i if in into is it its just made many may me more most "
    "much must my no not of on or our out over per please say shall should show since so tell "
    "than that the their them then there these they this those to too until up us was we were "
    "what when where which while who whose why will with within would you your"
)
_STOP = frozenset(_IDLE.split())

K1 = 1.2  # how fast repeating a word stops to count
B = 0.75  # how much a long document is held back


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    page: KnowledgePage
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """Word counts of every page (title words twice, as they name the subject) and their lengths."""

    pages: tuple[KnowledgePage, ...]
    counts: tuple[Mapping[str, int], ...]
    lengths: tuple[int, ...]
    mean_length: float
    pages_with: Mapping[str, int]

    def idf(self, word: str) -> float:
        """ln(1 + (N - n + 0.5) / (n + 0.5)), n of N pages holding the word; never negative."""
        n = self.pages_with.get(word, 0)
        return math.log(1 + (len(self.pages) - n + 0.5) / (n + 0.5))

    def search(self, query: str, *, top_k: int, skip: int = 0) -> tuple[Hit, ...]:
        """The best `top_k` pages after the first `skip`, equal scores by id; score 0 is no hit.

        score(d) = sum over the query's words of idf * f (K1 + 1) / (f + K1 (1 - B + B |d| / mean))
        with f the count of the word in d (Robertson and Zaragoza 2009, section 3.2).
        """
        words = set(stems(query))
        hits = [Hit(page=page, score=self._score(i, words)) for i, page in enumerate(self.pages)]
        ranked = sorted((h for h in hits if h.score > 0), key=lambda h: (-h.score, h.page.id))
        return tuple(ranked[skip : skip + top_k])

    def _score(self, position: int, words: set[str]) -> float:
        counts = self.counts[position]
        damping = K1 * (1 - B + B * self.lengths[position] / self.mean_length)
        shared = sorted(words & counts.keys())  # a fixed order: the sum of floats depends on it
        return sum(self.idf(w) * counts[w] * (K1 + 1) / (counts[w] + damping) for w in shared)


def build_index(pages: tuple[KnowledgePage, ...]) -> Index:
    """An index over the pages; `pages` must not be empty."""
    counts = tuple(Counter(stems(f"{page.title} {page.title} {page.text}")) for page in pages)
    lengths = tuple(count.total() for count in counts)
    return Index(
        pages=pages,
        counts=counts,
        lengths=lengths,
        mean_length=sum(lengths) / len(lengths),
        pages_with=Counter(word for count in counts for word in count),
    )


def plain(text: str) -> str:
    """Compatibility characters unified (NFKC), case folded, white space single."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def stems(text: str) -> tuple[str, ...]:
    """Stems of the words that carry meaning, in their order."""
    return tuple(stem(word) for word in _WORD.findall(plain(text)) if word not in _STOP)


def stem(word: str) -> str:
    """A light English stem: plural, -ing, -ed, a doubled consonant and a final e are cut off."""
    if len(word) <= 3 or any(letter.isdigit() for letter in word):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word
