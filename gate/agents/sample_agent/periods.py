"""Periods that a question names: days, months, quarters, half-years and years."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gate.text.late_pattern import late_pattern

_MONTHS = tuple(name.casefold() for name in calendar.month_name[1:])
_ORDINALS = ("first", "second", "third", "fourth")
_NAMED = late_pattern(
    r"\b(?P<day>20\d\d-\d\d-\d\d)\b"
    r"|\b(?:(?P<quarter>q[1-4]|(?:first|second|third|fourth) quarter)"
    r"|(?P<half>h[12]|(?:first|second) half)"
    r"|(?P<month>may(?= (?:of )?(?:19|20)\d\d)|" + "|".join(m for m in _MONTHS if m != "may") + "))"
    r"(?:,? (?:of |in )?(?P<year>(?:19|20)\d\d))?\b"
    r"|\b(?P<alone>(?:19|20)\d\d)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """The days from `start` to `end`, ISO days, both included."""

    start: str
    end: str
    label: str

    def until(self, last: Period) -> Period:
        """The period from this one's first day to the last day of `last`."""
        return Period(start=self.start, end=last.end, label=f"{self.label} to {last.label}")


def find_periods(text: str, *, today: str) -> tuple[Period, ...]:
    """The periods named in a folded text, in their order.

    A period without a year takes the next one's year ("Q1 and Q2 2026"), else the one before it,
    else today's.
    """
    matches = list(_NAMED.finditer(text))
    years = [match["year"] or match["alone"] or (match["day"] or "")[:4] for match in matches]
    return tuple(_period(match, _year(years, i, today)) for i, match in enumerate(matches))


def quarter_of(day: str) -> Period:
    """The quarter that a day belongs to."""
    return _months(int(day[:4]), first=(int(day[5:7]) - 1) // 3 * 3 + 1, count=3)


def _year(years: list[str], position: int, today: str) -> int:
    nearby: Iterator[str] = iter([*years[position:], *reversed(years[:position]), today[:4]])
    return int(next(year for year in nearby if year))


def _period(match: re.Match[str], year: int) -> Period:
    if match["day"]:
        return Period(start=match["day"], end=match["day"], label=match["day"])
    if match["quarter"]:
        return _months(year, first=3 * _number(match["quarter"]) - 2, count=3)
    if match["half"]:
        return _months(year, first=6 * _number(match["half"]) - 5, count=6)
    if match["month"]:
        return _months(year, first=_MONTHS.index(match["month"]) + 1, count=1)
    return _months(year, first=1, count=12)


def _number(text: str) -> int:
    """2 for "q2", "h2", "second quarter"."""
    return int(text[1]) if text[1].isdigit() else _ORDINALS.index(text.split()[0]) + 1


def _months(year: int, *, first: int, count: int) -> Period:
    last = first + count - 1
    label = {
        1: f"{calendar.month_name[first]} {year}",
        3: f"Q{last // 3} {year}",
        6: f"H{last // 6} {year}",
        12: str(year),
    }[count]
    end_day = calendar.monthrange(year, last)[1]
    return Period(start=f"{year}-{first:02}-01", end=f"{year}-{last:02}-{end_day:02}", label=label)
