"""Scale and unit around the digits of a number: $1.2M, 15 %, 3 million euros, 50 bps."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from gate.text.late_pattern import late_pattern
from gate.text.numbers import measures
from gate.text.numbers.grammar import GAP, GAPS, MINUS

SYMBOLS = "$¢£¤¥֏؋৳฿៛\u20a0-\u20c0﷼﹩＄￠￡￥￦"
_CODES = (
    "AED ARS AUD BDT BGN BHD BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP GHS HKD HUF IDR ILS INR "
    "JOD JPY KES KRW KWD LKR MAD MXN MYR NGN NOK NZD OMR PEN PHP PKR PLN QAR RON RUB SAR SEK SGD "
    "THB TND TRY TWD UAH USD VND ZAR Rs"
).replace(" ", "|")

# Before the digits: "(", sign and currency; all of them may be missing.
_BEFORE = late_pattern(
    rf"(?P<open>\({GAP}?)?(?P<sign>(?<![\w)\]%{SYMBOLS}])[+{MINUS}])?"
    rf"(?P<currency>(?<![^\W\d_])(?:(?:[A-Z]{{1,3}})?[{SYMBOLS}]|{_CODES}){GAP}?)?"
    rf"(?(currency)(?P<inner>[{MINUS}])?)\Z"
)
_LONGEST = 9  # "( -US$ "
_NEAR = late_pattern(rf"[(+{MINUS}{SYMBOLS}A-Zs]")  # the last of what may stand before the digits

_SCALES = {
    **dict.fromkeys(("hundred", "hundreds"), 2),
    **dict.fromkeys(("k", "thousand", "thousands", "tausend", "tsd", "mille"), 3),
    **dict.fromkeys(("lakh", "lakhs"), 5),
    **dict.fromkeys(
        ("m", "mm", "mn", "mln", "mio", "million", "millions", "millionen", "millones"), 6
    ),
    **dict.fromkeys(("crore", "crores"), 7),
    **dict.fromkeys(("millón", "milhão", "milhões", "milioni", "miljoen", "miljoner"), 6),
    **dict.fromkeys(("bilhão", "bilhões", "miliardi", "miljard", "miljarder"), 9),
    **dict.fromkeys(("b", "bn", "billion", "billions"), 9),
    **dict.fromkeys(("billionen", "billones"), 12),
    **dict.fromkeys(("mrd", "mld", "milliard", "milliards", "milliarden"), 9),
    **dict.fromkeys(("t", "tn", "trn", "trillion", "trillions"), 12),
}
_HAN_SCALES = {**dict.fromkeys("万萬만", 4), **dict.fromkeys("亿億억", 8)}
DOZENS = ("dozen", "dozens")
_LONG_SCALE = late_pattern(rf"{GAP}(?:Euro|Dollar|Franken|Mark|Yen|Rubel|Kronen)\b")  # German
_MIL = late_pattern(  # 2 mil millones, 5 mil reais; in English "mil" is another unit
    rf"mil{GAP}(?P<millions>millones|milhões)\b"
    r"|mil(?= (?:euros|pesos|reais|dólares|personas|pessoas|habitantes|por|de|al|ao)\b)"
)
_HALVES = late_pattern(r"(?i: and (a half|a quarter|three[ -]quarters))\b(?!-)")
# Of money only before these: "from $60 to $72 and a half ticket from $35".
_AFTER_HALVES = late_pattern(r" (?:thousand|million|billion|trillion)\b")
_ADDED = {"a half": 0.5, "a quarter": 0.25}
_BEYOND = ("_", "²", "³")  # 5 m² is an area
# "5m tall", "5m 30s", "5m/s": metres and minutes, not millions.
_MEASURE = late_pattern(r"\s?(?:\d|/|\^|(?:long|tall|wide|deep|high|away|ago|and\s\d+s)\b)")
_UNIT = late_pattern(
    rf"{GAP}?(?:(?P<points>(?:[%％][ -]?points?"
    rf"|(?i:pp(?:ts?)?|p\.p\.?|per{GAP}?cent(?:age)?[{GAPS}-]?points?|prozentpunkte?n?))(?!\w))"
    rf"|(?P<percent>[%％﹪]|(?i:percent|per{GAP}cent|pct|prozent|pour{GAP}cent|por{GAP}ciento)\b)"
    rf"|(?P<mille>‰|(?i:per{GAP}mille)\b)"
    rf"|(?P<bp>(?i:bps?|basis{GAP}points?)\b)"
    rf"|(?P<currency>[{SYMBOLS}]|(?:{_CODES}|RMB)\b"
    rf"|(?i:(?:(?:US|U\.S\.|American|Canadian|Australian|Hong Kong|New Zealand|Singapore){GAP})?"
    rf"dollars?"
    rf"|euros?|pounds{GAP}sterling|(?:British{GAP})?pounds?|(?:Japanese{GAP})?yen"
    rf"|(?:Indian{GAP})?rupees?|(?:Swiss{GAP})?francs|(?:Mexican{GAP})?pesos|yuan|renminbi|zlotys?"
    rf"|(?:Swedish{GAP})?kronor|kroner|rand|reais|rou?bles|bucks)\b))"
)
_NAMES = {"percent": "%", "points": "pp", "mille": "‰", "bp": "bp"}
_GLUED = frozenset(("p", "pc", "pcs", "pt", "pts", "yo", "yrs", "mo", "mos"))  # 50p, 12pts
_WORD = late_pattern(rf"(?P<gap>{GAP}|-)?(?:(?P<word>[A-Za-zãõó]+)|[%％﹪‰{SYMBOLS}])")
_UNIT_NAMES = (
    "percent per pct pp ppt ppts p percentage prozent prozentpunkte prozentpunkten pour por bp bps"
    " basis dollar dollars euro euros pound pounds yen rupee rupees francs pesos yuan renminbi"
    " zloty zlotys kronor kroner rand reais rubles roubles bucks mil american canadian australian"
    " hong new singapore british japanese indian swiss mexican swedish"
)
_UNIT_WORDS = frozenset(_UNIT_NAMES.split())
WORDS = frozenset((*_SCALES, *DOZENS, *_UNIT_WORDS))  # that may belong to the number before them


def before(text: str, at: int, start: int) -> re.Match[str] | None:
    """Bracket, sign and currency right before the digits at `start`; they begin at `at` or later.

    None: there is something that starts like them but cannot be one.
    """
    last = start - 1
    if last > at and text[last] in GAPS:
        last -= 1
    if last < at or not _NEAR.match(text, last):
        return _nothing()
    return _BEFORE.search(text, max(at, start - _LONGEST), start)


@cache
def _nothing() -> re.Match[str] | None:
    return _BEFORE.match("")


class After(NamedTuple):
    """What follows the digits: the number is (digits + added) * times * 10 ** power."""

    power: int
    unit: str
    end: int
    times: int = 1
    added: float = 0.0


def after(text: str, end: int, currency: str) -> After:
    """Scale and unit of a number whose digits end at `end`, and where all of it ends."""
    added, power = 0.0, 0
    half = _HALVES.match(text, end) if text.startswith(" and ", end) else None
    if half and (not currency or _AFTER_HALVES.match(text, half.end())):
        added, end = _ADDED.get(half[1].lower(), 0.75), half.end()
    if text[end : end + 1] in _HAN_SCALES:
        power, end = _HAN_SCALES[text[end]], end + 1
    found = _WORD.match(text, end)
    if found and (word := found["word"]):
        scale = _SCALES.get(word.lower())
        if word == "Billion" and _LONG_SCALE.match(text, found.end()):
            scale = 12
        if scale and _is_scale(text, found, currency):
            power, end = power + scale, found.end()
            if text[end : end + 1] == "." and unit_at(text, end + 1)[0]:
                end += 1  # 1,5 Mio. €
        elif word == "mil" and (mil := _MIL.match(text, found.start("word"))):
            power, end = power + (9 if mil["millions"] else 3), mil.end()
        elif word.lower() in DOZENS:
            return After(power, currency, found.end(), 12, added)
        elif not word.isupper() and word.lower() not in _UNIT_WORDS and word != "Rs":
            return After(power, currency, end, 1, added)
    elif not found:
        return After(power, currency, end, 1, added)
    unit = _UNIT.match(text, end)
    if unit is None or (currency and unit["currency"]):
        return After(power, currency, end, 1, added)
    return After(power, _NAMES.get(unit.lastgroup or "") or unit["currency"], unit.end(), 1, added)


def is_known(letters: str) -> bool:
    """Whether letters right after digits can be their scale or unit: 5k, 5kg, 5EUR; not 5G."""
    word = letters.lower()
    return (
        word in WORDS
        or word in _GLUED
        or _UNIT.fullmatch(letters) is not None
        or measures.is_unit(letters)
    )


def scale_of(word: str) -> int | None:
    """3 for "thousand", None for what is no scale in words."""
    return _SCALES.get(word) if len(word) > 2 else None


def scale_of_head(word: str) -> int | None:
    """The same where nothing but a scale can be meant: 6 for "m" too; None for hundreds."""
    power = _SCALES.get(word.lower())
    return power if power and power > 2 else None


def unit_at(text: str, end: int) -> tuple[str, int]:
    """The unit that follows at `end`, or "", and where it ends."""
    unit = _UNIT.match(text, end)
    if unit is None:
        return "", end
    return _NAMES.get(unit.lastgroup or "") or unit["currency"], unit.end()


def _is_scale(text: str, found: re.Match[str], currency: str) -> bool:
    word, gap, end = found["word"], found["gap"], found.end()
    if text[end : end + 1].isdigit() or text[end : end + 1] in _BEYOND:
        return False
    if word.lower() == "mm":
        return bool(currency)
    if len(word) > 1:
        return True
    if currency:
        return gap != "-"
    if gap:
        return word == "M" and gap != "-"
    return word != "t" and not (word == "m" and _MEASURE.match(text, end))
