r"""What can stand between the characters of a text without being seen: blanks, line breaks, signs
of no width, and how JSON, HTML, URLs and terminals write them.

Every repetition in a pattern is bounded, so that each is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import AnyStr

from gate.text.late_pattern import late_pattern

_CONTINUATION = bytes(range(0x80, 0xC0))  # every byte of a character but its first
_ONES = bytes(range(0x21)) + b"\x7f\\"  # a backslash too: it escapes in JSON and in Markdown
_ONE = late_pattern(b"[" + re.escape(_ONES) + b"]+")
_FOLDED = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ-_", b"abcdefghijklmnopqrstuvwxyz+/")

# Cc, Cf, Zs, Zl and Zp beyond ASCII, none of which is printable to Python, and what is drawn as
# nothing although it is.
# Pictures of control characters: as the reports show them.
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2400-\u2421\u2800\u3164\ufe00-\ufe0f\uffa0"
_FILLER = late_pattern(f"[{_FILLERS}⟨]")
_WIDE = late_pattern(
    r"(?:␛\[[0-?]{0,40}[ -/]{0,4}[@-~]|⟨(?:U\+[0-9A-F]{4,6}|[A-Z]{2,5})⟩|"
    f"[{_FILLERS}\x80-\xa0\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u1680"
    "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff0-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff])+"
)

# Code points by their number of hexadecimal digits.
_TWO = rb"[01][0-9a-f]|20|7f|[89][0-9a-f]|a[0d]"
_THREE = rb"34f|60[0-5]|61c|6dd|70f"
_FOUR = (
    rb"089[01]|08e2|115f|1160|1680|17b[45]|180[b-f]|200[0-9a-f]|202[89a-f]|205f|206[0-9a-f]|2800"
    rb"|3000|3164|fe0[0-9a-f]|feff|ffa0|fff[0-9ab]"
)
_HEX = rb"0{0,6}(?:" + _TWO + rb"|" + _THREE + rb"|" + _FOUR + rb"|[9ad])"
_UNITS = rb"(?:00(?:" + _TWO + rb")|0(?:" + _THREE + rb")|" + _FOUR + rb")"
_DECIMAL = (
    rb"0{0,6}(?:9|1[03]|32|160|173|847|1564|4447|4448|819[2-9]|820[0-7]|823[2-9]|828[7-9]|829[0-9]"
    rb"|830[0-3]|10240|12288|12644|6502[4-9]|6503[0-9]|65279|65440)"
)
_NAMES = (
    rb"nbsp|shy|zwsp|zwnj|zwj|lrm|rlm|e[nm]sp|numsp|puncsp|thinsp|hairsp|NoBreak|Tab|NewLine"
    rb"|ZeroWidthSpace|(?:NonBreaking|Thin|VeryThin|Medium)Space|Negative[a-z]{4,9}Space"
    rb"|Invisible(?:Comma|Times)|ic|it|af|ApplyFunction"
)
_TAG = rb"/?[a-z][a-z0-9]{0,9} ?/?"
_COLOUR = rb"\[[0-?]{0,40}[ -/]{0,4}[@-~]"
_WRITTEN = {
    mark: late_pattern(pattern, re.IGNORECASE)
    for mark, pattern in {
        ord("\\"): rb"\\(?:[nrtfb]|(?:u001b|x1b|033|e)" + _COLOUR + rb"|u" + _UNITS
        + rb"|u\{" + _HEX + rb"\}|udb4[0-3]\\{1,8}ud[c-f][0-9a-f]{2}|ud834\\{1,8}udd7[3-9a]"
        + rb"|x(?:" + _TWO + rb"))",
        ord("&"): rb"&(?:(?:amp;){0,3}(?:\\?#(?:x" + _HEX + rb"|" + _DECIMAL + rb")|" + _NAMES
        + rb");|lt;" + _TAG + rb"&gt;)",
        ord("<"): rb"<(?:" + _TAG + rb">|!--[^>]{0,40}-->)",
        ord("%"): rb"%(?:[01][0-9a-f]|20|7f|c2%(?:[89][0-9a-f]|a[0d])|e3%80%80|ef%bb%bf"
        + rb"|e2%8(?:0%(?:[89][0-9a-f]|a[89a-f])|1%[9a][0-9a-f]))",
        0x1B: rb"\x1b" + _COLOUR,
    }.items()
}  # fmt: skip


def squeeze(text: str) -> bytes:
    """UTF-8 without separators, in small letters and with the signs of plain base64 for those of
    URLs; about a nanosecond a byte where no separator is written in characters.
    """
    data = narrow_text(text)
    return fold_bytes(drop_written(data) if has_written_separators(text) else data)


def narrow_text(text: str) -> bytes:
    """UTF-8 without the separators beyond ASCII."""
    if not text.isascii() and (not text.isprintable() or _FILLER.search(text)):
        text = _WIDE.sub("", text)
    return _utf8(text)


def drop_written(data: bytes) -> bytes:
    """Without the separators that are written in characters."""
    for mark, pattern in _WRITTEN.items():
        if mark in data:
            data = pattern.sub(b"", data)
    return data


def fold_bytes(data: bytes) -> bytes:
    """Without the separators of one character, in small letters."""
    return data.translate(_FOLDED, _ONES)


def has_written_separators(text: str) -> bool:
    """Whether a separator may be written in characters: those may belong to both a secret and the
    text around it, which is then in `text` and not in `squeeze(text)`.
    """
    # Five searches for a character take less than a loop over them.
    return "\\" in text or "&" in text or "<" in text or "%" in text or "\x1b" in text


def find_places(text: str, indices: Iterable[int], *, written: bool = True) -> dict[int, int]:
    """For each index into `squeeze(text)` the index of the character in `text` that the byte comes
    from.
    """
    wanted = sorted(set(indices))
    narrow, wide = _without(text, _WIDE, "")
    start = data = _utf8(narrow)
    places = []
    for pattern in (*(_WRITTEN.values() if written else ()), _ONE):
        data, gaps = _without(data, pattern, b"")
        places.append(gaps)
    at = wanted
    for gaps in reversed(places):
        at = [gaps.before(index) for index in at]
    return {index: wide.before(n) for index, n in zip(wanted, _characters(start, at), strict=True)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gaps:
    """What was dropped: `after[n]` is the length of the rest before the n-th gap, `dropped[n]` how
    much the gaps up to it held.
    """

    after: list[int]
    dropped: list[int]

    def before(self, index: int) -> int:
        """Where what stands at `index` now stood before."""
        passed = bisect_right(self.after, index)
        return index + (self.dropped[passed - 1] if passed else 0)


def _without(data: AnyStr, pattern: re.Pattern[AnyStr], nothing: AnyStr) -> tuple[AnyStr, _Gaps]:
    after, dropped, total = [], [], 0
    for match in pattern.finditer(data):
        after.append(match.start() - total)
        total += match.end() - match.start()
        dropped.append(total)
    return pattern.sub(nothing, data), _Gaps(after=after, dropped=dropped)


def _characters(data: bytes, indices: Iterable[int]) -> Iterator[int]:
    """Which character each byte belongs to; `indices` ascend."""
    at = count = 0
    for index in indices:
        count += len(data[at : index + 1].translate(None, _CONTINUATION))
        at = max(at, index + 1)
        yield count - 1


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
