"""What is known of the numbers of one answer while its claims are checked."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gate.graders.claims.labels import Words
from gate.graders.claims.operands import Labels
from gate.graders.claims.operations import Operand, operand
from gate.graders.claims.sentences import Sentences
from gate.graders.claims.sources import Leeway
from gate.text.numbers.measures import Measure
from gate.text.numbers.number import Number


@dataclass(frozen=True)
class Working:
    """The numbers of one answer; `known` grows as claims turn out right."""

    answer: str
    sentences: Sentences  # of the answer
    question: str
    numbers: Sequence[Number]  # all of the answer
    units: Sequence[Measure | None]  # of each
    known: set[int]  # indexes of those that the sources state, or that are calculated from them
    stating: Mapping[int, Sequence[int]]  # index -> the numbers of the sources that state it
    doubted: dict[int, str]  # index -> why; of some known ones
    asked: Sequence[Number]  # numbers of the question
    labels: Labels
    leeway: Leeway
    names: Callable[[], Words]  # that end in a figure: "aero 13"

    def add(self, i: int) -> None:
        """Number i is right, and so is each that says the same."""
        one, unit = self.numbers[i], self.units[i]
        said = one[:2]
        for k, other in enumerate(self.numbers):
            if other[:2] == said or (unit and _is_converted(one, unit, other, self.units[k])):
                self.known.add(k)

    def own(self, k: int) -> Operand:
        """Number k of the answer; its unit and label are those of what states it."""
        if k not in self._owned:
            self._owned[k] = self._make_own(k)
        return self._owned[k]

    @cached_property
    def _owned(self) -> dict[int, Operand]:
        return {}

    def _make_own(self, k: int) -> Operand:
        stating = [one for one in self.stating.get(k, ()) if one >= 0]
        source = stating[0] if stating else -1
        label = self.labels.sources.label_of(source) if source >= 0 else None
        unit = self.units[k] or (label.measure if label else None)
        return operand(self.numbers[k], unit, label, k, source)

    def inside(self, begin: int, end: int, around: int, most: int) -> range:
        """The numbers between two places, at most so many before and after number `around`."""
        low, high = bisect_left(self._starts, begin), bisect_left(self._starts, end)
        return range(max(low, around - most), min(high, around + most + 1))

    @cached_property
    def _starts(self) -> list[int]:
        return [number.start for number in self.numbers]


def _is_converted(one: Number, unit: Measure, other: Number, its: Measure | None) -> bool:
    """ "1,600 mg" and "1.6 g"."""
    if its is None or its.dimension != unit.dimension:
        return False
    return math.isclose(other.value * its.factor, one.value * unit.factor, rel_tol=1e-9)
