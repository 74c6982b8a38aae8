"""Letters and signs of ASCII written in another way: escaped as JSON, Python, URLs and HTML do it,
or as the letters of full width, in circles and in mathematical alphabets that Unicode has.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Set
from dataclasses import dataclass
from html.entities import html5

from gate.text.late_pattern import late_pattern

# Every repetition is bounded, so that each pattern is linear in the text; each begins with a sign
# of its own, for which `re` looks quickly.
_BACKSLASH = late_pattern(
    r"\\\\{0,8}(?:u(?P<pair>[dD]83[0-9a-fA-F]\\{1,9}u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,8})\}|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2}))"
)
_PERCENT = late_pattern(r"%([2-7][0-9a-fA-F])")
_ENTITY = late_pattern(
    r"&(?:amp;){0,8}(?:#[xX]0{0,6}([0-9a-fA-F]{2,6});?|#0{0,6}(?P<decimal>[0-9]{2,7});?"
    r"|(?P<name>[A-Za-z]{2,12});)"
)
# Another one than those that stand all over HTML and Markdown: for these no text is read again.
_UNUSUAL = late_pattern(
    r"&(?!(?:quot|lt|gt|#3[49]|#[xX]2[27]|#8203);|amp;(?!amp;|#))(?:amp;|#|[A-Za-z]{2,12};)"
)
_ALIKE = late_pattern("[\uff01-\uff5e\U0001d400-\U0001d7ff]")
_NAMED = {
    name.rstrip(";"): sign for name, sign in html5.items() if len(sign) == 1 and "!" <= sign <= "~"
}
_Spelled = tuple[int, int, str]  # where it begins and ends, and what it stands for


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainSpelling:
    """A text with plain letters and signs, and where each of its characters was."""

    text: str
    _signs: list[int]  # where what was spelled stands now
    _were: list[_Spelled]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where in the text before the characters from `start` to before `end` were."""
        return self._was(start)[0], self._was(end - 1)[1]

    def _was(self, index: int) -> tuple[int, int]:
        before = bisect_right(self._signs, index) - 1
        if before < 0:
            return index, index + 1
        start, end, _ = self._were[before]
        if self._signs[before] == index:
            return start, end
        at = end + index - self._signs[before] - 1
        return at, at + 1


def undo_spellings(text: str, data: bytes, wanted: Set[str]) -> PlainSpelling | None:
    """`text`, whose UTF-8 is `data`, without other spellings; None where it has none of the signs
    that are `wanted`.
    """
    spellings = [one for one in _find_spellings(text, data) if one[2]]
    if wanted.isdisjoint(sign for _, _, sign in spellings):
        return None
    spellings.sort()
    pieces: list[str] = []
    signs: list[int] = []
    end = length = 0
    for start, stop, sign in spellings:
        length += start - end
        signs.append(length)
        pieces += (text[end:start], sign)
        length, end = length + 1, stop
    return PlainSpelling(text="".join((*pieces, text[end:])), _signs=signs, _were=spellings)


def _find_spellings(text: str, data: bytes) -> Iterator[_Spelled]:
    """No two overlap: each begins with another sign, which the others cannot hold."""
    if b"\\u" in data or b"\\x" in data or b"\\U" in data:
        yield from ((*found.span(), _decode_spelling(found)) for found in _BACKSLASH.finditer(text))
    if "%" in text:
        yield from ((*found.span(), _decode_spelling(found)) for found in _PERCENT.finditer(text))
    if "&" in text and _UNUSUAL.search(text):
        yield from ((*found.span(), _decode_spelling(found)) for found in _ENTITY.finditer(text))
    if not text.isascii() and (b"\xef" in data or b"\xf0\x9d" in data):
        yield from ((*found.span(), _plain(found[0])) for found in _ALIKE.finditer(text))


def _decode_spelling(match: re.Match[str]) -> str:
    written = match[match.lastindex or 0]
    if match.lastgroup == "name":
        return "" if written == "amp" else _NAMED.get(written, "")
    if match.lastgroup == "pair":
        high, low = int(written[:4], 16), int(written[-4:], 16)
        return _sign(0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00)
    return _sign(int(written, 10 if match.lastgroup == "decimal" else 16))


def _sign(point: int) -> str:
    return _plain(chr(point)) if 0x20 < point <= 0x10FFFF else ""


def _plain(sign: str) -> str:
    """The one sign of ASCII that Unicode takes it for; empty where there is none."""
    if not sign.isascii():
        sign = unicodedata.normalize("NFKC", sign)
    return sign if len(sign) == 1 and "!" <= sign <= "~" else ""
