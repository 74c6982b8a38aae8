"""A statement turned into its opposite: words of direction exchanged, negations taken out."""

from __future__ import annotations

import re

from gate.text.late_pattern import late_pattern

# Both ways, but for words with two opposites: the first pair that has the word on its left counts.
_PAIRS = (
    *(("yes", "no"), ("true", "false"), ("correct", "incorrect"), ("at least", "at most")),
    *(("rose", "fell"), ("rise", "fall"), ("rises", "falls"), ("risen", "fallen")),
    *(("rising", "falling"), ("increase", "decrease"), ("increases", "decreases")),
    *(("increased", "decreased"), ("increasing", "decreasing"), ("increase in", "decrease in")),
    *(("grew", "shrank"), ("grow", "shrink"), ("grows", "shrinks"), ("grown", "shrunk")),
    *(("growing", "shrinking"), ("growth", "decline"), ("gained", "lost"), ("gain", "loss")),
    *(("climbed", "dropped"), ("soared", "plunged")),
    *(("went up", "went down"), ("goes up", "goes down"), ("up by", "down by")),
    *(("grew by", "declined by"), ("improved", "worsened"), ("improves", "worsens")),
    *(("upward", "downward"), ("upwards", "downwards"), ("positive", "negative")),
    *(("more", "less"), ("more", "fewer"), ("most", "least"), ("most", "fewest")),
    *(("higher", "lower"), ("highest", "lowest"), ("larger", "smaller"), ("largest", "smallest")),
    *(("bigger", "smaller"), ("biggest", "smallest"), ("greater", "smaller")),
    *(("greatest", "smallest"), ("longer", "shorter"), ("longest", "shortest")),
    *(("faster", "slower"), ("fastest", "slowest"), ("quicker", "slower")),
    *(("quickest", "slowest"), ("earlier", "later"), ("earliest", "latest")),
    *(("better", "worse"), ("best", "worst"), ("cheaper", "dearer"), ("stronger", "weaker")),
    *(("busier", "quieter"), ("older", "newer"), ("oldest", "newest"), ("warmer", "colder")),
    *(("above", "below"), ("over", "under"), ("before", "after"), ("maximum", "minimum")),
    *(("ahead of", "behind"), ("exceeds", "falls short of"), ("exceeded", "fell short of")),
    *(("more than", "less than"), ("more than", "fewer than"), ("more than", "up to")),
    *(("inside", "outside"), ("included", "excluded")),
    *(("includes", "excludes"), ("include", "exclude"), ("always", "never")),
    *(("allowed", "forbidden"), ("accepted", "refused"), ("doubled", "halved")),
)
_OPPOSITE: dict[str, str] = {}
for _left, _right in _PAIRS:
    _OPPOSITE.setdefault(_left, _right)
    _OPPOSITE.setdefault(_right, _left)
_NEGATIONS = {
    "cannot": "can",
    "can't": "can",
    "won't": "will",
    "nothing": "something",
    "nobody": "somebody",
    "no one": "somebody",
    "none": "some",
    "nowhere": "somewhere",
    "neither": "either",
    "nor": "or",
    "not": "",
    "never": "",
    "no longer": "still",
    "no": "a",  # before a noun: "there is no plan"
}
_WORD = late_pattern(
    r"(?<![\w'])(?:"
    + "|".join(
        re.escape(word).replace(r"\ ", r"\s+")
        for word in sorted({*_OPPOSITE, *_NEGATIONS}, key=len, reverse=True)
    )
    + r"|[a-z]{2,7}n't)(?![\w'])",
    re.IGNORECASE,
)
_OPENING = late_pattern(r"\W*(yes|no)\b(?!\s+(?:one|longer|more|less|fewer)\b)", re.IGNORECASE)
_SENTENCE_END = late_pattern(r"(?<=[.!?;])\s+|\n")
_SPACES = late_pattern(r" {2,}")


def turned(text: str) -> str | None:
    """The text with its directions turned: "No, it rose by 5" is "Yes, it fell by 5". In a sentence
    with a negation that alone goes, since without it the words of direction say the opposite.
    None where nothing in it has an opposite. English.
    """
    pieces: list[str] = []
    at = 0
    for end in (*_SENTENCE_END.finditer(text), None):
        stop = end.start() if end else len(text)
        pieces.append(_turned_sentence(text[at:stop]))
        if end:
            pieces.append(end[0])
            at = end.end()
    found = "".join(pieces)
    return found if found != text else None


def _turned_sentence(sentence: str) -> str:
    opening = _OPENING.match(sentence)
    begin = opening.end() if opening else 0
    rest = sentence[begin:]
    words = [found[0] for found in _WORD.finditer(rest)]
    negated = any(_unnegated(word) is not None for word in words)
    head = ""
    if opening:
        head = sentence[: opening.start(1)] + _alike(_OPPOSITE[_plain(opening[1])], opening[1])

    def turn(found: re.Match[str]) -> str:
        word = found[0]
        other = _unnegated(word) if negated else _OPPOSITE.get(_plain(word))
        return word if other is None else _alike(other, word)

    tail = _WORD.sub(turn, rest)
    return head + (_SPACES.sub(" ", tail) if tail != rest else rest)


def _unnegated(word: str) -> str | None:
    plain = _plain(word)
    if plain in _NEGATIONS:
        return _NEGATIONS[plain]
    return plain[:-3] if plain.endswith("n't") else None


def _plain(word: str) -> str:
    return " ".join(word.casefold().split())


def _alike(other: str, word: str) -> str:
    """With a capital where the word has one."""
    if word.isupper() and len(word) > 1:
        return other.upper()
    return other[:1].upper() + other[1:] if word[:1].isupper() else other
