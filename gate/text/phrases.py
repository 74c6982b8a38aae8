"""Whether a text mentions a phrase: whole words, in any case, spelling of quotes or layout."""

from __future__ import annotations

import unicodedata

# Scripts that set no spaces between words: a phrase may begin and end anywhere in them.
_UNSPACED = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x2E80, 0xFFFF))
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("*`\u00ad\u200b\u200c\u200d\u2060\ufeff"),  # Markdown, and what is not seen
        **dict.fromkeys("\u2018\u2019\u201a\u02bc", "'"),
        **dict.fromkeys("\u201c\u201d\u201e", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    }
)


def fold_text(text: str) -> str:
    """Unicode NFKC, case folded, quotes and dashes in their plain form, no Markdown emphasis, one
    space for any white space.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.casefold().translate(_SIGNS).split())


def has_phrase(phrase: str, text: str) -> bool:
    """Whether `phrase` stands in `text` as whole words ("12" is not in "2012" or "12.5"); both are
    compared as they are.
    """
    return bool(find_phrase(phrase, text))


def find_phrase(phrase: str, text: str) -> list[int]:
    """Where it does."""
    places = []
    at = text.find(phrase) if phrase else -1
    while at >= 0:
        if _between_words(text, at) and _between_words(text, at + len(phrase)):
            places.append(at)
        at = text.find(phrase, at + 1)
    return places


def _between_words(text: str, at: int) -> bool:
    """Whether a word can begin or end before text[at]."""
    before, after = text[at - 1 : at], text[at : at + 1]
    if before.isalnum() and after.isalnum():
        return _is_unspaced(before) or _is_unspaced(after)
    if after in ("+", "#") and before.isalpha():
        return False  # C is not in "C++"
    if after in (".", ",") and before.isdigit():
        return not text[at + 1 : at + 2].isdigit()
    if before in (".", ",") and after.isdigit():
        return not text[max(0, at - 2) : at - 1].isdigit()
    return True


def _is_unspaced(letter: str) -> bool:
    return any(low <= ord(letter) <= high for low, high in _UNSPACED)
