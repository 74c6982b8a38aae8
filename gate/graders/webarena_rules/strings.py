"""WebArena's comparison of texts."""

from __future__ import annotations

from gate.graders.webarena_rules.tokens import stands_alone


def clean(text: str) -> str:
    """Without white space around, without one pair of equal quotes around, in small letters."""
    text = text.strip()
    for quote in "'\"":
        if text.startswith(quote) and text.endswith(quote):
            return text[1:-1].lower()
    return text.lower()


def same(reference: str, text: str) -> bool:
    return clean(text) == clean(reference)


def includes(reference: str, text: str, *, alone: bool = False) -> bool:
    """Whether the reference is somewhere in the text. `alone`: one of a single character must be
    a word of it.
    """
    wanted, whole = clean(reference), clean(text)
    if alone and len(wanted) == 1 and not wanted.isspace():
        return stands_alone(wanted, whole)
    return wanted in whole
