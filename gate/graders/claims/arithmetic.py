"""Whether a claim is a right calculation, with operands and an operation that are named.

A free search would be blind: among 20 numbers some operation comes within 1 % of nearly any wrong
one. So an equation must stand in the answer, or words of the sentence or of the question must name
the operation, and its operands are numbers of the same sentence or those whose labels are named.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from gate.graders.claims.operands import Labels, content_words, stops
from gate.graders.claims.operations import Result, operations_named
from gate.graders.claims.sources import Leeway, precision
from gate.text.numbers.number import PARTS, Number

_MOST = 12  # operands of one sentence
_REACH = 500  # characters of a sentence on each side of a claim that can name an operation
_JOINT = 90  # characters between two numbers of an equation
_CHAIN = 20  # operands of one equation
NEAR = max(_MOST, _CHAIN)  # places in the answer between a claim and what can be its operand
_SIGN = re.compile(
    r"[^\d=+*/×÷−-]{0,40}?(?:(?<=[\s)\]$])|^)(?P<sign>[+*/×÷−x·-]|\\times|\\div|\\cdot|plus|minus|times"
    r"|divided by|multiplied by)(?=[\s($\[]|$)[^\d=+*/×÷−]{0,40}"
)
_EQUALS = re.compile(r"[^\d=]{0,40}(?:=|≈|≅|\bequals|\bis|\bmakes|\bgives)[^\d=]{0,25}")
_TIGHT = {"*", "/", "×", "÷", "x", "·", "\\times", "\\div", "\\cdot", "times"}
_TIGHT |= {"divided by", "multiplied by"}
_OVER = {"/", "÷", "\\div", "divided by"}
_LESS = {"-", "−", "minus"}
CONSTANTS = frozenset((4.0, 7.0, 12.0, 24.0, 52.0, 60.0, 100.0, 365.0))  # of calendars and percent


@dataclass(frozen=True)
class Arithmetic:
    """The claims of one answer; `known` grows as they turn out right."""

    answer: str
    question: str
    numbers: Sequence[Number]  # all of the answer
    known: set[int]  # indexes of those that the sources state, or that are calculated from them
    asked: Sequence[Number]  # numbers of the question
    labels: Labels
    leeway: Leeway

    def explains(self, i: int) -> bool:
        """Whether number i of the answer is a right calculation that is named."""
        return self._equation(i) or self._named(i)

    # ------------------------------------------------------------------------------- equations

    @cached_property
    def _links(self) -> dict[int, str]:
        return {}

    def _link(self, i: int) -> str:
        """What stands between number i and the next: an operator, "=", or neither ("")."""
        if i not in self._links:
            between = self.answer[self.numbers[i].end : self.numbers[i + 1].start]
            self._links[i] = _joint(between) if len(between) <= _JOINT else ""
        return self._links[i]

    def _equation(self, i: int) -> bool:
        """ "300 + 200 = 500", "500 = 300 + 200", "500 (300 + 200)"."""
        chains = [self._chain(i - 1, -1)] if i and self._link(i - 1) == "=" else []
        if i + 1 < len(self.numbers):
            between = self.answer[self.numbers[i].end : self.numbers[i + 1].start]
            if self._link(i) == "=" or between.strip() in ("(", "(=", ": "):
                chains.append(self._chain(i + 1, 1))
        for chain in chains:
            value = self._value(chain)
            if value is None:
                continue
            if any(self._is(i, Result(value, part)) for part in (False, True)):
                self.known.update(chain)
                return True
        return False

    def _chain(self, at: int, step: int) -> range:
        """Numbers joined by operators, from `at` on in the direction of `step`."""
        end = at
        while abs(end - at) < _CHAIN and 0 <= end + step < len(self.numbers):
            if self._link(min(end, end + step)) in ("", "="):
                break
            end += step
        return range(min(at, end), max(at, end) + 1)

    def _value(self, chain: range) -> float | None:
        """Multiplications first; brackets are not read. None: an operand nobody knows."""
        if len(chain) < 2:
            return None
        terms: list[float] = []
        for k in chain:
            sign = self._link(k - 1) if k > chain[0] else "+"
            number = self.numbers[k]
            if k not in self.known and not (number.value in CONSTANTS and not number.unit):
                return None
            value = number.value / PARTS.get(number.unit, 1.0)
            if sign in _OVER and not value:
                return None
            if sign in _TIGHT:
                terms[-1] = terms[-1] / value if sign in _OVER else terms[-1] * value
            else:
                terms.append(-value if sign in _LESS else value)
        return sum(terms)

    # ----------------------------------------------------------------------- named operations

    @cached_property
    def _stops(self) -> list[int]:
        return stops(self.answer)

    def _sentence(self, at: int, *, back: int = 0) -> tuple[int, int]:
        """Where the sentence around `at` begins and ends, with `back` sentences before it."""
        k = bisect_right(self._stops, at)
        end = self._stops[k] if k < len(self._stops) else len(self.answer)
        return self._stops[max(0, k - 1 - back)], end

    def _named(self, i: int) -> bool:
        at = self.numbers[i].start
        begin, end = self._sentence(at)
        sentence = self.answer[max(begin, at - _REACH) : min(end, at + _REACH)]
        named = operations_named(sentence)
        operations = [*named, *(one for one in operations_named(self.question) if one not in named)]
        return any(
            self._is(i, result)
            for operands in (self._operands(i, sentence) if operations else ())
            for operation in operations
            for result in operation.results(operands)
        )

    def _operands(self, i: int, sentence: str) -> Iterator[list[Number]]:
        """From the nearest to the farthest: numbers of the sentence, of the one before too, of the
        question, those that the sentence or the question name by their labels.
        """
        here = self._within(i, *self._sentence(self.numbers[i].start))
        if len(here) > 1:
            yield here
        else:
            yield self._within(i, *self._sentence(self.numbers[i].start, back=1))
        if len(self.asked) > 1:
            yield [one for one in self.asked if not one.maybe_date][:_MOST]
        scope = content_words(self.question) | content_words(sentence)
        labelled = self.labels.named_by(scope)
        yield labelled
        if self.numbers[i].unit not in PARTS:
            yield self.labels.named_by(scope, like=self.numbers[i])
        literal = [*here, *self.asked][:2]
        if literal and len(labelled) <= 2:
            both = {(one.value, one.unit): one for one in (*literal, *labelled)}
            yield list(both.values())

    def _within(self, i: int, begin: int, end: int) -> list[Number]:
        starts = self._starts
        inside = range(bisect_left(starts, begin), bisect_left(starts, end))
        near = range(max(inside.start, i - _MOST), min(inside.stop, i + _MOST + 1))
        known = [self.numbers[k] for k in near if k != i and k in self.known]
        return [one for one in known if not one.maybe_date][:_MOST]

    @cached_property
    def _starts(self) -> list[int]:
        return [number.start for number in self.numbers]

    @cached_property
    def _precisions(self) -> dict[int, float]:
        return {}

    def _is(self, i: int, result: Result) -> bool:
        """Whether the result is claim i, to the precision of the claim."""
        claim = self.numbers[i]
        parts = PARTS.get(claim.unit)
        if bool(parts) is not result.part:
            return False
        want = abs(result.value) * (parts or 1.0)
        if i not in self._precisions:
            self._precisions[i] = precision(claim, self.answer)
        return abs(abs(claim.value) - want) <= self.leeway.of(self._precisions[i], want)


def _joint(between: str) -> str:
    if sign := _SIGN.fullmatch(between):
        return sign["sign"]
    return "=" if _EQUALS.fullmatch(between) else ""
