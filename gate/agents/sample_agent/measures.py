"""Measures as the documents define them: the agent counts what a retrieved definition says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from gate.agents.sample_agent.bm25 import stems
from gate.agents.sample_agent.documents import KnowledgePage
from gate.text.late_pattern import late_pattern

_CALCULATION = late_pattern(
    r"Calculation: `(?P<expression>[^`]+)` over `(?P<table>\w+)`"
    r"(?: where `(?P<condition>[^`]+)`)?(?:, dated by `(?P<date>\w+)`)?, in (?P<unit>\w+)\."
)
_PARAMETER = late_pattern(r"Parameter: `:(?P<name>\w+)` is the (?P<phrase>[^.]+)\.")
_ALIASES = late_pattern(r"Also called: ([^.]+)\.")
_NUMBER = late_pattern(r"(\d[\d,]*(?:\.\d+)?)( [a-z]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureDefinition:
    """What to compute over one table. `page` is None when no document defines it.

    `condition` may hold `:as_of`, `:start`, `:end` and the `parameter`, whose value stands in
    another document beside the words of `phrase`.
    """

    name: str
    names: tuple[tuple[str, ...], ...]  # stems of the title and of the other names
    page: str | None
    expression: str
    table: str
    condition: str | None = None
    date_column: str | None = None
    unit: str
    parameter: str | None = None
    phrase: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedLimit:
    """The value of a measure's parameter, as its page states it: "40 days"."""

    value: float
    stated: str
    page: str


@cache
def measure_of(page: KnowledgePage) -> MeasureDefinition | None:
    """The measure that a document defines; None when it holds no calculation."""
    text = " ".join(page.text.split())
    match = _CALCULATION.search(text)
    if match is None:
        return None
    aliases, parameter = _ALIASES.search(text), _PARAMETER.search(text)
    others = aliases[1].split(",") if aliases else []
    return MeasureDefinition(
        name=page.title,
        names=tuple(stems(name) for name in (page.title, *others)),
        page=page.id,
        expression=match["expression"],
        table=match["table"],
        condition=match["condition"],
        date_column=match["date"],
        unit=match["unit"],
        parameter=parameter["name"] if parameter else None,
        phrase=parameter["phrase"] if parameter else None,
    )


def find_measure(
    pages: Iterable[KnowledgePage], question: Sequence[str]
) -> MeasureDefinition | None:
    """The measure whose name stands in the question, as stems; the longest name wins, then rank.

    A name in one piece beats one whose words are scattered ("first replies that were late").
    """
    best, fit = None, (0, 0)
    for page in pages:
        measure = measure_of(page)
        for name in measure.names if measure else ():
            is_named = _contains(question, name)
            scattered = len(name) > 1 and set(name) <= set(question)
            if (is_named or scattered) and (int(is_named), len(name)) > fit:
                best, fit = measure, (int(is_named), len(name))
    return best


def row_count(pages: Iterable[KnowledgePage], table: str) -> MeasureDefinition:
    """Counting the rows of a table: as a retrieved document says, else without any definition."""
    for page in pages:
        measure = measure_of(page)
        if measure is None or measure.condition is not None:
            continue
        if (measure.table, measure.expression) == (table, "count(*)"):
            return measure
    return MeasureDefinition(
        name=f"Number of {table}",
        names=(),
        page=None,
        expression="count(*)",
        table=table,
        unit=table,
    )


def find_limit(pages: Iterable[KnowledgePage], phrase: str) -> StatedLimit | None:
    """The first number in a sentence that has the words of `phrase`; pages in their order."""
    wanted = stems(phrase)
    for page in pages:
        for sentence in page.sentences():
            number = _NUMBER.search(sentence)
            if number and _contains(stems(sentence), wanted):
                value = float(number[1].replace(",", ""))
                return StatedLimit(value=value, stated=number[0], page=page.id)
    return None


def _contains(words: Sequence[str], wanted: Sequence[str]) -> bool:
    size = len(wanted)
    return any(tuple(words[i : i + size]) == tuple(wanted) for i in range(len(words) - size + 1))
