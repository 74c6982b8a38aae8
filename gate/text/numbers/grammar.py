"""What the digits of a number look like, and what looks like a number and is none."""

from __future__ import annotations

import re
from functools import cache

from gate.text.late_pattern import late_pattern
from gate.text.numbers.number import Locale

WINDOW = 16  # characters before the digits that can belong to them
GAPS = " \u00a0\u2009\u202f"
GAP = f"[{GAPS}]"
MINUS = "\\-\u2212\u2010\u2011\u2013\ufe63\uff0d"
_MONTHS = (
    "Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    "|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?"
)
# Scripts without spaces between words: a figure after such a letter is not part of a word.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\uffff"
_LETTER = rf"[^\W\d{_UNSPACED}]"

DIGIT = late_pattern(r"[\d.](?:(?<=\d)|(?<![\w.)]\.)(?=\d))")
ASCII_DIGIT = late_pattern(r"[0-9.](?:(?<=[0-9])|(?<![\w.)]\.)(?=[0-9]))")  # twice as fast
IN_WORD = late_pattern(rf"(?:{_LETTER}|{_LETTER}\w*[-\u2011./]|[#^])\Z")
VERSION = late_pattern(rf"\b[Vv](?:ersion|er\.|\.){GAP}?\Z")
REST_OF_WORD = late_pattern(r"\w*(?:[-.]\w*+(?<=\d))*")
MONTH = late_pattern(rf"\b(?:{_MONTHS})\.?{GAP}\Z")
YEAR = late_pattern(rf",?{GAP}\d{{4}}\b")
LINE_START = late_pattern(r"(?:\A|\n)[ \t>*#(-]*\Z")
URL = late_pattern(r"(?:https?://|www\.)\S+")

# From the first digit on: what looks like a number and is none. What follows the digits is looked
# at first, since nearly all numbers go on with a space, a comma or a point.
_NO_NUMBER = rf"""
  (?=\d+(?:[-\u2010\u2011:/]|{_LETTER}))(?:
    (?P<time>\d{{1,2}}:\d\d(?::\d\d)?(?:[.,]\d+)?(?:\s?[AaPp]\.?[Mm]\b)?(?![:\d])
      |\d{{1,2}}[AaPp]\.?[Mm]\b|24/7\b)
    |(?P<chain>\d+(?:[-\u2010\u2011]\d+){{2,}}(?:[T\s]\d\d:\d\d\S*)?|\d+(?:/\d+){{2,}}
      |\d{{4}}-(?:0[1-9]|1[0-2])(?![-\d]))
    |(?P<ordinal>\d+(?:st|nd|rd|th|ST|ND|RD|TH)\b|(?:1[89]|20)\d0s\b)
    |(?P<id>0[xX][0-9a-fA-F]+|\d+_\w+
      |(?!\d+(?:(?:[eE]\d{{1,3}}|(?:[kcmd]?m|ft)[23])\b|x10[\^⁻⁰¹²³⁴-⁹]))\d+(?!_){_LETTER}+\d\w*)
  )
  |(?=\d+\.?\s)(?:
    \d{{1,2}}\s[AaPp]\.?[Mm]\b
    |(?P<day>(?:[12]?\d|3[01])\.?{GAP}(?:of{GAP})?(?:{_MONTHS})\b)
  )
  |\d+(?:[,']\d{{3}}){{1,4}}(?:st|nd|rd|th|ST|ND|RD|TH)\b
"""
_EXPONENT = rf"""(?:[eE](?P<e>[+{MINUS}]?\d{{1,3}})(?!\w)
  |{GAP}?[x×·⋅*]{GAP}?10(?:\^(?P<power>[+{MINUS}]?\d{{1,3}})|(?P<super>[⁺⁻]?[⁰¹²³⁴-⁹]{{1,3}})))?"""
_GROUPS = "'’\u00a0\u2009\u202f"
_SEPARATORS: dict[Locale, tuple[str, str]] = {  # thousands, decimal
    "en": (",", "."),
    "de": (".", ","),
    "fr": (" .", ","),
}
# In English texts also 1.234,56 and the Indian 12,34,567.
_ALSO = r"|\d{1,3}(?:\.\d{3})+(?=,\d\d?(?![\d,]))|\d{1,2}(?:,\d\d)+,\d{3}(?![\d,])"
_SUPERSCRIPTS = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_PLAIN_MINUS = str.maketrans(dict.fromkeys(MINUS[1:], "-"))


@cache
def token(locale: Locale) -> re.Pattern[str]:
    """Matches at a digit; without the group `whole` it is no number."""
    thousands, decimal = (re.escape(sign) for sign in _SEPARATORS[locale])
    other = _ALSO if locale == "en" else ""
    whole = rf"\d{{1,3}}(?P<group>[{thousands}{_GROUPS}])\d{{3}}(?:(?P=group)\d{{3}})*(?!\d)"
    version = (
        rf"(?P<version>(?!{whole.replace('group', 'skipped')}(?!\.\d))\d+(?:\.\d+){{2,}}(?!,\d))"
    )
    return re.compile(
        rf"{_NO_NUMBER}|{version}"
        rf"|(?P<whole>{whole}{other}|\d+|(?={decimal}\d))"
        rf"(?:(?:{decimal}|(?<=\.\d{{3}}),)(?P<fraction>\d+))?{_EXPONENT}",
        re.VERBOSE,
    )


def exponent(found: re.Match[str]) -> int:
    """Of a match of `token`: 6 in 1.5e6 and in 1.5 x 10^6."""
    if found.lastgroup in ("whole", "fraction"):
        return 0
    written = found["e"] or found["power"] or (found["super"] or "0").translate(_SUPERSCRIPTS)
    return int(written.translate(_PLAIN_MINUS))
