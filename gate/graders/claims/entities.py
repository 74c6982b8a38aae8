"""Names, dates and quoted passages of an answer that its sources do not have.

By spelling alone: a name is a run of capitalised words (the first word of a sentence does not make
one), so that languages which capitalise all nouns, or none, are not served; whether what is said of
a name is right, nobody asks here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from gate.text.late_pattern import late_pattern
from gate.text.phrases import fold_text, has_phrase

Kind = Literal["names", "dates", "quotes"]
_MOST = 500  # entities of one answer that are looked up
_QUOTE_WORDS = 3  # shorter quotes name a term

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# How German, French and Spanish months begin that do not begin as the English ones do.
_OTHER_MONTHS = {"mär": 3, "mai": 5, "okt": 10, "dez": 12, "fév": 2, "avr": 4, "aoû": 8, "déc": 12}
_OTHER_MONTHS |= {"ene": 1, "abr": 4, "ago": 8, "dic": 12}
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?"
    r"|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember|janvier|février|mars|avril|mai|juin"
    r"|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio"
    r"|agosto|septiembre|octubre|noviembre|diciembre)\b\.?"
)
_DATE = late_pattern(
    r"\b(?P<y1>\d{4})-(?P<m1>\d\d)(?:-(?P<d1>\d\d))?(?!\d)"
    rf"|\b(?P<m2>{_MONTH})[ ](?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:,?[ ](?P<y2>\d{{4}}))?\b(?![.,]\d)"
    rf"|\b(?P<d3>\d{{1,2}})(?:st|nd|rd|th|\.)?[ ](?:of[ ]|de[ ])?(?P<m3>{_MONTH})"
    r"(?:,?[ ](?:de[ ])?(?P<y3>\d{4}))?\b"
    rf"|\b(?P<m4>{_MONTH})[ ](?P<y4>\d{{4}})\b"
    r"|\b(?P<a5>\d{1,2})[/.](?P<b5>\d{1,2})[/.](?P<y5>\d{4})\b"
    r"|(?<![\d.,$€£-])\b(?P<y6>(?:19|20)\d\d)\b(?![.,]\d|[ ]?%)"
)
# Of these, those that name a day.
_DAY = late_pattern(
    r"\b\d{4}-\d\d-\d\d(?!\d)"
    rf"|\b{_MONTH}[ ]\d{{1,2}}(?:st|nd|rd|th)?(?:,?[ ]\d{{4}})?\b(?![.,:]?\d)"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th|\.)?[ ](?:of[ ]|de[ ])?{_MONTH}(?:,?[ ](?:de[ ])?\d{{4}})?"
    r"|\b\d{1,2}[/.]\d{1,2}[/.]\d{4}\b"
)
_QUOTE = late_pattern(r'"([^"\n]{1,600})"|“([^“”\n]{1,600})”|«([^«»\n]{1,600})»')
_ELLIPSIS = late_pattern(r"\s*(?:\[?\.{3}\]?|\[?…\]?)\s*")
_CAPITAL = r"(?:[^\W\d_a-z][\w'’-]*)"
_NAME = late_pattern(rf"{_CAPITAL}(?:[ ](?:(?:of|de|da|van|von|del|al)[ ])?{_CAPITAL}){{0,5}}")
_STARTS = late_pattern(r"(?:\A|[.!?:\n|>*#\"“-])[\s*#>|\"“-]*\Z")
_COMMON_WORDS = (
    "mr mrs ms dr prof i a an the in on at for from by with as of to and or but if when while since"
    " after before this"
    " that these those it its he she they we you our your their there here no yes not however"
    " therefore thus also based according overall total monday tuesday wednesday thursday friday"
    " saturday sunday january february march april may june july august september october november"
    " december q1 q2 q3 q4 usd eur gbp what which who how why where all both each some most more"
    " note please let"
)
_COMMON = frozenset(_COMMON_WORDS.split())
Date = tuple[int, int, int]  # year, month, day; 0 where it does not say


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    kind: Kind
    text: str


def find_unsupported_entities(
    answer: str, sources: Sequence[str], kinds: Iterable[Kind]
) -> tuple[list[Entity], int]:
    """Those of `kinds` that no source has, and how many the answer has; each counts once."""
    made_up: list[Entity] = []
    seen = 0
    words = ""
    for kind in kinds:
        found = list(dict.fromkeys(_FOUND[kind](answer)))[:_MOST]
        seen += len(found)
        if found and kind == "dates":
            known = {date for text in sources for one in _dates(text) for date in _read(one)}
            missing = [one for one in found if not any(_among(date, known) for date in _read(one))]
        elif found:
            words = words or fold_text("\n".join(sources))
            missing = [one for one in found if not _is_mentioned(one, words)]
        else:
            missing = []
        made_up += [Entity(kind=kind, text=one) for one in missing]
    return made_up, seen


def _names(text: str) -> Iterator[str]:
    for found in _NAME.finditer(text):
        words = found[0].split(" ")
        starts = bool(_STARTS.search(text, max(0, found.start() - 12), found.start()))
        while words and (words[0].casefold() in _COMMON or (starts and len(words) == 1)):
            words, starts = words[1:], False
        if words and len(words[0]) > 1:
            yield " ".join(words)


def _quotes(text: str) -> Iterator[str]:
    for found in _QUOTE.finditer(text):
        quote = next(one for one in found.groups() if one is not None)
        if len(quote.split()) >= _QUOTE_WORDS:
            yield quote


def _dates(text: str) -> Iterator[str]:
    return (found[0] for found in _DATE.finditer(text))


_FOUND = {"names": _names, "dates": _dates, "quotes": _quotes}


def _is_mentioned(entity: str, words: str) -> bool:
    """All of it; of a quote each piece between ellipses, of a name each word ("Ms Ruiz" where the
    source has "Elena Ruiz" and "Ms").
    """
    pieces = [fold_text(piece).strip(" .,;:!?") for piece in _ELLIPSIS.split(entity)]
    if all(has_phrase(piece, words) for piece in pieces if piece):
        return True
    names = [one.removesuffix("'s") for one in fold_text(entity).split()]
    return len(names) < 4 and all(has_phrase(one, words) for one in names)


# A figure of one or two digits or a date, with a group; any other figure in one piece, without.
_FIGURE = late_pattern(
    r"\d(?:(?<![\d.,].)\d?(?![\d,]|\.\d)()|\d{3}-\d\d-\d\d()|[\d.,]*(?![-\d.,]))"
)


@lru_cache(maxsize=8)  # an answer's are asked for by two checks
def days_of(text: str) -> list[re.Match[str]]:
    """The dates of a text that name a day."""
    end, days = 0, []
    for figure in _FIGURE.finditer(text):
        if not figure.lastindex or figure.start() < end:
            continue
        if found := _DAY.search(text, max(end, figure.start() - 12), figure.end() + 22):
            end = found.end()
            days.append(found)
    return days


def _read(written: str) -> list[Date]:
    """What a date can mean: 03/05/2024 is two days."""
    found = _DATE.fullmatch(written)
    part = found.groupdict() if found else {}
    if part.get("a5"):
        a, b, year = int(part["a5"]), int(part["b5"]), int(part["y5"])
        return [(year, month, day) for month, day in {(a, b), (b, a)} if 1 <= month <= 12]
    figures = {"y": 0, "m": 0, "d": 0}
    for name, value in part.items():
        if value is not None:
            figures[name[0]] = int(value) if value.isdigit() else _month(value)
    return [(figures["y"], figures["m"], figures["d"])]


def _month(name: str) -> int:
    begins = name[:3].lower()
    if name.lower().startswith("jui"):
        return 6 if name.lower() == "juin" else 7
    return _OTHER_MONTHS.get(begins) or _MONTHS.index(begins) + 1


def dates_in(text: str) -> Iterator[Date]:
    """What the dates of a text can mean."""
    return (date for written in _dates(text) for date in _read(written))


def _among(date: Date, known: set[Date]) -> bool:
    """Whether a known date says all that this one says, and nothing else."""
    return date in known or any(
        all(mine in (0, other) for mine, other in zip(date, one, strict=True)) for one in known
    )
