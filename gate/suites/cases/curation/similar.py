"""Finds questions with the same words, whatever their case, punctuation and layout."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gate.text.phrases import fold_text

ALIKE = 0.8  # Jaccard similarity of the sets of words, from which two questions are near doubles
_WORD = re.compile(r"\w+(?:[.,]\d+)*")
_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_CHANGING = re.compile(rf"\b(?:{_MONTHS}|q[1-4]|h[12])\b|\d[\d.,:/-]*")


@dataclass(slots=True)
class Known:
    """The known questions, by their words; new ones are added."""

    _words: dict[str, frozenset[str]] = field(default_factory=dict)  # id -> words
    _with: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, name: str, text: str) -> None:
        words = _words_of(text)
        self._words[name] = words
        for word in words:
            self._with[word].append(name)

    def nearest(self, text: str) -> tuple[str, float] | None:
        """The most similar question and its similarity, 1 for the same words; None if no word is
        shared.
        """
        words = _words_of(text)
        shared = Counter(name for word in words for name in self._with.get(word, ()))
        similarities = ((n / len(words | self._words[name]), name) for name, n in shared.items())
        similarity, name = max(similarities, default=(0.0, ""), key=lambda one: (one[0], one[1]))
        return (name, similarity) if name else None


def find_doubles(questions: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, float]]:
    """Near duplicates among (id, text): the later one, its most similar earlier one, and the
    similarity.
    """
    known = Known()
    for name, text in questions:
        nearest = known.nearest(text)
        if nearest is not None and nearest[1] >= ALIKE:
            yield name, nearest[0], nearest[1]
        known.add(name, text)


def mask_wording(text: str) -> str:
    """The wording without what changes from case to case: numbers, dates, names of months."""
    return _CHANGING.sub("#", fold_text(text))


def _words_of(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(fold_text(text)))
