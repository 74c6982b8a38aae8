"""Whether a text states a date, a month or a part of a year in another form: "5 March 2024" for
"2024-03-05", "the third quarter of 2024" for "Q3 2024".
"""

from __future__ import annotations

import re
from functools import lru_cache

from gate.text.late_pattern import late_pattern

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?<!\d)(?<!\d[.,])(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th|\.)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_SHORT = r"(?: ?['\u2019]|[-/ ])(?P<short>\d\d)"
_PARTS = r"(?P<nth>first|second|third|fourth|1st|2nd|3rd|4th)[ -](?P<part>quarter|half)"
_FORMS = tuple(
    late_pattern(rf"(?<!\w){form}(?!\w)", re.IGNORECASE)
    for form in (
        rf"{_DAY}(?: of)? {_MONTH}(?:,? (?:of )?{_YEAR})?",
        rf"{_MONTH} (?:the )?{_DAY}(?:,? {_YEAR})?",
        rf"{_MONTH},? (?:of )?{_YEAR}",
        r"(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])-(?P<day>[0-2]\d|3[01])",
        rf"{_PARTS}(?:,? (?:of |in )?(?:the )?(?:fiscal |financial )?(?:year )?{_YEAR})?",
        rf"(?P<part>[qh])(?P<nth>[1-4])(?:(?:,? (?:of |in )?|[-/ ]?)(?:FY ?)?{_YEAR}|{_SHORT})?",
        r"(?P<nth>[1-4])(?P<part>[qh])(?: ?(?P<year>(?:19|20)\d\d)| ?['\u2019]?(?P<short>\d\d))?",
        r"(?P<part>FY) ?(?:(?P<year>(?:19|20)\d\d)|['\u2019]?(?P<short>\d\d))",
        r"(?:the )?(?:fiscal|financial)(?: year)? (?P<fy>(?:19|20)\d\d)",
    )
)
_MAY_DATE = late_pattern(
    rf"\b{_MONTH}|quarter|half|\b[QH][1-4]|\b[1-4][QH]|\d{{4}}-\d\d-\d\d|\bFY|\bfiscal",
    re.IGNORECASE,
)
_NTH = {"first": "1", "second": "2", "third": "3", "fourth": "4"}
Date = tuple[str, str, str]  # year, month or part of the year, day; each may be ""


def may_date(phrase: str) -> bool:
    """Whether a phrase may be a date; most are none."""
    return _MAY_DATE.search(phrase) is not None


def states_date(phrase: str, text: str) -> bool:
    """Whether all of `phrase` is a date that the text states, with nothing less than it says."""
    wanted = _whole(phrase)
    if wanted is None:
        return False
    for form in _FORMS:
        for found in form.finditer(text):
            told = _read(found)
            if all(not one or one == other for one, other in zip(wanted, told, strict=True)):
                return True
    return False


@lru_cache(maxsize=1024)
def _whole(phrase: str) -> Date | None:
    for form in _FORMS:
        if found := form.fullmatch(phrase.strip()):
            return _read(found)
    return None


def _read(found: re.Match[str]) -> Date:
    said = {name: value.lower() for name, value in found.groupdict().items() if value}
    year = said.get("year") or said.get("fy") or (f"20{said['short']}" if "short" in said else "")
    if "month" in said:
        month = said["month"]
        if month[:3] in _MONTHS:
            month = str(_MONTHS.index(month[:3]) + 1)
        return year, month.lstrip("0"), said.get("day", "").lstrip("0")
    if "fy" in said or said["part"] == "fy":
        return year, "fy", ""
    nth = _NTH.get(said["nth"], said["nth"][0])
    return year, f"{said['part'][0]}{nth}", ""
