"""Answers out of documents: the sentences of the retrieved pages that fit the question best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gate.agents.sample_agent.bm25 import Hit, Index, plain, stems
from gate.agents.sample_agent.documents import KnowledgePage
from gate.text.late_pattern import late_pattern

_WANTS_NUMBER = late_pattern(
    r"\b(how (?:many|much|long|often|far|large|big|soon|late|old)"
    r"|what (?:percentage|share|price|fee)|within what|limit|maximum|minimum|costs?|price)\b"
)
_TITLE_WEIGHT = 0.5
_NUMBER_BONUS = 0.15
_RANK_BONUS = 0.25
_SECOND = 0.7  # a second sentence is added from this part of the best score on
_KNOWN = 0.5  # share of the question's weight that a page must cover, else "not covered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    page: KnowledgePage
    sentence: str
    score: float


def extract(
    question: str, hits: Sequence[Hit], index: Index, *, known_share: float = _KNOWN
) -> tuple[Extract, ...]:
    """One or two sentences in the order of their page; empty when no page covers `known_share`
    of the question's weight.

    A sentence's score is the idf of the question's words in it, of those in its title at half
    weight, and small bonuses for the page's rank and for a figure when one is asked for, all as
    shares of the question's whole idf.
    """
    words = set(stems(question))
    total_weight = sum(sorted(index.idf(word) for word in words))
    if not total_weight or all(
        _covered_weight(words, hit.page, index) < known_share * total_weight for hit in hits
    ):
        return ()
    wants_number = bool(_WANTS_NUMBER.search(plain(question)))
    extracts = []
    for hit in hits:
        title = set(stems(hit.page.title))
        for sentence in hit.page.sentences():
            inside = words & set(stems(sentence))
            score = _weight(inside, index) + _TITLE_WEIGHT * _weight(words & title - inside, index)
            score = score / total_weight + _RANK_BONUS * hit.score / hits[0].score
            score += _NUMBER_BONUS * (wants_number and any(c.isdigit() for c in sentence))
            extracts.append(Extract(page=hit.page, sentence=sentence, score=score))
    return _best(extracts)


def _best(extracts: list[Extract]) -> tuple[Extract, ...]:
    ranked = sorted(extracts, key=lambda e: -e.score)  # stable: rank, then place in the page
    best = ranked[0]
    same_page = [e for e in ranked[1:] if e.page is best.page and e.score >= _SECOND * best.score]
    chosen = {best.sentence, *(e.sentence for e in same_page[:1])}
    return tuple(e for e in extracts if e.page is best.page and e.sentence in chosen)


def _covered_weight(words: set[str], page: KnowledgePage, index: Index) -> float:
    return _weight(words & set(stems(f"{page.title} {page.text}")), index)


def _weight(words: set[str], index: Index) -> float:
    return sum(sorted(index.idf(word) for word in words))  # sorted: the sum depends on the order
