"""What a question asks for: periods, filters, a dimension and an operation, read off its words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gate.agents.sample_agent.bm25 import plain, stems
from gate.agents.sample_agent.database import Database
from gate.agents.sample_agent.periods import Period, find_periods
from gate.text.late_pattern import late_pattern

Operation = Literal["value", "group", "rank", "compare", "change", "share"]

_DEFINES = late_pattern(
    r"\b(defin\w*|meant|means|meaning|do(?:es)? [^?]*\bmean|calculat\w*|comput\w*|formula"
    r"|counts? (?:as|towards)|includ\w*|exclud\w*|leave out|left out|part of)\b"
)
_DATA = late_pattern(
    r"\b(how many|how much|how (?:large|big|high)|(?:amount|number|count) of|total|current(?:ly)?"
    r"|today|now|our|latest|was|were|did|do we have)\b"
)
_PRICED = late_pattern(
    r"\b(cost|costs|price|fee)\b"
)  # what a document states, not what rows add up to
_RANK = late_pattern(
    r"\b(top|bottom|highest|lowest|most|least|largest|smallest|best|worst|biggest|fewest|leading)\b"
)
_LOWEST = late_pattern(r"\b(bottom|lowest|least|smallest|worst|fewest)\b")
_CHANGE = late_pattern(
    r"\b(chang\w*|grow\w*|grew|increas\w*|decreas\w*|f[ae]ll|fallen|rise|rose|risen|drop\w*)\b"
)
_SHARE = late_pattern(r"\b(share|percentage|percent|proportion|fraction)\b")
_COMPARE = late_pattern(r"\b(compar\w*|versus|vs|than|differen\w*|gap)\b")
_TOGETHER = late_pattern(r"\b(together|combined|in total|altogether)\b")
_EACH = r"\b(?:by|per|each|every|across(?: all| the)?|split by|for all)(?: single| the)? "
_ASKED = r"\b(?:which|what|our|the|my|any) "
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
_LIMIT = late_pattern(rf"\b(\d{{1,2}}|{'|'.join(_COUNTS)})\b")
_VERBS = ("do", "does", "did", "is", "are", "was", "were", "have", "has", "can", "may", "must")
_TIMES = ("month", "quarter", "year")
_NEXT_PART = late_pattern(
    r"(?:, and|;)\s+(?=(?:\w+ ){0,4}?(?:how|what|which|who|when|where|why)\b)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuestion:
    """`filters`: (column, value) in the order of mention; `dimension`: a column, or a time unit."""

    stems: tuple[str, ...]
    defines: bool  # asks what a word means, not for a figure
    wants_data: bool
    counted: str | None  # the table whose rows "how many ..." asks for
    operation: Operation
    periods: tuple[Period, ...] = ()
    filters: tuple[tuple[str, str], ...] = ()
    dimension: str | None = None
    limit: int = 1
    lowest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The names in the database by which questions are read. Keys of both mappings are folded."""

    values: Mapping[str, tuple[str, str]]  # what is written -> (column, value)
    stems: frozenset[str]  # of all values
    dimensions: Mapping[str, str]  # what is written -> column or time unit
    tables: tuple[str, ...]
    value_pattern: re.Pattern[str]
    dimension_pattern: re.Pattern[str]
    today: str


def vocabulary_of(database: Database) -> Vocabulary:
    """Every value of a text column and every such column, singular and plural."""
    values = {
        form: (column, value)
        for column, known in database.values.items()
        for value in known
        for form in (plain(value), plain(value) + "s")
    }
    dimensions = {unit: unit for unit in _TIMES}
    dimensions |= {
        column.removesuffix("_name").replace("_", " "): column for column in database.values
    }
    dimensions |= {_plural(name): column for name, column in dimensions.items()}
    return Vocabulary(
        values=values,
        stems=frozenset(stems(" ".join(values))),
        dimensions=dimensions,
        tables=tuple(database.tables),
        value_pattern=_any_of(values),
        dimension_pattern=_any_of(dimensions),
        today=database.today,
    )


def parse_question(text: str, vocabulary: Vocabulary) -> ParsedQuestion:
    """The question as far as these rules understand it; nothing is ever refused."""
    folded = plain(text)
    values = tuple(vocabulary.values[m[0]] for m in vocabulary.value_pattern.finditer(folded))
    filters = tuple(dict.fromkeys(values))
    periods = find_periods(folded, today=vocabulary.today)
    grouped = re.search(_EACH + f"(?P<by>{vocabulary.dimension_pattern.pattern})", folded)
    named = grouped["by"] if grouped else _first(vocabulary.dimension_pattern, folded)
    dimension = vocabulary.dimensions[named] if named else None
    ranked = _RANK.search(folded) if dimension else None
    operation = _operation(folded, periods, filters, ranked=bool(ranked), grouped=bool(grouped))
    if len(periods) == 2 and operation not in ("change", "compare"):
        periods = (periods[0].until(periods[1]),)
    return ParsedQuestion(
        stems=stems(text),
        defines=bool(_DEFINES.search(folded)),
        wants_data=not _PRICED.search(folded)
        and bool(_DATA.search(folded) or periods or filters or operation != "value"),
        counted=_find_counted_table(folded, vocabulary.tables),
        operation=operation,
        periods=periods,
        filters=filters,
        dimension=dimension if operation in ("group", "rank") else None,
        limit=_limit(folded, ranked) if ranked else 1,
        lowest=bool(_LOWEST.search(folded)),
    )


def parts_of(text: str) -> tuple[str, ...]:
    """The questions that are put in one; a part like "and how high is it?" is none by itself."""
    parts = tuple(_NEXT_PART.split(text))
    return parts if all(len(stems(part)) > 1 for part in parts) else (text,)


def _operation(
    folded: str,
    periods: tuple[Period, ...],
    filters: tuple[tuple[str, str], ...],
    *,
    ranked: bool,
    grouped: bool,
) -> Operation:
    columns = [column for column, _ in filters]
    if len(periods) == 2 and _CHANGE.search(folded):
        return "change"
    if filters and _SHARE.search(folded):
        return "share"
    if len(columns) > len(set(columns)) and not _TOGETHER.search(folded):
        return "compare"
    if len(periods) == 2 and _COMPARE.search(folded):
        return "compare"
    if ranked:
        return "rank"
    return "group" if grouped else "value"


def _limit(folded: str, ranked: re.Match[str]) -> int:
    """The count in "top three", "3 best-selling" or "which two regions"; else 1."""
    beside = folded[ranked.end() :].split()[:1] + folded[: ranked.start()].split()[-1:]
    words = re.findall(_ASKED + r"(\w+)", folded)
    for word in beside + words:
        if _LIMIT.fullmatch(word):
            return max(1, _COUNTS.get(word) or int(word))
    return 1


def _find_counted_table(folded: str, tables: tuple[str, ...]) -> str | None:
    """The first table named after "how many", at most three words away."""
    for match in re.finditer(r"\bhow many ((?:\S+ ){0,3}\S+)", folded):
        named = [word.strip("?.,") for word in match[1].split()]
        for word in named:
            if word in tables:
                return word
            if word in _VERBS:
                break
    return None


def _plural(name: str) -> str:
    return name[:-1] + "ies" if name.endswith("y") else name + "s"


def _any_of(names: Mapping[str, object]) -> re.Pattern[str]:
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(r"\b(?:" + "|".join(map(re.escape, longest_first)) + r")\b")


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(text)
    return match[0] if match else None
