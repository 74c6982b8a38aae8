"""The numbers of an answer, in figures and in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gate.graders.claims.sources import Sources
from gate.graders.claims.spelled import find_spelled, nouns
from gate.graders.claims.units import join_compounds
from gate.text.numbers.measures import measure_of_word
from gate.text.numbers.number import LIMIT, Locale, Number
from gate.text.numbers.scanning import numbers

MOST = 5_000  # numbers of an answer, or of the sources, that are looked at
_COUNTED = re.compile(r"[ \u00a0-]([^\W\d_]{2,})")


def find_answer_numbers(answer: str, sources: Sources, locale: Locale) -> Sequence[Number]:
    """The numbers of the answer, those in words too where they count what the sources count."""
    found = join_compounds(answer, numbers(answer, locale)[:MOST])
    counted: list[frozenset[str]] = []

    def is_counted(noun: str) -> bool:
        if not counted:
            counted.append(_list_counted(sources))
        unit = measure_of_word(noun)
        return _singular(noun) in counted[0] or (unit is not None and str(unit) in counted[0])

    said = list(find_spelled(answer[:LIMIT], is_counted))
    if not said:
        return found
    taken = {k for one in found for k in (one.start, one.end)}
    said = [one for one in said if one.start not in taken][:MOST]
    return sorted((*found, *said), key=lambda one: one.start)


def _list_counted(sources: Sources) -> frozenset[str]:
    """What the sources count: the words right after their numbers, and the units."""
    kept: set[str] = set()
    for i, (where, one) in enumerate(sources.found[:MOST]):
        if after := _COUNTED.match(sources.texts[where], one.end):
            kept.add(_singular(after[1].lower()))
        if unit := sources.measure_of(i):
            kept.add(str(unit))
    for text in sources.texts:
        kept.update(map(_singular, nouns(text[:LIMIT])))
    return frozenset(kept)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word[-1] == "s" else word
