"""The words of a text as index and planner see them: folded, without stop words, stemmed."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[a-z0-9]+(?:[.,][0-9]+)*")
_IDLE = (
    "a about all also an and any are as at be been before but by can did do does each ever every "
    "for from get give had has have how i if in into is it its just made many may me more most "
    "much must my no not of on or our out over per please say shall should show since so tell "
    "than that the their them then there these they this those to too until up us was we were "
    "what when where which while who whose why will with within would you your"
)
_STOP = frozenset(_IDLE.split())


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
