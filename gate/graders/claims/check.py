"""Each numeric claim of an answer: stated by its sources, calculated from them, or open."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gate.graders.claims.arithmetic import NEAR, Arithmetic
from gate.graders.claims.operands import Labels
from gate.graders.claims.sources import Leeway, Sources
from gate.text.numbers.number import LIMIT, Locale, Number
from gate.text.numbers.scanning import numbers

_MOST = 5_000  # numbers of an answer that are looked at
_PASSES = 3  # a calculated number can be the operand of another one
_QUESTION = 4_000  # characters of it that can name operations and operands; the last ones
_MOST_CALCULATED = 200  # open claims that are tried as calculations; a text of figures has no more
# "Step 3", "Table 4.2", "page 12": a place, not a quantity.
_REFERENCE = re.compile(
    r"\b(?:step|figure|fig\.|table|section|chapter|page|appendix|footnote|item|option|question"
    r"|example|note|rule|line|article|paragraph|no\.|number|part)[ \u00a0]\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What the sources say of an answer's numeric claims."""

    stated: tuple[Number, ...] = ()
    calculated: tuple[Number, ...] = ()
    open: tuple[Number, ...] = ()

    @property
    def total(self) -> int:
        return len(self.stated) + len(self.calculated) + len(self.open)


def check(
    answer: str,
    question: str,
    context: Sequence[str],
    *,
    leeway: Leeway,
    locale: Locale = "en",
) -> Checked:
    """Years, days of a month and references ("Step 3") are no claims."""
    found = numbers(answer, locale)[:_MOST]
    sources = Sources(context, locale)
    asked = Sources((question[:LIMIT],), locale)
    known = {
        i
        for i, one in enumerate(found)
        if sources.states(one, answer, leeway) or asked.states(one, answer, leeway)
    }
    claims = [
        i for i, one in enumerate(found) if not (one.maybe_date or _is_reference(answer, one))
    ]
    stated = [i for i in claims if i in known]
    if len(stated) < len(claims):
        arithmetic = Arithmetic(
            answer=answer,
            question=question[-_QUESTION:],
            numbers=found,
            known=known,
            asked=[one for _, one in asked.found],
            labels=Labels(sources),
            leeway=leeway,
        )
        _calculate(arithmetic, claims)
    right = set(stated)
    return Checked(
        stated=tuple(found[i] for i in stated),
        calculated=tuple(found[i] for i in claims if i in known and i not in right),
        open=tuple(found[i] for i in claims if i not in known),
    )


def _calculate(arithmetic: Arithmetic, claims: Sequence[int]) -> None:
    """A claim is tried again only where one near it has become an operand."""
    tried = [i for i in claims if i not in arithmetic.known]
    for _ in range(_PASSES):
        right = []
        for i in tried[:_MOST_CALCULATED]:
            if arithmetic.explains(i):
                arithmetic.known.add(i)
                right.append(i)
        tried = [
            i for i in tried if i not in arithmetic.known and any(abs(i - k) <= NEAR for k in right)
        ]
        if not tried:
            return


def _is_reference(answer: str, number: Number) -> bool:
    return bool(
        not number.unit and _REFERENCE.search(answer, max(0, number.start - 12), number.start)
    )
