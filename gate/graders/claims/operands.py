"""Which numbers of the sources a sentence names by their labels."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from gate.graders.claims.labels import Words, conflict, names_of, periods
from gate.graders.claims.operations import Operand, operand
from gate.graders.claims.sources import Sources
from gate.text.numbers.currencies import currencies
from gate.text.numbers.measures import Measure, same_kind

_STOP = re.compile(r"[.?!\n]")
_MOST = 12
_FEW = 4


@dataclass(frozen=True)
class Labels:
    """The words around each number of the sources."""

    sources: Sources

    @cached_property
    def names(self) -> Words:
        return names_of(self.sources.texts)

    @cached_property
    def holders(self) -> dict[str, list[int]]:
        """Word -> numbers that have it in their label; a year is a word of other labels. A table
        and the sentence on it name the same operand.
        """
        holders: dict[str, list[int]] = defaultdict(list)
        once = set()
        for i, label in enumerate(self.sources.labels):
            number = self.sources.found[i][1]
            if number.maybe_date:
                continue
            if (key := (number.value, number.unit, label.near)) not in once:
                once.add(key)
                for word in label.every:
                    holders[word].append(i)
        return holders

    def named_by(
        self,
        some: Words,
        when: dict[str, set[str]],
        *,
        like: str | None = None,
        unit: Measure | None = None,
    ) -> Iterator[list[Operand]]:
        """The numbers whose labels share most of the words: all that share as many; where that is
        one only, also the next best ones; then all that share any, unless they are of another time.
        `like`: only those with this currency or none.
        """
        shared = self._shared(some)
        ranked: dict[int, list[Operand]] = defaultdict(list)
        every: list[Operand] = []
        for i in sorted(shared):
            number, label = self.sources.found[i][1], self.sources.labels[i]
            if like is not None and not (
                number.unit == like
                or (not number.unit and label.measure is None)
                or bool(currencies(number.unit) & currencies(like))
            ):
                continue
            if unit is not None and not same_kind(unit, label.measure):
                continue
            one = operand(number, label.measure, label, -1, i)
            ranked[shared[i]].append(one)
            if when and not conflict(periods(label.near), when):
                every.append(one)
        named: list[Operand] = []
        levels = [ranked[score] for score in sorted(ranked, reverse=True)[:2]]
        for level in levels:
            if len(named) < 2:
                named = [*named, *level]
        whole = [one for one in named if one.label and not _row(one.label.near) - some]
        if 1 < len(whole) < len(named):
            yield whole
        if named:
            yield named
        if (like or unit) and len(levels) > 1 and len(levels[1]) > 1:
            yield [one for one in levels[1] if not conflict(_periods(one), when)]
        if 1 < len(every) <= _MOST and len(every) != len(named):
            yield every
        for one in named[:2] if len(named) < 3 else ():
            for other in self._beside(one):
                yield [one, other]
        kept = {one.source: one for level in ranked.values() for one in level}
        firsts = list(dict.fromkeys(self._firsts(some, kept)))
        if 1 < len(firsts) <= _MOST:
            yield [kept[i] for i in firsts]

    @cached_property
    def _last(self) -> dict[Words, Mapping[int, int]]:
        return {}

    def _shared(self, some: Words) -> Mapping[int, int]:
        """Number -> how many of the words its label has."""
        if some not in self._last:
            self._last.clear()
            self._last[some] = Counter(i for word in some for i in self.holders.get(word, ()))
        return self._last[some]

    def _beside(self, one: Operand) -> Iterator[Operand]:
        """The numbers right before and after it in its sentence."""
        for i, share in ((one.source - 1, one.source), (one.source + 1, one.source + 1)):
            if not 0 <= i < len(self.sources.labels) or share >= len(self.sources.labels):
                continue
            if not self.sources.labels[share].earlier or self.sources.found[i][1].maybe_date:
                continue
            label = self.sources.labels[i]
            other = operand(self.sources.found[i][1], label.measure, label, -1, i)
            if other.kind == one.kind:
                yield other

    def _firsts(self, some: Words, kept: dict[int, Operand]) -> Iterator[int]:
        """For each of the words that few numbers have, the first number with it."""
        for word in some:
            holding = [i for i in self.holders.get(word, ()) if i in kept]
            if 0 < len(holding) <= _FEW and word in self.sources.labels[holding[0]].near:
                yield holding[0]


def _row(near: Words) -> Words:
    """A label without its times."""
    when = periods(near)
    return near.difference(*when.values()) if when else near


def _periods(one: Operand) -> dict[str, set[str]]:
    return periods(one.label.near) if one.label else {}


def stops(text: str) -> list[int]:
    """Where sentences begin; a point in a figure ends none."""
    found = (one.end() for one in _STOP.finditer(text))
    return [0, *(end for end in found if text[end - 1] == "\n" or text[end : end + 1].isspace())]
