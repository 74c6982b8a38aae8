"""Short excerpts of a text, without secrets and personal data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gate.text.sensitive import MASK, SensitiveMatch, find_sensitive, mask_match
from gate.text.shortening import shorten

AROUND = 50  # characters before and after
LIMIT = 160  # characters of an excerpt
_NEAR = 20_000  # characters before and after among which secrets are looked for
# Signs of no width, which would hide a word from a search.
_INVISIBLE = re.compile("[\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")


def strip_invisible(text: str) -> str:
    """The text without invisible characters."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def cut_excerpt(text: str, start: int, end: int) -> str:
    """One line around a place, shortened and masked."""
    offset = max(0, start - _NEAR)
    near = text[offset : end + _NEAR]
    start, end = start - offset, min(end - offset, start - offset + LIMIT)
    matches = find_sensitive(near)
    before = _mask(near, matches, 0, start)[-AROUND:]
    after = _mask(near, matches, end, len(near))[:AROUND]
    return shorten(before + _mask(near, matches, start, end) + after, LIMIT)


def mask_beginning(text: str, limit: int = LIMIT) -> str:
    """The beginning of a text that others chose, in one line, masked."""
    near = text[:_NEAR]
    return shorten(_mask(near, find_sensitive(near), 0, len(near)), limit)


def _mask(text: str, matches: list[SensitiveMatch], start: int, end: int) -> str:
    return "".join(_pieces(text, matches, start, end))


def _pieces(text: str, matches: list[SensitiveMatch], start: int, end: int) -> Iterator[str]:
    """A value that lies only in part between the two ends is masked as a whole."""
    at = start
    for match in matches:
        if match.end <= start or match.start >= end:
            continue
        yield text[at : max(at, match.start)]
        yield mask_match(match) if match.start >= start else MASK
        at = match.end
    yield text[at:end] if at < end else ""
