"""Characters that nobody sees, that only look like others, or that move what stands around them:
each has a visible sign, so that two texts that differ never look alike.

Which characters they are is told by Unicode's categories and names, not by a list that ages:

- controls: their pictures, `␛` for escape, `␍` for a carriage return;
- formats (zero width, direction), white space other than blank, tab and line feed, private and
  unassigned code points, halves of a pair, fillers, variation selectors, tags: `⟨U+202E⟩`,
  the usual ones by their short names: `⟨ZWSP⟩`, `⟨NBSP⟩`;
- accents beyond the third on one letter, which would cover the lines around it: `⟨U+0301⟩`;
- this notation itself where a text has it: `⟨U+241B⟩` for `␛`, `⟨U+27E8⟩ZWSP⟩` for `⟨ZWSP⟩`.

What writing needs stays: joiners in emoji and in words of Arabic and Indic scripts, selectors and
tags of emoji, accents, wide spaces beside wide letters. Letters that look alike (Latin and
Cyrillic a, é in one and in two characters) are no hidden characters and stay as well.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from gate.text.late_pattern import late_pattern

# Whole texts of Latin letters and usual punctuation, which are shown as they are.
_LATIN = late_pattern("[\t\n\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e]*")
PICTURES = {**{code: chr(0x2400 + code) for code in range(0x20)}, 0x7F: "\u2421"}
_PICTURED = {code: sign for code, sign in PICTURES.items() if chr(code) not in "\t\n"}
_NAMES = {
    "\u00a0": "NBSP",
    "\u00ad": "SHY",
    "\u200b": "ZWSP",
    "\u200c": "ZWNJ",
    "\u200d": "ZWJ",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u202f": "NNBSP",
    "\u2060": "WJ",
    "\ufeff": "BOM",
}
_NOTATION = late_pattern(rf"⟨(?:U\+[0-9A-F]{{4,6}}|{'|'.join(_NAMES.values())})⟩")
# Letters and marks to Unicode, and drawn as nothing.
_DRAWN_AS_NOTHING = late_pattern(
    r"VARIATION SELECTOR|COMBINING GRAPHEME JOINER|\bINHERENT\b|PATTERN BLANK|NULL NOTEHEAD"
    r"|(?:HANGUL|CHOSEONG|JUNGSEONG|SCRIPT) FILLER"
)
_ESCAPES = late_pattern(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|[\x1b\x9d][\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC, DCS: titles, links
    r"|\x1b[@-_]?|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROL = late_pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_UNPICTURED = late_pattern(r"[\x00-\x08\x0b-\x1f\x7f]")
_NOT_ASCII = late_pattern(r"[^\x00-\x7f]+")
_NEWLINES = late_pattern(r"\r\n?|[\x85\u2028\u2029]")
_ACCENTS = 3  # combining marks on one letter; more are stacked to cover the neighbouring lines
_SHORT = 1_000  # characters: a pattern of its own takes longer than it saves
_FEW = 256  # different characters in a pattern; with thousands it is slower than none
_JOINERS = "\u200c\u200d"
_SELECTORS = "\ufe0e\ufe0f"
# Emoji that are no symbols to Unicode: an old set, new ones are symbols.
_OLD_EMOJI = "\u203c\u2049\u2139\u2194\u2934\u2935\u25fb\u25fc\u25fd\u25fe\u3030\u303d"
_BLACK_FLAG = "\U0001f3f4"
# England, Scotland and Wales: Unicode adds no others.
_FLAGS = tuple(
    _BLACK_FLAG + "".join(chr(0xE0000 + ord(sign)) for sign in f"gb{part}\x7f")
    for part in ("eng", "sct", "wls")
)
_LAST_OF_A_CUT = " \t\n" + _JOINERS + "".join(map(chr, range(0xE0020, 0xE0080)))


def show_hidden(text: str) -> str:
    """`text` with a visible sign for each hidden character; tabs and line feeds stay. Different
    texts give different ones; shown twice, the signs of the first time are shown as such.
    """
    if text.isascii():
        return text if text.isprintable() else text.translate(_PICTURED)
    if _LATIN.fullmatch(text):
        return text
    return _signs(text)


def drop_hidden(text: str) -> str:
    """`text` without its hidden characters, without escape sequences and accents beyond the third;
    every kind of line end as a line feed, every odd space as a blank: to look for words in it.
    """
    if not text.isprintable():
        text = _CONTROL.sub("", _ESCAPES.sub("", _NEWLINES.sub("\n", text)))
    if text.isascii() or _LATIN.fullmatch(text):
        return text
    kept: list[str] = []
    accents = 0
    for sign in text:
        accents = accents + 1 if _is_accent(sign) else 0
        category = "" if sign.isascii() else unicodedata.category(sign)
        if not category:
            kept.append(sign)
        elif category == "Cs":
            kept.append("\ufffd")
        elif category == "Zs":
            kept.append(" ")
        elif accents <= _ACCENTS and not _hides(sign):
            kept.append(sign)
    return "".join(kept)


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, the last an ellipsis where some were cut off."""
    return text if len(text) <= limit else text[: limit - 1].rstrip(_LAST_OF_A_CUT) + "…"


def _signs(text: str) -> str:
    places = _NOT_ASCII if len(text) < _SHORT else _find_places(text)
    if places:
        text = places.sub(_name_hidden, text)
    return text.translate(_PICTURED) if _UNPICTURED.search(text) else text


def _find_places(text: str) -> re.Pattern[str] | None:
    """What finds all that may be hidden in it: of a million letters few are."""
    letters = {sign for sign in set(text) if not sign.isascii()}
    accents, odd = [*filter(_is_accent, letters)], [*filter(_is_odd, letters)]
    if len(accents) + len(odd) > _FEW:
        return _NOT_ASCII
    found = [f"[{re.escape(''.join(accents))}]{{{_ACCENTS + 1},}}"] * bool(accents)
    found += [f"[{re.escape(''.join(odd))}]"] * bool(odd)
    return re.compile("|".join(found)) if found else None


def _name_hidden(found: re.Match[str]) -> str:
    """The found part, in which some are odd or one accent too many."""
    shown: list[str] = []
    accents = 0
    for at, sign in enumerate(found[0], found.start()):
        accents = accents + 1 if _is_accent(sign) else 0
        hidden = accents > _ACCENTS or (_is_odd(sign) and not _belongs(found.string, at))
        shown.append(_name(sign) if hidden else sign)
    return "".join(shown)


def _name(sign: str) -> str:
    return f"⟨{_NAMES.get(sign) or f'U+{ord(sign):04X}'}⟩"


@lru_cache(4096)
def _is_accent(sign: str) -> bool:
    return unicodedata.category(sign) in ("Mn", "Me")


@lru_cache(4096)
def _is_odd(sign: str) -> bool:
    """Whether it is hidden, unless its neighbours need it, or belongs to the notation."""
    return _hides(sign) or sign == "⟨" or "\u2400" <= sign <= "\u2421"


@lru_cache(4096)
def _hides(sign: str) -> bool:
    category = unicodedata.category(sign)
    if category == "Cf":  # those of Arabic numbers are drawn: AN
        return unicodedata.bidirectional(sign) != "AN"
    if category in ("Cc", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"):
        return True
    return bool(_DRAWN_AS_NOTHING.search(unicodedata.name(sign, "")))


def _belongs(text: str, at: int) -> bool:
    """Whether what stands around it needs it, or makes it harmless."""
    sign, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if sign == "⟨":
        return not _NOTATION.match(text, at)
    if sign in _SELECTORS:
        is_key = before.isascii() and after == "\u20e3"  # of a telephone
        return is_key or _is_symbol(before)
    if sign in _JOINERS:
        return _is_symbol(after) if _is_emoji(before) else _joins_letters(text, at)
    if sign == "\u3000":
        return _is_wide(before) or _is_wide(after)
    if "\U000e0020" <= sign <= "\U000e007f":
        start = text.rfind(_BLACK_FLAG, max(0, at - len(_FLAGS[0]) + 1), at)
        return start >= 0 and text.startswith(_FLAGS, start)
    return False


def _is_symbol(sign: str) -> bool:
    return bool(sign) and (sign in _OLD_EMOJI or unicodedata.category(sign) == "So")


def _is_emoji(sign: str) -> bool:
    return bool(sign) and (unicodedata.category(sign) in ("So", "Sk") or sign == "\ufe0f")


def _joins_letters(text: str, at: int) -> bool:
    """Between letters of Arabic scripts, or beside a virama (RFC 5892, appendix A)."""
    start = at
    while start and unicodedata.combining(text[start - 1]) not in (0, 9):
        start -= 1
    before, after = text[start - 1 : start], text[at + 1 : at + 2]
    if not before:
        return False
    if 9 in (unicodedata.combining(before), unicodedata.combining(after or "a")):
        return unicodedata.category(before) in ("Mn", "Mc", "Lo")
    return bool(after) and {*map(unicodedata.bidirectional, (before, after))} == {"AL"}


def _is_wide(sign: str) -> bool:
    return bool(sign) and sign != "\u3000" and unicodedata.east_asian_width(sign) in ("W", "F")
