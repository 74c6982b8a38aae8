"""What of a text may be shown: a short piece of it, without secrets and personal data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gate.text.escaping import one_line
from gate.text.sensitive import MASK, SensitiveMatch, find_sensitive, mask_match

AROUND = 50  # characters before and after
LIMIT = 160  # characters of an excerpt
_NEAR = 20_000  # characters before and after among which secrets are looked for
# Signs of no width, which would hide a word from a search.
_INVISIBLE = re.compile("[\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")


def visible(text: str) -> str:
    """Without signs that nobody sees."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def excerpt(text: str, start: int, end: int) -> str:
    """One line around a place, cut and masked."""
    offset = max(0, start - _NEAR)
    near = text[offset : end + _NEAR]
    start, end = start - offset, min(end - offset, start - offset + LIMIT)
    found = find_sensitive(near)
    before = _cleared(near, found, 0, start)[-AROUND:]
    after = _cleared(near, found, end, len(near))[:AROUND]
    return one_line(before + _cleared(near, found, start, end) + after, LIMIT)


def cleared(text: str, limit: int = LIMIT) -> str:
    """The beginning of a text, one line, masked: names and keys that others chose."""
    near = text[:_NEAR]
    return one_line(_cleared(near, find_sensitive(near), 0, len(near)), limit)


def _cleared(text: str, found: list[SensitiveMatch], start: int, end: int) -> str:
    return "".join(_pieces(text, found, start, end))


def _pieces(text: str, found: list[SensitiveMatch], start: int, end: int) -> Iterator[str]:
    """A value that lies only in part between the two ends is masked as a whole."""
    at = start
    for one in found:
        if one.end <= start or one.start >= end:
            continue
        yield text[at : max(at, one.start)]
        yield mask_match(one) if one.start >= start else MASK
        at = one.end
    yield text[at:end] if at < end else ""
