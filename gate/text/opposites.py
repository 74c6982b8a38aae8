"""A statement turned into its opposite: words of direction exchanged, negations taken out. In the
languages of gate/text/opposite_words.py.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

from gate.text.late_pattern import late_pattern
from gate.text.opposite_words import ENGLISH, LANGUAGES, Language

_SENTENCE_END = late_pattern(r"(?<=[.!?;])\s+|\n")
_SPACES = late_pattern(r" {2,}")
_WORDS = late_pattern(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turner:
    """The words of one language, ready to be looked for. `known`: single words by which it is
    recognised.
    """

    opposites: dict[str, str]
    negations: dict[str, str]
    word: re.Pattern[str]
    opening: re.Pattern[str]
    known: frozenset[str]
    elided: re.Pattern[str] | None


def turn_statement(text: str) -> str | None:
    """The text with its directions turned: "No, it rose by 5" is "Yes, it fell by 5". In a sentence
    with a negation that alone goes, since without it the words of direction say the opposite.
    None where nothing in it has an opposite. English, German, French and Spanish, each by the
    words that the text has; English where none is more likely.
    """
    turner = _turner(_language_of(text))
    pieces: list[str] = []
    at = 0
    for end in (*_SENTENCE_END.finditer(text), None):
        stop = end.start() if end else len(text)
        pieces.append(_turn_sentence(text[at:stop], turner))
        if end:
            pieces.append(end[0])
            at = end.end()
    statement = "".join(pieces)
    return statement if statement != text else None


def _language_of(text: str) -> Language:
    """The one that most words of the text belong to."""
    words = Counter(found[0].lower() for found in _WORDS.finditer(text))

    def score(language: Language) -> int:
        return sum(words[word] for word in words.keys() & _turner(language).known)

    return max(LANGUAGES, key=score)


@cache
def _turner(language: Language) -> _Turner:
    opposites: dict[str, str] = {}
    for left, right in language.pairs:
        opposites.setdefault(left, right)
        opposites.setdefault(right, left)
    listed = sorted({*opposites, *language.negations}, key=len, reverse=True)
    words = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in listed)
    if language is ENGLISH:
        words += "|[a-z]{2,7}n't"
    # French hangs "qu'" and the like before a word with an apostrophe; English ends one with it.
    before = r"(?<!\w)" if language.elided else r"(?<![\w'])"
    after = r"(?=\s*(?:[,.;:!]|$))" if language.pausing else r"\b"
    refused = f"(?!{language.not_opening})" if language.not_opening else ""
    single = {word for word in listed if " " not in word}
    return _Turner(
        opposites=opposites,
        negations=dict(language.negations),
        word=re.compile(rf"{before}(?:{words})(?![\w'])", re.IGNORECASE),
        opening=re.compile(rf"\W*({'|'.join(language.yes_no)}){after}{refused}", re.IGNORECASE),
        known=language.common | single | frozenset(language.yes_no),
        elided=re.compile(rf"(?<!\w){language.elided}", re.I) if language.elided else None,
    )


def _turn_sentence(sentence: str, turner: _Turner) -> str:
    opening = turner.opening.match(sentence)
    begin = opening.end() if opening else 0
    rest = sentence[begin:]
    words = [match[0] for match in turner.word.finditer(rest)]
    elided = turner.elided is not None and turner.elided.search(rest) is not None
    negated = elided or any(_drop_negation(word, turner) is not None for word in words)
    head = ""
    if opening:
        head = sentence[: opening.start(1)] + _alike(
            turner.opposites[_plain(opening[1])], opening[1]
        )

    def turn(match: re.Match[str]) -> str:
        word = match[0]
        other = _drop_negation(word, turner) if negated else turner.opposites.get(_plain(word))
        return word if other is None else _alike(other, word)

    tail = turner.word.sub(turn, rest)
    if negated and turner.elided is not None:
        tail = turner.elided.sub("", tail)
    return head + (_SPACES.sub(" ", tail) if tail != rest else rest)


def _drop_negation(word: str, turner: _Turner) -> str | None:
    plain = _plain(word)
    if plain in turner.negations:
        return turner.negations[plain]
    return plain[:-3] if plain.endswith("n't") else None


def _plain(word: str) -> str:
    return " ".join(word.lower().split())


def _alike(other: str, word: str) -> str:
    """With a capital where the word has one."""
    if word.isupper() and len(word) > 1:
        return other.upper()
    return other[:1].upper() + other[1:] if word[:1].isupper() else other
