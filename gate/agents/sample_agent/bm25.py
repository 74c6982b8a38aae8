"""Ranking of documents by Okapi BM25."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from gate.agents.sample_agent.documents import KnowledgePage
from gate.agents.sample_agent.words import stems

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
