"""Whether a claim is a right calculation, with operands and an operation that are named.

A free search would be blind: among 20 numbers some operation comes within 1 % of nearly any wrong
one. So an equation must stand in the answer, or words of the sentence or of the question must name
the operation, and its operands are numbers of the same sentence or those whose labels are named.
A change goes the way that the sentence says, from the base that it or the sources tell.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from gate.graders.claims.directions import direction, order_in_text, order_of_labels, way
from gate.graders.claims.equations import value_of
from gate.graders.claims.labels import Words, is_word, periods, words
from gate.graders.claims.operands import Labels, stops
from gate.graders.claims.operations import (
    CHANGE,
    DIFFERENCE,
    RATIO,
    SUM,
    TIMES,
    Asked,
    Operand,
    Operation,
    Result,
    operand,
    operations_named,
)
from gate.graders.claims.sources import Leeway, is_scaled, precision
from gate.graders.claims.spelled import TIMES as TIMES_UNIT
from gate.text.numbers.measures import Measure
from gate.text.numbers.number import PARTS, Number

_MOST = 12  # operands of one sentence
_REACH = 500  # characters of a sentence on each side of a claim that can name an operation
_JOINT = 90  # characters between two numbers of an equation
_CHAIN = 20  # operands of one equation
NEAR = max(_MOST, _CHAIN)  # places in the answer between a claim and what can be its operand
_SIGN = re.compile(
    r"[^\d=+*/×÷−-]{0,40}?(?:(?<=[\s)\]$])|^)(?P<sign>[+*/×÷−x·-]|\\times|\\div|\\cdot|plus|minus|times"
    r"|divided by|multiplied by)(?=[\s($\[€£]|$)[^\d=+*/×÷−]{0,40}"
)
_EQUALS = re.compile(r"[^\d=]{0,40}(?:=|≈|≅|\bequals|\bis|\bmakes|\bgives)[^\d=]{0,25}")
_OPENS = re.compile(r"[^\d=(.;!?\n]{0,30}(?:\(=?[\s$€£(]*|:[ ])")
CONSTANTS = frozenset((4.0, 7.0, 12.0, 24.0, 52.0, 60.0, 100.0, 365.0))  # of calendars and percent
_OF = re.compile(
    r"[ ]?(?:[\w'-]+ ){0,2}?(?:out )?of (?:the |its |their |our |all |a total of )*[$€£]?"
    r"|[ ]?/[ ]?|[ ]over[ ]"
)
_MULTIPLES = (
    (re.compile(r"\b(?:twice|doubl\w+|two times|two-fold)\b", re.IGNORECASE), 2.0),
    (re.compile(r"\b(?:tripl\w+|three times|thrice)\b", re.IGNORECASE), 3.0),
    (re.compile(r"\b(?:four times|quadrupl\w+)\b", re.IGNORECASE), 4.0),
    (re.compile(r"\b(?:half|halv\w+)\b", re.IGNORECASE), 0.5),
)
_POINTS = re.compile(r"points?|pp|bps?", re.IGNORECASE)
# "25 mm in two days (22 mm and 3 mm)"
_LISTED = re.compile(
    r"[^\d(.;!?\n]{0,40}\([^()\n]{0,60}?\d[^()\n]{0,60}?(?:,|\band\b|\+|plus)[^()\n]{0,60}?\d"
)
_PER = re.compile(r"\b(?:per|each|every|apiece)\b", re.IGNORECASE)
_THAN = re.compile(r"\b(?:than|over|against|compared (?:with|to)|versus|vs)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Arithmetic:
    """The claims of one answer; `known` grows as they turn out right."""

    answer: str
    question: str
    numbers: Sequence[Number]  # all of the answer
    units: Sequence[Measure | None]  # of each
    known: set[int]  # indexes of those that the sources state, or that are calculated from them
    stating: Mapping[int, Sequence[int]]  # index -> the numbers of the sources that state it
    asked: Sequence[Number]  # numbers of the question
    labels: Labels
    leeway: Leeway
    names: Callable[[], Words]  # that end in a figure: "aero 13"

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
        k = i + 1
        while k < len(self.numbers) and k < i + 4 and self.numbers[k].maybe_date:
            k += 1
        if k < len(self.numbers):
            between = self.answer[self.numbers[k - 1].end : self.numbers[k].start]
            if self._link(k - 1) == "=" or _OPENS.fullmatch(between):
                chains.append(self._chain(k, 1))
        for chain in chains:
            value = self._value(chain)
            if value is None:
                continue
            hundred = any(self.numbers[k].value == 100 for k in chain)
            claim = self.numbers[i]
            if any(self._is(i, Result(value, part)) for part in (False, True)) or (
                hundred and claim.unit == "%" and self._is(i, Result(value / 100, True))
            ):
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
        """None: an operand nobody knows, or no expression."""
        if len(chain) < 2:
            return None
        amounts: list[float] = []
        for k in chain:
            number = self.numbers[k]
            if not self._may_be_operand(k, number):
                return None
            amounts.append(number.value / PARTS.get(number.unit, 1.0))
        first, last = self.numbers[chain[0]], self.numbers[chain[-1]]
        gaps = [
            self.answer[max(0, first.start - 12) : first.start],
            *(self.answer[self.numbers[k].end : self.numbers[k + 1].start] for k in chain[:-1]),
            self.answer[last.end : last.end + 4],
        ]
        return value_of(amounts, [self._link(k) for k in chain[:-1]], gaps)

    def _may_be_operand(self, k: int, number: Number) -> bool:
        if k in self.known or (number.value in CONSTANTS and not number.unit):
            return True
        return not number.unit and (number.value, number.step) in self._without_scale

    @cached_property
    def _without_scale(self) -> frozenset[tuple[float, float]]:
        """412 of $412k: an equation may leave the thousands away."""
        found = set()
        for _, one in self.labels.sources.found[:5_000]:
            for power in (1e3, 1e6, 1e9):
                if one.text and one.text[-1].isalpha() and abs(one.value) >= power:
                    found.add((round(one.value / power, 9), round(one.step / power, 9)))
        return frozenset(found)

    # ----------------------------------------------------------------------- named operations

    @cached_property
    def _stops(self) -> list[int]:
        return stops(self.answer)

    def sentence(self, at: int, *, back: int = 0) -> tuple[int, int]:
        """Where the sentence around `at` begins and ends, with `back` sentences before it."""
        k = bisect_right(self._stops, at)
        end = self._stops[k] if k < len(self._stops) else len(self.answer)
        return self._stops[max(0, k - 1 - back)], end

    def _named(self, i: int) -> bool:
        claim = self.numbers[i]
        begin, end = self.sentence(claim.start)
        begin, end = max(begin, claim.start - _REACH), min(end, claim.start + _REACH)
        sentence = self.answer[begin:end]
        sense = direction(self.answer, claim, begin, end)
        operations = self._operations(i, sentence, sense)
        factors = [factor for said, factor in _MULTIPLES if said.search(sentence)]
        if not operations and not factors:
            return False
        asked = Asked(
            sense, _Order(self, sentence[claim.end - begin :], sentence[: claim.start - begin])
        )
        for operands in self._operands(i, sentence, begin, end):
            for operation in operations:
                some = _of_kind(operands, operation, claim, self.units[i])
                if any(self._is(i, result) for result in operation.results(some, asked)):
                    return True
            for factor in factors if claim.unit != TIMES_UNIT else ():
                if any(
                    self._is(i, Result(one.amount * factor, one.kind == "%", one.unit))
                    for one in operands
                ):
                    return True
        return False

    def _operations(self, i: int, sentence: str, sense: int) -> list[Operation]:
        claim = self.numbers[i]
        if claim.unit == TIMES_UNIT:
            return [TIMES]
        named = list(operations_named(sentence))
        named += [one for one in operations_named(self.question) if one not in named]
        if claim.unit in PARTS:
            points = claim.unit in ("bp", "pp") or _POINTS.search(claim.text)
            if points:
                return [one for one in named if one is not CHANGE and one is not RATIO] or [
                    DIFFERENCE
                ]
            begin, end = self.sentence(claim.start, back=1)
            beside = [k for k in self._inside(begin, end, i) if k != i and k in self.known]
            if sum(self.numbers[k].unit == claim.unit for k in beside) < 2:
                named = [one for one in named if one is not DIFFERENCE]  # points are no per cent
            if self._of_pair(i) and RATIO not in named:
                named.append(RATIO)
        if SUM not in named and _LISTED.match(self.answer, claim.end):
            named.append(SUM)
        return named

    def _of_pair(self, i: int) -> list[int]:
        """ "(11 of 20)", nearest to the claim."""
        at = self.numbers[i].start
        begin, end = self.sentence(at)
        inside = self._inside(begin, end, i)
        pairs = [
            (min(abs(self.numbers[k].start - at), abs(self.numbers[k + 1].start - at)), k)
            for k in inside
            if k + 1 in inside
            and i not in (k, k + 1)
            and self.numbers[k].unit not in PARTS
            and _OF.fullmatch(self.answer, self.numbers[k].end, self.numbers[k + 1].start)
        ]
        return [min(pairs)[1], min(pairs)[1] + 1] if pairs else []

    def _operands(self, i: int, sentence: str, begin: int, end: int) -> Iterator[list[Operand]]:
        """From the nearest to the farthest: numbers of the sentence, of the one before too, of the
        question, those that the sentence or the question name by their labels. A sentence that has
        two operands of its own is not looked beyond.
        """
        claim = self.numbers[i]
        if claim.unit == "%" and (pair := self._of_pair(i)) and all(k in self.known for k in pair):
            yield [self._own(k) for k in pair]
            return
        here = self._within(i, begin, end)
        alike = [one for one in here if one.kind != "%" or claim.unit in PARTS]
        bound = [[a, b] for a, b in pairwise(here) if way(self.answer, a.number, b.number)]
        yield from bound
        if len(alike) > 1:
            yield alike
            before = [one for one in alike if one.place < i]
            if 1 < len(before) < len(alike):
                yield before
            kinds = {one.kind for one in alike} - {""}
            for kind in kinds if len(kinds) > 1 else ():
                some = [one for one in alike if one.kind in (kind, "")]
                if len(some) > 1:
                    yield some
            return
        earlier = self._within(i, *self.sentence(claim.start, back=1))
        if len(earlier) > len(here):
            yield earlier
        if len(self.asked) > 1:
            yield [operand(one, None) for one in self.asked if not one.maybe_date][:_MOST]
        said = words(sentence)
        scope = said | words(self.question)
        when = periods(said) or periods(scope)
        like = claim.unit if claim.unit not in PARTS and claim.unit != TIMES_UNIT else None
        if _PER.search(sentence):
            yield from self.labels.named_by(scope, when)
        for some in self.labels.named_by(scope, when, like=like, unit=self.units[i]):
            if here:
                mine = here[0]
                others = [one for one in some if one.amount != mine.amount]
                for other in others[:4]:
                    yield [mine, other]
            if len(some) > 1:
                yield some
        literal = [*here, *(operand(one, None) for one in self.asked)][:2]
        if literal and like is not None:
            for some in self.labels.named_by(scope, when):
                if len(some) <= 2:
                    both = {(one.amount, one.kind): one for one in (*literal, *some)}
                    yield list(both.values())

    def _within(self, i: int, begin: int, end: int) -> list[Operand]:
        some = [k for k in self._inside(begin, end, i) if k != i and k in self.known]
        counted = (k for k in some if not is_word(self.answer, self.numbers[k], self.names))
        return [self._own(k) for k in counted][:_MOST]

    def _own(self, k: int) -> Operand:
        """Number k of the answer; its unit and label are those of what states it."""
        stating = [one for one in self.stating.get(k, ()) if one >= 0]
        source = stating[0] if stating else -1
        label = self.labels.sources.label_of(source) if source >= 0 else None
        unit = self.units[k] or (label.measure if label else None)
        return operand(self.numbers[k], unit, label, k, source)

    def _inside(self, begin: int, end: int, i: int) -> range:
        starts = self._starts
        inside = range(bisect_left(starts, begin), bisect_left(starts, end))
        return range(max(inside.start, i - _MOST), min(inside.stop, i + _MOST + 1))

    @cached_property
    def _starts(self) -> list[int]:
        return [number.start for number in self.numbers]

    @cached_property
    def _precisions(self) -> dict[int, float]:
        return {}

    def _is(self, i: int, result: Result) -> bool:
        """Whether the result is claim i, to the precision of the claim."""
        claim, unit = self.numbers[i], self.units[i]
        parts = PARTS.get(claim.unit)
        if bool(parts) is not result.part:
            return False
        want = abs(result.value) * (parts or 1.0)
        if unit is not None and result.unit is not None and unit.dimension == result.unit.dimension:
            want *= result.unit.factor / unit.factor
        if i not in self._precisions:
            self._precisions[i] = precision(claim, self.answer)
        scales = self.labels.sources.scales if is_scaled(claim) else ()
        return any(
            abs(abs(claim.value) / scale - want)
            <= self.leeway.of(self._precisions[i] / scale, want)
            for scale in (1.0, *scales)
        )


@dataclass(frozen=True, slots=True)
class _Order:
    """Which of two operands is the base: as the sentence says, then as the sources do."""

    of: Arithmetic
    after: str  # the claim
    before: str

    def __call__(self, a: Operand, b: Operand) -> int:
        if a.place >= 0 and b.place >= 0:
            x, y, turn = (a, b, 1) if a.place < b.place else (b, a, -1)
            if y.place - x.place <= 2 and (told := way(self.of.answer, x.number, y.number)):
                return told * turn
        if told := self._compared(a, b):
            return told
        if a.label and b.label and (told := order_of_labels(a.label, b.label)):
            return told
        sources = self.of.labels.sources
        if (
            a.source >= 0
            and b.source >= 0
            and sources.found[a.source][0] == sources.found[b.source][0]
        ):
            text = sources.texts[sources.found[a.source][0]]
            x, y, turn = (a, b, 1) if a.source < b.source else (b, a, -1)
            return turn * order_in_text(
                text, sources.found[x.source][1], sources.found[y.source][1]
            )
        return 0

    def _compared(self, a: Operand, b: Operand) -> int:
        """ "East has 5 more than West": the base stands after "than"."""
        found = _THAN.search(self.after)
        if not found or not (a.label and b.label):
            return 0
        base = words(self.after[found.end() :])
        subject = words(self.before + " " + self.after[: found.start()]) - base
        only_a, only_b = a.label.near - b.label.near, b.label.near - a.label.near
        if only_a & base and not only_b & base and not only_a & subject:
            return 1
        if only_b & base and not only_a & base and not only_b & subject:
            return -1
        return 0


def _of_kind(
    some: list[Operand], operation: Operation, claim: Number, unit: Measure | None
) -> list[Operand]:
    """For sums, averages and differences those of the claim's kind."""
    if operation.name not in ("sum", "average", "difference"):
        if claim.unit == "%" and operation is CHANGE:
            return _mostly(some)
        return some
    if claim.unit in PARTS:
        return [one for one in some if one.kind == "%"]
    kept = [one for one in some if one.kind != "%"]
    if claim.unit:
        return [one for one in kept if one.kind in ("money", "")]
    if unit is not None:
        return [one for one in kept if one.kind in (unit.dimension, "")]
    return kept


def _mostly(some: list[Operand]) -> list[Operand]:
    plain = [one for one in some if one.kind != "%"]
    return plain if len(plain) > 1 else some


def _joint(between: str) -> str:
    if sign := _SIGN.fullmatch(between):
        return sign["sign"]
    return "=" if _EQUALS.fullmatch(between) else ""
