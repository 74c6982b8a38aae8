"""Whether a text states a date, a month, a part of a year or a time of day in another form: "5
March 2024" for "2024-03-05", "the third quarter of 2024" for "Q3 2024", "14:30" for "2:30 pm".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from gate.text.denial import is_denied
from gate.text.late_pattern import late_pattern

_NAMES = (  # English, German, French and Spanish
    *(r"jan(?:uary|uar|vier)?|enero", r"feb(?:ruary|ruar|rero)?|févr?(?:ier)?"),
    *(r"mar(?:ch|s|zo)?|märz|mrz", r"apr(?:il)?|avr(?:il)?|abr(?:il)?", r"may|mai|mayo"),
    *(r"june?|juni|juin|junio", r"jul[yi]?|juil(?:let)?|julio", r"aug(?:ust)?|août|agosto"),
    *(r"sept?(?:ember|embre|iembre)?", r"o[ck]t(?:ober|obre|ubre)?"),
    *(r"nov(?:ember|embre|iembre)?", r"de[cz](?:ember)?|déc(?:embre)?|dic(?:iembre)?"),
)
MONTHS = "|".join(_NAMES)
_MONTH = rf"(?P<month>{MONTHS})\b\.?"
_DAY = r"(?<!\d)(?<!\d[.,])(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th|er|\.)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_SHORT = r"(?: ?['\u2019]|[-/ ])(?P<short>\d\d)"
_PARTS = r"(?P<nth>first|second|third|fourth|1st|2nd|3rd|4th)[ -](?P<part>quarter|half)"
_HALF = r"(?P<half>[ap])\.?m(?:\b\.?)"
# Not in any case: "et" and "ist" are other words.
_ZONE = r"(?: ?(?P<zone>(?-i:UTC|GMT|CES?T|ME[SZ]Z|BST|[ECMP][SD]?T|IST|JST|Z))(?![\w+]))?"
_FORMS = tuple(
    late_pattern(rf"(?<!\w){form}(?!\w)", re.IGNORECASE)
    for form in (
        rf"{_DAY}[ -](?:of |de )?{_MONTH}(?:(?:,? |-)(?:of |del? )?{_YEAR}|-(?P<short>\d\d))?",
        rf"{_MONTH} (?:the )?{_DAY}(?:,? {_YEAR})?",
        rf"{_MONTH},? (?:of |del? )?{_YEAR}",
        r"(?P<year>(?:19|20)\d\d)([-/.]?)(?P<month>0[1-9]|1[0-2])\2(?P<day>[0-2]\d|3[01])(?:T\S+)?",
        r"(?P<one>\d{1,2})([-/.])(?P<two>\d{1,2})\2(?P<year>(?:19|20)?\d\d)",
        r"(?P<one>\d{1,2})(/)(?P<two>\d{1,2})(?![/\d])",
        r"(?P<one>\d{1,2})(\.)(?P<two>\d{1,2})\.(?!\d)",
        rf"{_PARTS}(?:,? (?:of |in )?(?:the )?(?:fiscal |financial )?(?:year )?{_YEAR})?",
        rf"(?P<part>[qh])(?P<nth>[1-4])(?:(?:,? (?:of |in )?|[-/ ]?)(?:FY ?)?{_YEAR}|{_SHORT})?",
        r"(?P<nth>[1-4])(?P<part>[qh])(?: ?(?P<year>(?:19|20)\d\d)| ?['\u2019]?(?P<short>\d\d))?",
        r"(?P<part>FY) ?(?:(?P<year>(?:19|20)\d\d)|['\u2019]?(?P<short>\d\d))",
        r"(?:the )?(?:fiscal|financial)(?: year)? (?P<fy>(?:19|20)\d\d)",
        rf"(?P<hour>[01]?\d|2[0-3])[:h](?P<minute>[0-5]\d)(?::[0-5]\d)?"
        rf"(?: ?{_HALF}| ?(?:Uhr|h)\b)?{_ZONE}",
        rf"(?P<hour>[01]?\d|2[0-3])\.(?P<minute>[0-5]\d)(?: ?{_HALF}| Uhr){_ZONE}",
        rf"(?P<hour>1[0-2]|0?[1-9]) ?(?:{_HALF}|o['\u2019]clock){_ZONE}",
        r"(?P<hour>[01]?\d|2[0-3]) ?(?:Uhr|h|heures)",
        r"(?P<noon>noon|midday|midnight)",
    )
)
_MAY_DATE = late_pattern(
    rf"\b(?:{MONTHS})\b|quarter|half|\b[QH][1-4]|\b[1-4][QH]|\d[-/.]\d\d?[-/.]\d|\bFY|\bfiscal"
    r"|\d[:h]\d\d|\d ?[ap]\.?m\b|\d (?:Uhr|h|o['\u2019]clock)\b|noon|midnight|midday|\d{8}",
    re.IGNORECASE,
)
_WEEKDAY = late_pattern(
    r"\A(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|\w+tag),? (?:the |den )?", re.I
)
_NTH = {"first": "1", "second": "2", "third": "3", "fourth": "4"}
# Year, month or part of the year or time, day or zone of the time; each may be "".
Date = tuple[str, str, str]


def may_date(phrase: str) -> bool:
    """Whether a phrase may be a date; most are none."""
    return _MAY_DATE.search(phrase) is not None


def states_date(phrase: str, text: str) -> bool:
    """Whether all of `phrase` is a date that the text states, with nothing less than it says."""
    wanted = read_date(phrase)
    return bool(wanted) and any(
        all(not one or one == other for one, other in zip(one_way, told, strict=True))
        for form in _FORMS
        for found in form.finditer(text)
        if not is_denied(text, *found.span())
        for told in _read(found)
        for one_way in wanted
    )


@lru_cache(maxsize=1024)
def take_dates(phrase: str) -> tuple[tuple[str, ...], str]:
    """The dates in a phrase, and the phrase without them."""
    found: list[str] = []
    for form in _FORMS if may_date(phrase) else ():
        found += [one[0] for one in form.finditer(phrase)]
        phrase = form.sub(" ", phrase)
    return tuple(found), phrase


@lru_cache(maxsize=1024)
def read_date(phrase: str) -> tuple[Date, ...]:
    """What all of a phrase may be: two dates for "5/3/2024", none for what is no date."""
    plain = _WEEKDAY.sub("", phrase.strip())
    return next((tuple(_read(found)) for form in _FORMS if (found := form.fullmatch(plain))), ())


def _read(found: re.Match[str]) -> Iterator[Date]:
    said = {name: value.lower() for name, value in found.groupdict().items() if value}
    year = said.get("year") or said.get("fy") or said.get("short", "")
    year = f"20{year}" if len(year) == 2 else year
    if "one" in said:
        first, second = said["one"].lstrip("0"), said["two"].lstrip("0")
        if int(second or 13) <= 12:
            yield year, second, first
        if int(first or 13) <= 12 and found[2] != ".":
            yield year, first, second
    elif "month" in said:
        month = said["month"]
        if not month.isdecimal():
            month = str(next(n for n, name in enumerate(_NAMES, 1) if re.fullmatch(name, month)))
        yield year, month.lstrip("0"), said.get("day", "").lstrip("0")
    elif "hour" in said:
        hour = int(said["hour"])
        if "half" in said:
            hour = hour % 12 + 12 * (said["half"] == "p")
        zone = said.get("zone", "")
        yield "", f"{hour}:{said.get('minute', '00')}", "utc" if zone in ("gmt", "z") else zone
    elif "noon" in said:
        yield "", "0:00" if said["noon"] == "midnight" else "12:00", ""
    elif "fy" in said or said["part"] == "fy":
        yield year, "fy", ""
    else:
        nth = _NTH.get(said["nth"], said["nth"][0])
        yield year, f"{said['part'][0]}{nth}", ""
