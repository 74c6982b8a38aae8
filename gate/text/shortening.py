"""Texts made short for a message or a table, where what shows them makes them safe."""

from __future__ import annotations

from gate.text.hidden import cut, drop_hidden
from gate.text.late_pattern import late_pattern

LIMIT = 300  # characters of one piece of text, unless the caller says otherwise
_MOST_BLANKS = 32  # times the limit, of which a text may be blanks

_WHITE = late_pattern(r"(?:\r?\n|[ \t])+")


def shorten(text: str, limit: int | None = LIMIT) -> str:
    """`text` on one line of at most `limit` characters, with every run of blanks, tabs and line
    ends as one blank. Hidden characters stay: whatever shows the line shows them.
    """
    most = None if limit is None else _MOST_BLANKS * limit + 64
    begun = text if most is None or len(text) <= most else text[:most]  # 50 MB need not be read
    line = _fold(begun)
    if len(begun) < len(text) and limit is not None:
        line += "…"  # the redactor finds the beginning of a secret by it
    return line if limit is None else cut(line, limit)


def tidy(text: str, limit: int | None = LIMIT) -> str:
    """`shorten` without what is hidden: for names and words that others wrote and that are compared
    or made into ids.
    """
    if text.isascii() and text.isprintable():
        return shorten(text, limit)
    most = len(text) if limit is None else _MOST_BLANKS * limit + 64
    return shorten(drop_hidden(text[: most + 1]), limit)


def _fold(text: str) -> str:
    if text.isprintable() and text.isascii():
        return " ".join(text.split())
    return _WHITE.sub(" ", text).strip(" ")
