"""What the digits of a number look like, and what looks like a number and is none."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from gate.text.late_pattern import late_pattern
from gate.text.numbers.number import Locale

WINDOW = 16  # characters before the digits that can belong to them
GAPS = " \u00a0\u2009\u202f"
GAP = f"[{GAPS}]"
MINUS = "\\-\u2212\u2010\u2011\u2013\ufe63\uff0d"
DASHES = ("-", "\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2212")
_MONTHS = (
    "Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    "|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?"
)
# Scripts without spaces between words: a figure after such a letter is not part of a word.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\uffff"
_LETTER = rf"[^\W\d{_UNSPACED}]"

VULGAR = {  # ½ and its like, as they are divided
    **{"\u00bc": (1, 4), "\u00bd": (1, 2), "\u00be": (3, 4), "⅐": (1, 7), "⅑": (1, 9)},
    **{"⅒": (1, 10), "⅓": (1, 3), "⅔": (2, 3), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5)},
    **{"⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8)},
}
_VULGAR = f"[{''.join(VULGAR)}]"
DIGIT = late_pattern(rf"[\d.{''.join(VULGAR)}](?:(?<=\d)|(?<={_VULGAR})|(?<![\w.)]\.)(?=\d))")
ASCII_DIGIT = late_pattern(r"[0-9.](?:(?<=[0-9])|(?<![\w.)]\.)(?=[0-9]))")  # twice as fast
IN_WORD = late_pattern(
    rf"(?:{_LETTER}|{_LETTER}\w*[-\u2011./]|(?<!\w){_LETTER}\+|[\w&]#|\^|(?<!\S)['\u2019])\Z"
)
LETTERS = late_pattern(rf"{_LETTER}+")
VERSION = late_pattern(rf"\b[Vv](?:ersion|er\.|\.){GAP}?\Z")
REST_OF_WORD = late_pattern(r"\w*(?:[-.]\w*+(?<=\d))*")
MONTH = late_pattern(rf"\b(?:{_MONTHS})\.?{GAP}\Z")
LINE_START = late_pattern(r"(?:\A|\n)[ \t>*#(-]*\Z")
# "## 4. Results", "### 3.2 Methods", "**4. Results**": before the digits, and after them.
HEADING = late_pattern(r"(?:\A|\n)[ \t>]{0,3}(?:#{1,6} \**|\*\*)\Z")
HEADED = late_pattern(r"(?:[.)]|(?<=\d\.\d)|(?<=\d\.\d\d)) +(?=[^\W\d_])")
# "as shown before [13, 14]", "[3-5]": several whole numbers; not after what tells of a list.
CITED = late_pattern(r"\d{1,3}(?:(?:, ?|; ?|-|\u2013)\d{1,3}){1,9}\]")
LISTED = late_pattern(
    r"(?:[=:(|\[{]|(?<!\w)(?:a|an|are|is|was|were|be|of|to|and|or|in|at|by|from|between|with|the|ci|gives"
    r"|gave|get|returns?|returned|prints?|printed|list|array|vector|values?|numbers?|set|range|ranges"
    r"|interval|indices|indexes|tuple|scores?|results?|shape|contains|contain|includes?|include))\Z",
    re.IGNORECASE,
)
URL = late_pattern(r"(?:https?://|www\.)\S+")


# A telephone number from its first digit on: after "+", after "(", and after a word that says so.
PHONES = {
    "+": late_pattern(r"\d{1,3}(?:[ .\-/\u00a0]?(?:\(\d{1,4}\)|\d{1,4}))*"),
    "(": late_pattern(r"\d{2,5}\)[ \-\u00a0]?\d{3,4}[ .\-\u00a0]?\d{2,4}(?!\d)"),
}
PHONE_DIGITS = 8  # that an international number has at least
LOCAL_PHONE = late_pattern(r"\d{3}-\d{4}(?![\d\-])")
PHONE_NAMED = late_pattern(
    r"\b(?:tel|phone|telephone|call|dial|ring|fax|mobile|cell|hotline|reach|text|whatsapp)\b"
    r"[^\d\n]{0,6}\Z",
    re.IGNORECASE,
)

# From the first digit on: what looks like a number and is none. What follows the digits is looked
# at first, since nearly all numbers go on with a space, a comma or a point.
_NO_NUMBER = rf"""
  (?=\d+(?:[-\u2010\u2011:/]|{_LETTER}))(?:
    (?P<time>\d{{1,2}}:\d\d(?::\d\d)?(?:[.,]\d+)?(?:\s?[AaPp]\.?[Mm]\b)?(?![:\d])
      |\d{{1,2}}[AaPp]\.?[Mm]\b|24/7\b|9/11\b|\d{{1,4}}:(?!1\b)\d{{1,4}}(?![\d:])
      |\d{{1,3}}-(?![VW]\b)[A-Z]\b|7-(?:Eleven|Up)\b)
    |(?P<chain>\d+(?:[-\u2010\u2011]\d+){{2,}}(?:[T\s]\d\d:\d\d\S*)?|\d+(?:/\d+){{2,}}
      |\d{{3,4}}/(?:19|20)\d\d(?!\d)|(?:19|20)\d\d/\d{{3,4}}(?!\d)
      |\d{{4}}-(?:0[1-9]|1[0-2])(?![-\d])
      |\d{{1,2}}-(?:{_MONTHS})-\d{{2,4}}\b|\d+-0\d+\b)
    |(?P<ordinal>\d+(?:st|nd|rd|th|ST|ND|RD|TH)\b|(?:1[89]|20)\d0s\b)
    |(?P<id>0[xX][0-9a-fA-F]+|(?!\d{{1,3}}(?:_\d{{3}})+(?!\w))\d+_\w+
      |(?!\d+(?:(?:[eE]\d{{1,3}}|(?:[kcmd]?m|ft)[23])\b|x10(?:[\^⁻⁰¹²³⁴-⁹]|\*\*)))\d+(?!_){_LETTER}+\d\w*)
  )
  |(?=\d+\.?\s)(?:
    \d{{1,2}}\s[AaPp]\.?[Mm]\b|\d{{1,2}}{GAP}Uhr\b|\d{{1,2}}\so['\u2019]clock\b
    |(?:1[ ])?\d{{3}}[ ]\d{{3}}[ ]\d{{4}}(?![\d,])|\d{{4}}(?:[ ]\d{{4}}){{3}}(?!\d)
    |\d{{1,2}}\.{GAP}\d{{1,2}}\.{GAP}?\d{{4}}\b
  )
  |\d{{1,2}}\.\d{{1,2}}\.{GAP}\d{{4}}\b
  |\d{{1,2}}\.\d\d{GAP}?(?:Uhr|[AaPp]\.?[Mm])\b
  |\d+\([a-z]\)
  |\d{{1,2}}['\u2019\u2032]\d{{1,2}}(?:\"|''|\u2033|\u201d|(?!['\u2019\w]))
  |\d+[年月](?:\d{{1,2}}[月日])*
  |\d+(?:[,']\d{{3}}){{1,4}}(?:st|nd|rd|th|ST|ND|RD|TH)\b
  |0\d+(?:{GAP}\d{{2,}}|[-/.,]\d+)*\w*
"""
_DAY = rf"""
  (?=\d{{1,2}}(?!\d))(?P<day>[12]?\d|3[01])(?=(?:\.|st|nd|rd|th)?{GAP}(?:of{GAP})?(?:{_MONTHS})\b)
"""
# The first year of "2023/24".
_SEASON = r"""
  (?P<season>(?:19|20)\d\d)[-/\u2013]\d\d(?![\d/\u2013-])
"""
_EXPONENT = rf"""(?:[eE](?P<e>[+{MINUS}]?\d{{1,3}})(?!\w)
  |{GAP}?[x×·⋅*]{GAP}?10(?:(?:\^|\*\*)(?P<power>[+{MINUS}]?\d{{1,3}})
    |(?P<super>[⁺⁻]?[⁰¹²³⁴-⁹]{{1,3}})))?"""
_RAISED = rf"""(?P<base>\d{{1,6}})(?:(?:\^|\*\*)(?P<raised>[+{MINUS}]?\d{{1,3}}(?!\d))
  |(?<=(?<!\d)10)(?P<raised_super>[⁺⁻]?[⁰¹²³⁴-⁹]{{1,3}}))"""
_SLASH = "[/\u2044]"
_PART = rf"""(?:(?P<ones>\d{{1,3}})(?:[ -]|{GAP}))?
  (?P<over>\d{{1,2}}){_SLASH}(?P<under>[2-9]|12|16|32|64)(?![\w/\u2044]|[.,:]\d)
  |(?P<ones_before>\d{{1,6}}){GAP}?(?P<vulgar>{_VULGAR})|(?P<only_vulgar>{_VULGAR})"""
_GROUPS = ".,'’_\u00a0\u2009\u202f "
_DECIMALS: dict[Locale, str] = {"en": ".", "de": ",", "fr": ","}
# At most so many groups are looked at, whatever follows: a long row of them costs no more.
_GROUPED = rf"""
  (?:(?<!\d\ )|(?!\d+\ ))\d{{1,3}}(?P<group>[{_GROUPS}])\d{{3}}(?:(?P=group)\d{{3}}){{0,8}}
    (?!\d|(?P=group)\d)(?:(?!(?P=group))[.,]\d+(?![.,]?\d))?
  |\d{{1,2}}(?:,\d\d){{1,6}},\d{{3}}(?![\d,])
"""
# "[12,15]" and "a,12,15" are lists; "1,50" is a decimal number of another country.
_LISTED = r"(?<![,\[{])(?!(?:19|20)\d\d,)\d+,\d+(?![.,]?\d|,\w|[ ]?[\]}])"
_ADDRESS = r"(?:[12]?\d?\d\.){3}[12]?\d?\d(?![\d.])"  # 192.168.100.200
_SUPERSCRIPTS = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_PLAIN_MINUS = str.maketrans(dict.fromkeys(MINUS[1:], "-"))


@cache
def token(locale: Locale) -> re.Pattern[str]:
    """Matches at a digit; without one of the groups `whole`, `day`, `season`, `base`, `over`,
    `vulgar` and `only_vulgar` it is no number.
    """
    comma = _LISTED if locale == "en" else r"\d+,\d+(?!,\d)"
    thousands = r"\d{1,3}(?:\.\d{3}){2,}(?![.\d])"
    return re.compile(
        rf"{_DAY}|{_NO_NUMBER}|{_SEASON}|{_RAISED}|{_PART}"
        rf"|(?P<version>{_ADDRESS}|(?!{thousands})\d+(?:\.\d+){{2,}}(?!,\d))"
        rf"|(?P<whole>{_GROUPED}|\d+\.\d+|{comma}|\d+|\.\d+){_EXPONENT}",
        re.VERBOSE,
    )


class Digits(NamedTuple):
    """The digits of a number before and after its decimal sign, and what else they may mean."""

    whole: str
    fraction: str = ""
    grouped: bool = False
    other: str = ""  # 1.234 may be meant as 1234


def digits(written: str, locale: Locale) -> Digits:
    """Reads "1.234,56", "1'234", "12,5" and their like: of two different signs the last is the
    decimal one, and one that comes twice groups thousands. Of a single point or comma the locale
    decides where three digits follow; where others do it is decimal.
    """
    if written.isdecimal():
        return Digits(written)
    signs = [sign for sign in written if not sign.isdecimal()]
    last = signs[-1]
    before, _, after = written.rpartition(last)
    plain = "".join(sign for sign in before if sign.isdecimal())
    if len(signs) > 1:
        return Digits(plain, after, True) if last != signs[0] else Digits(plain + after, "", True)
    if last not in ".,":
        return Digits(plain + after, "", True)
    like_a_group = len(after) == 3 and 0 < len(plain) <= 3 and plain[0] != "0"
    if not like_a_group:
        return Digits(plain, after)
    if last != _DECIMALS[locale]:
        return Digits(plain + after, "", True)
    return Digits(plain, after, other=plain + after)


def exponent(found: re.Match[str]) -> int:
    """Of a match of `token`: 6 in 1.5e6 and in 1.5 x 10^6."""
    if found.lastgroup in ("whole", "group"):
        return 0
    return power_of(found["e"] or found["power"] or found["super"] or "0")


def power_of(written: str) -> int:
    """-6 for "-6", "−6" and "⁻⁶"."""
    return int(written.translate(_SUPERSCRIPTS).translate(_PLAIN_MINUS))
