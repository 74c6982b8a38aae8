"""What a text says each of its numbers is: the words beside it, those of its row and column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from gate.graders.claims.units import unit_of
from gate.text.late_pattern import late_pattern
from gate.text.numbers.measures import Measure, measure_of_key
from gate.text.numbers.number import Number

Words = frozenset[str]

_REACH = 120  # characters on each side of a number that can be its label
_LINE = 1_000  # characters of a line that can be a row, or have a head
_NAMES_READ = 100_000  # characters of a text
_LINES = 20_000  # of a text in which tables are looked for
_CELLS = 60
_CLAUSE_ENDS = (
    r"[,;:()|\u2014]\s|[()|]|\s-\s|\b(?:and|but|while|whereas|versus|vs|against|compared|than|after"
    r"|instead)\b"
)
_CLAUSE = late_pattern(_CLAUSE_ENDS)
_CLAUSE_OR_STOP = late_pattern(rf"[.?!](?=\s)|\n|{_CLAUSE_ENDS}")
_WORD = late_pattern(r"\b\d{1,2}[a-z]\b|\b[A-Z]{1,3}-?\d{1,3}\b|[^\W\d_]+|\b(?:19|20)\d\d\b")
_NAMED_BY_SIGN = late_pattern(r"\b([^\W\d_]{2,}) (?=([A-Z]|\d{1,3})\b(?![.,]\d|['%]| ?%))")
_ENDING_SIGN = late_pattern(r" (?:[A-Z]|\d{1,3})\b")
_LONGEST_NAME = 40  # characters before the sign
_KEY = late_pattern(r"([^\W\d][\w.-]*)\"?\s?[=:]\s?[\"'$€£]?\Z")
_ENDED = frozenset((". ", ".", "", ".\n", "\n"))
_PAIR = late_pattern(r"[\w.-]+=(?=[$€£]?-?\d)")
_HEAD = late_pattern(r"[ \t]*(?:[-*\u2022]|\d+\.)?[ \t]*([^\d\n:.=|][^\n:.=|]{0,60}):(?=\s)")
_ITEM = late_pattern(r"[ \t]*(?:[-*\u2022]|\d{1,2}[.)])[ \t]")
_ITEMS = 40  # lines of a list that are gone up
_LINKED = late_pattern(
    r"\b(?:from|compared|versus|vs|against|to|after)\b[^,;:.\d]{0,20}\Z|->|\u2192"
)
_THAN = late_pattern(r"\bthan [^,:;]*: ")  # "less than last year: 742 kWh"
_LINKS_WORDS = (
    "earlier prior last previous previously before ago normal normally usual usually year "
    "month week quarter followed then another later now today"
)
_LINKS = frozenset(_LINKS_WORDS.split())
_SMALL_WORDS = (
    "a an the of in on at to for from by with as is was are were be been it its this that these"
    " those and or but if than then so such what which who how much many did do does has have had"
    " there their our we you they he she i not no more less all any each per into over under s t"
    " while whereas versus vs against compared after instead about roughly around approximately"
    " some only up down his her your my us them will would can may also"
    " ms kg mg km mm cm lb oz gb mb kb tb ml hz kwh mwh hour minute second min sec"
)
_STOPWORDS = frozenset(_SMALL_WORDS.split())
_MONTHS = "january february march april may june july august september october november december"
_SHORT = {name[:3]: name for name in _MONTHS.split()} | {"sept": "september"}
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_CLASSES = {
    **dict.fromkeys(_MONTHS.split(), "month"),
    **dict.fromkeys(_DAYS.split(), "day"),
    **dict.fromkeys(("q1", "q2", "q3", "q4"), "quarter"),
}
_QUARTERS = {"first": "q1", "second": "q2", "third": "q3", "fourth": "q4"}
_QUARTER_NAMES = frozenset(_QUARTERS.values())


# The end of a long line in the middle of a sentence; not of a row, a list's item or a log's entry.
_WRAPPED = late_pattern(
    r"(?<=[^\n]{50}[^\n.:;!?|=])\n[ \t]*(?=[^\s|#*+>\[{<=-])"
    r"(?!\d{1,2}[.)]\s|\d{4}-\d\d|\d\d?:\d\d|[\w ]{1,20}:\s|[^\n]{0,200}(?:=|\|))"
)


def unwrap(text: str) -> str:
    """The text with a space for each line's end within a sentence; all else stays where it is."""
    if "\n" not in text:
        return text
    return _WRAPPED.sub(lambda found: " " * len(found[0]), text)


class Label(NamedTuple):
    """`near`: words that tell what the number is. `before`: those before earlier numbers of its
    sentence, which it shares if it has none of its own: "North sold 5, up from 3". `earlier`: those
    and the ones after earlier numbers.
    """

    near: Words
    before: Words
    measure: Measure | None
    shares: bool = False
    earlier: Words = frozenset()
    series: tuple[int, int] | None = None  # of a table: where it begins, and the column

    @property
    def every(self) -> Words:
        return self.near | self.before if self.shares else self.near


_NOTHING = Label(frozenset(), frozenset(), None)


def labels(
    text: str, numbers: Sequence[Number], names: Callable[[], Words] = frozenset
) -> list[Label]:
    """The label of each of some numbers of the text, in their order. Years, and figures that are
    part of one of the `names` ("aero 13"), are words of other labels and have none.
    """
    return labels_in(text, numbers, rows_of(text), names)


def labels_in(
    text: str,
    numbers: Sequence[Number],
    rows: Mapping[int, Row],
    names: Callable[[], Words] = frozenset,
) -> list[Label]:
    """The same for a text whose `rows` are known."""
    counted = [k for k, one in enumerate(numbers) if not is_word(text, one, names)]
    made = [_NOTHING] * len(numbers)
    for k, label in zip(counted, _labels(text, [numbers[k] for k in counted], rows), strict=True):
        made[k] = label
    return made


def is_word(text: str, number: Number, names: Callable[[], Words]) -> bool:
    """Whether it is a year, or part of a name."""
    if number.maybe_date:
        return True
    if number.unit or number.value >= 10_000:
        return False
    name = named_by_sign(text, number)
    return bool(name) and name in names()


def named_by_sign(text: str, number: Number) -> str:
    """ "aero 13" for the 13 of "Aero 13"; empty where no name stands before it."""
    before = text[max(0, number.start - 25) : number.start]
    word = before.rstrip(" ").rpartition(" ")[2]
    if not before.endswith(" ") or not word[:1].isupper():
        return ""
    return f"{word} {number.text}".lower()


def signed_names(text: str) -> Iterator[str]:
    """ "aero 13", "well a": the names of a text that end in a figure or a letter."""
    # A pattern that begins with a space is found faster than one that begins with a word.
    for sign in _ENDING_SIGN.finditer(text, 0, _NAMES_READ):
        word = text[max(0, sign.start() - _LONGEST_NAME) : sign.start()].split(" ")[-1]
        for one in _NAMED_BY_SIGN.finditer(text, sign.start() - len(word), sign.end() + 3):
            if one[1][0].isupper():
                yield f"{one[1]} {one[2]}".lower()


def _labels(text: str, numbers: Sequence[Number], rows: Mapping[int, Row]) -> list[Label]:
    made: list[Label] = []
    line, stop = _Line(text, -1, -1, rows), 0
    for k, number in enumerate(numbers):
        if number.start >= line.end:
            line = _line(text, number.start, rows)
            stop = line.start
        if line.row:
            made.append(line.row.label(text, number))
            continue
        before = numbers[k - 1].end if k and numbers[k - 1].end > stop else stop
        follows = numbers[k + 1].start if k + 1 < len(numbers) else len(text)
        label, stop = line.in_prose(text, number, before, min(follows, line.end), stop)
        made.append(label)
    return made


class _Line:
    """The line of a text that some numbers stand in."""

    def __init__(self, text: str, start: int, end: int, rows: Mapping[int, Row]) -> None:
        self.start, self.end = start, end
        self.row = rows.get(start)
        self.head: Words = frozenset()
        self.log: Words | None = None
        self.seen: set[str] = set()
        self.passed: set[str] = set()
        if self.row or start < 0:
            return
        shown = text[start : min(end, start + _LINE)]
        if found := _HEAD.match(shown):
            self.head = words(found[1])
        if _ITEM.match(shown):
            self.head |= _periods_above(text, start)
        if "=" in shown and _PAIR.search(shown):
            self.log = words(_PAIR.sub(" ", shown))

    def in_prose(
        self, text: str, number: Number, before: int, follows: int, stop: int
    ) -> tuple[Label, int]:
        """The label, and where the number's sentence begins."""
        between = text[max(before, number.start - _REACH) : number.start]
        ended = 1 + max(
            between.rfind(". "), between.rfind("? "), between.rfind("! "), between.rfind("\n")
        )
        if ended:
            stop = number.start - len(between) + ended
            between = between[ended:]
        alone = bool(ended) or before <= stop
        if alone:
            self.seen, self.passed = set(), set()
        if "than " in between:
            between = _THAN.sub("", between)
        first = between if alone else _CLAUSE.split(between.rstrip(" :="))[-1]
        after = text[number.end : min(follows, number.end + _REACH)]
        if after[:2] in _ENDED:
            after = ""
        elif found := _CLAUSE_OR_STOP.search(after):
            after = after[: found.start()]
        tail = between[-3:]
        key = _KEY.search(between) if ":" in tail or "=" in tail else None
        mine = words(first)
        if not alone and after and conflict(periods(mine), when := periods(words(after))):
            # "from 45 in 2022 to 48 in 2023": what comes before tells of the number before
            mine -= frozenset().union(*(periods(mine).get(kind, ()) for kind in when))
        if self.log is not None:
            near = self.log | (words(key[1]) if key else frozenset())
        else:
            near = mine | words(after) if after else mine
            if self.head and not self.head <= near and not (key and not alone):
                near |= without_rivals(self.head, near)
        shares = not alone and (mine <= _LINKS or bool(_LINKED.search(between)))
        label = Label(
            near, frozenset(self.seen), unit_of(text, number), shares, frozenset(self.passed)
        )
        told = mine if first is between else words(between)
        self.seen |= told
        self.passed |= told
        self.passed |= near
        return label, stop


def _periods_above(text: str, line: int) -> Words:
    """The years, months, ... that the line above a list tells: "Here are the figures of 2023:"."""
    for _ in range(_ITEMS):
        above = text.rfind("\n", 0, max(0, line - 1)) + 1
        lead = text[above : max(0, line - 1)]
        if not line or len(lead) > _LINE:
            break
        line = above
        if lead.strip() and not _ITEM.match(lead):
            told = periods(words(lead)) if lead.rstrip().endswith(":") else {}
            return frozenset().union(*told.values())
    return frozenset()


def without_rivals(general: Words, near: Words) -> Words:
    """`general` words without the months, days and quarters of which `near` has others."""
    mine = {_CLASSES.get(word) for word in near} - {None}
    return (
        frozenset(word for word in general if _CLASSES.get(word) not in mine) if mine else general
    )


class Row(NamedTuple):
    """A row of a table: where its cells end, its own words and its columns'."""

    start: int
    cells: tuple[str, ...]
    sign: str
    header: tuple[str, ...]
    table: int = 0  # where the table begins

    def label(self, text: str, number: Number) -> Label:
        column = text.count(self.sign, self.start, number.start)
        head = self.header[column] if column < len(self.header) else ""
        own = frozenset().union(*map(_row_words, self.cells))
        side = next((cell for cell in self.cells if cell.strip()), "")
        unit = unit_of(text, number) or measure_of_key(head.strip()) or measure_of_key(side.strip())
        near = own | words(head)
        return Label(near, frozenset(), unit, series=(self.table, column))


@lru_cache(maxsize=4096)
def _row_words(cell: str) -> Words:
    """The words of a cell that is a name; of a figure none but a year."""
    return words(cell) if len(cell) < _REACH else frozenset()


def _line(text: str, at: int, rows: Mapping[int, Row]) -> _Line:
    start = text.rfind("\n", max(0, at - _LINE), at) + 1
    start = max(start, at - _LINE) if start else max(0, at - _LINE)
    end = text.find("\n", at)
    return _Line(text, start, len(text) if end < 0 else end, rows)


def rows_of(text: str) -> Mapping[int, Row]:
    """Where each row of a table begins: lines of as many cells, below a line without figures."""
    if "|" not in text and "\n" not in text:
        return {}
    found: dict[int, Row] = {}
    at = 0
    header: tuple[str, ...] = ()
    sign = ""
    table = 0
    begun = False  # whether rows followed the header
    for line in text.split("\n")[:_LINES]:
        cells = _cells(line, sign)
        if sign and len(cells) == len(header) and (sign == "|" or line.strip()):
            if not line.strip(" |:-"):
                begun, table = True, at
            elif not begun and not all(map(str.strip, header)) and _is_header(line, sign):
                header = _join_headers(header, cells)
            else:
                table = table if begun else at
                begun = True
                found[at] = Row(at, cells, sign, header, table)
        else:
            begun = False
            sign = next((one for one in "|\t;," if _is_header(line, one)), "")
            header = _cells(line, sign)
            if not header and "|" in line and line.count("|") >= 2:  # a table without a header
                found[at] = Row(at, _cells(line, "|"), "|", ())
        at += len(line) + 1
    return found


def _join_headers(header: tuple[str, ...], below: tuple[str, ...]) -> tuple[str, ...]:
    """A header of two lines; an empty cell of the upper one belongs to the cell before it."""
    made: list[str] = []
    over = ""
    for upper, lower in zip(header, below, strict=True):
        over = upper if upper.strip() else over
        made.append(f"{over} {lower}")
    return tuple(made)


def _cells(line: str, sign: str) -> tuple[str, ...]:
    return tuple(line.split(sign)) if sign and len(line) <= _LINE else ()


def _is_header(line: str, sign: str) -> bool:
    """Several short cells, none of them a figure, with a name in most."""
    if line.count(sign) < (2 if sign in "|," else 1) or len(line) > _LINE:
        return False
    cells = [cell.strip() for cell in line.split(sign)]
    named = [cell for cell in cells if cell]
    if len(cells) > _CELLS or (sign == "," and (len(named) < len(cells) or ", " in line)):
        return False
    return bool(named) and all(
        len(cell) <= 50 and (not _FIGURE.fullmatch(cell) or _YEAR.fullmatch(cell)) for cell in named
    )


_YEAR = late_pattern(r"(?:19|20)\d\d")
_FIGURE = late_pattern(r"[\s$€£(]*-?\d[\d.,]*\s?%?\)?")


@lru_cache(maxsize=4096)  # what follows one number is often what comes before the next
def words(text: str) -> Words:
    """The words that can tell one number from another: no case, no plural; "Aero 13" and "well A"
    are words too, and "third quarter" is q3.
    """
    found = set().union(*map(_words, text.replace("_", " ").split()))
    for one in _NAMED_BY_SIGN.finditer(text) if _ENDING_SIGN.search(text) else ():
        if one[2].isalpha() or one[1][0].isupper():
            found.add(f"{one[1]} {one[2]}".lower())
    if "quarter" in found:
        found |= {_QUARTERS[word] for word in found if word in _QUARTERS}
    return frozenset(found)


@lru_cache(maxsize=8192)
def _words(piece: str) -> tuple[str, ...]:
    plain = piece.lower()
    if plain == piece.upper() and piece.isascii() and "19" not in piece and "20" not in piece:
        return ()  # a figure that is no year, or a sign
    if plain in _QUARTER_NAMES or piece[:-1].lower() in _QUARTER_NAMES:
        return (piece[:2].lower(),)
    return tuple(one for one in map(_plain, _WORD.findall(piece)) if one)


def _plain(word: str) -> str:
    if word == "May":
        return "may"
    plain = word.casefold()
    if word[0].isupper() and plain in _SHORT:
        return _SHORT[plain]
    if len(plain) > 3 and plain[-1] == "s" and plain[-2] != "s":
        plain = plain[:-1]
    return "" if len(plain) == 1 or plain in _STOPWORDS else plain


_PLAIN_WORD = late_pattern(r"[A-Za-z]\w*")


def names_of(texts: Sequence[str]) -> Words:
    """Words that are written with a capital wherever they stand."""
    seen = {word for text in texts for word in _PLAIN_WORD.findall(text[:_NAMES_READ])}
    names = (
        one
        for one in seen
        if one[0].isupper() and (len(one) > 2 or one[-1].isdigit()) and one.lower() not in seen
    )
    return frozenset(word for one in names for word in _words(one))


@lru_cache(maxsize=8192)
def periods(some: Words) -> dict[str, set[str]]:
    """The years, quarters, months and days of the week among some words."""
    found: dict[str, set[str]] = {}
    for word in some:
        kind = "year" if word[0].isdigit() else _CLASSES.get(word)
        if kind:
            found.setdefault(kind, set()).add(word)
    return found


def conflict(mine: dict[str, set[str]], its: dict[str, set[str]]) -> bool:
    """Whether both say when, and not the same."""
    return any(kind in its and not (its[kind] & one) for kind, one in mine.items())


def agree(mine: dict[str, set[str]], its: dict[str, set[str]]) -> bool:
    return not conflict(mine, its) and any(kind in its for kind in mine)
