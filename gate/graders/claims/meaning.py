"""Whether a sentence of an answer means an operation with two operands that gives its number.

The words of the sentence must name the operands, and the less precise the number is, the more of
the operation must be named too. A change goes the way that the sentence says, from the base that it
or the sources tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from gate.graders.claims.directions import direction, order_in_text, order_of_labels, way
from gate.graders.claims.labels import Words, conflict, periods, words
from gate.graders.claims.operands import WHOLE, Whole
from gate.graders.claims.operations import (
    AVERAGE,
    CALENDAR,
    CHANGE,
    DIFFERENCE,
    PRODUCT,
    RATIO,
    SUM,
    Operand,
    Operation,
    base,
)
from gate.graders.claims.search import Target
from gate.graders.claims.working import Working
from gate.text.numbers.currencies import currencies
from gate.text.numbers.measures import Measure
from gate.text.numbers.number import Number

_CALENDAR_VALUES = frozenset(value for _, value in CALENDAR)
_SHARP = 0.006  # a claim known so well, relative to its size, is hardly met by chance
_TYPED = 3  # times as much for one with a measuring unit, which fewer operands have
_POINTS = re.compile(r"points?|pp|bps?", re.IGNORECASE)
_RANGED = re.compile(r"(?: to |\u2013)\d")
_THAN = re.compile(r"\b(?:than|over|against|compared (?:with|to)|versus|vs)\b", re.IGNORECASE)
_GENERIC = frozenset(("total", "all", "overall", "whole", "sum"))
IN_IT, BY_WORDS, AROUND, BY_UNIT = 3, 2, 1, 0  # how surely a sentence speaks of an operand
Level = int
Pool = Sequence[tuple[Operand, Level]]


@dataclass(frozen=True)
class Told:
    """What a sentence of the answer says, and what it names."""

    begin: int
    end: int
    before: int  # where the sentence before it begins
    said: Words
    wide: Words  # those of the question and of the sentence before it too
    named: Sequence[Operation]
    asked: Sequence[Operation]
    when: dict[str, set[str]]  # the years, months, ... of the sentence, else of the question
    by_question: bool  # the sentence names nothing, so that the question does
    constants: Pool
    wholes: Sequence[tuple[Whole, Level]]

    def names(self, one: Operation) -> bool:
        return one in self.named or one in self.asked


@dataclass(frozen=True)
class Claim:
    """One claim in its sentence."""

    working: Working
    told: Told
    number: Number
    unit: Measure | None
    own_kinds: frozenset[str] = frozenset()  # of which its sentence has two numbers itself

    @cached_property
    def sense(self) -> int:
        return direction(self.working.answer, self.number, self.told.begin, self.told.end)

    @cached_property
    def order(self) -> Callable[[Operand, Operand], int]:
        answer, told = self.working.answer, self.told
        return _Order(
            self.working,
            answer[self.number.end : told.end],
            answer[told.begin : self.number.start],
        )

    @cached_property
    def rated(self) -> bool:
        """Whether the sources have a number with the claim's unit that the sentence speaks of."""
        labels = self.working.labels
        held = (i for word in self.told.said for i in labels.holders.get(word, ()))
        return any(labels.sources.found[i][1].unit == self.number.unit for i in held)

    @cached_property
    def looked_up(self) -> bool:
        """Whether the sources have just what the sentence speaks of, as another number."""
        found, labels = self.working.labels.sources.found, self.working.labels
        held = {i for word in self.told.said for i in labels.holders.get(word, ())}
        return any(
            len(rest := _drop_times(labels.sources.labels[i].near)) > 1 and rest <= self.told.said
            for i in held
            if found[i][1].unit == self.number.unit and not labels.sources.labels[i].shares
        )


class _Pair(NamedTuple):
    """Two operands that give the claim by an operation, and how surely the sentence means them."""

    claim: Claim
    target: Target
    a: Operand
    b: Operand
    lower: Level
    upper: Level
    sharp: bool
    together: bool  # in one sentence or row of the sources
    unsaid_a: bool  # no word that tells it from the other operand is said
    unsaid_b: bool

    @property
    def by_calendar(self) -> bool:
        """Whether one of them is how many months a year has, days a week, ..."""
        return any(not one.number.text and one.amount in _CALENDAR_VALUES for one in self[2:4])

    @property
    def crosses(self) -> bool:
        """Whether they are cells of a table in two rows and two columns."""
        a, b = (one.label.series if one.label else None for one in (self.a, self.b))
        return bool(a and b and a != b) and not self.together

    def names(self, one: Operation) -> bool:
        return one in self.claim.told.named

    def asks(self, one: Operation) -> bool:
        return self.claim.told.names(one)


def is_meant(
    claim: Claim,
    target: Target,
    name: str,
    one: tuple[Operand, Level],
    other: tuple[Operand, Level],
) -> bool:
    """Whether the sentence of a claim means the operation that gives it with two operands."""
    (a, la), (b, lb) = one, other
    lower, upper = min(la, lb), max(la, lb)
    if not _may_meet(a, b, name):
        return False
    loose = _SHARP * (_TYPED if claim.unit is not None else 1) * target.value
    by_question = claim.told.by_question and name in ("product", "quotient", "sum")
    sharp = target.allowed <= loose and not by_question
    if name in ("product", "quotient", "ratio") and any(
        one.place < 0 and conflict(_periods(one), claim.told.when) for one in (a, b)
    ):
        return False  # of another month than the one that is told
    compares = name in ("ratio", "change", "difference")
    within = compares and {a.kind, b.kind} <= claim.own_kinds
    if within and not sharp and -1 in (a.place, b.place):
        return False  # a sentence with two of its own is not looked beyond
    together = a.source >= 0 and b.source in claim.working.labels.beside(a.source)
    if name in ("product", "quotient"):
        if b.amount == 1 or _is_ranged(claim.working, b):
            return False
        named = lower >= AROUND or (la == BY_UNIT and a.kind == target.kind)
        if not named if sharp else lower < BY_WORDS:
            return False
    elif lower < BY_WORDS and not (lower == AROUND and (sharp or (together and not claim.rated))):
        return False
    apart_a, apart_b = _apart(a, b)
    wide = claim.told.wide
    unsaid_a = a.place < 0 and bool(apart_a) and apart_a.isdisjoint(wide)
    unsaid_b = b.place < 0 and bool(apart_b) and apart_b.isdisjoint(wide)
    doubtful = not sharp or name == "difference"
    if lower < IN_IT and doubtful and not _is_said(name, claim) and claim.looked_up:
        return False
    pair = _Pair(claim, target, a, b, lower, upper, sharp, together, unsaid_a, unsaid_b)
    return _MEANT[name](pair)


def _is_ranged(working: Working, one: Operand) -> bool:
    """ "6 to 12": no count."""
    if one.source < 0:
        return False
    where, number = working.labels.sources.found[one.source]
    text = working.labels.sources.texts[where]
    return bool(_RANGED.match(text, number.end)) or text.endswith(" to ", 0, number.start)


def operations_meant(told: Told) -> frozenset[str]:
    """The calculations that a sentence can mean. Only a sum of its own numbers, a product, a
    quotient and a share need no word; where only the question names something, these need one too.
    """
    wanted = {"sum", "product", "quotient", "ratio"}
    if told.by_question:
        by_words = {"sum": SUM, "product": PRODUCT, "quotient": RATIO}
        wanted -= {name for name, one in by_words.items() if not told.names(one)}
    if told.names(DIFFERENCE):
        wanted |= {"difference", "rest"}
    if CHANGE in told.named:
        wanted.add("change")
    return frozenset(wanted)


def _may_meet(a: Operand, b: Operand, name: str) -> bool:
    """Not two currencies, and not a number with itself."""
    mine, its = a.number.unit, b.number.unit
    if mine != its and mine and its and a.kind == b.kind == "money":
        return bool(currencies(mine) & currencies(its))
    return a.number.value != b.number.value or name in ("rest", "product")


def is_whole(target: Target, told: Told, whole: Whole, level: Level) -> bool:
    """Whether the target is the sum or the average of all numbers of a kind."""
    kind = whole.operand.kind
    if kind != target.kind and not (target.kind == "money" and not kind):
        return False
    if whole.is_in_part(told.said):
        return False
    total, mean = told.names(SUM), told.names(AVERAGE)
    amount = base(whole.operand)
    if abs(amount - target.value) <= target.allowed and (total or not told.by_question):
        sharp = target.allowed <= _SHARP * target.value
        return total or level == BY_WORDS or (level == AROUND and sharp)
    return mean and abs(amount / whole.size - target.value) <= target.allowed


def _is_said(name: str, claim: Claim) -> bool:
    """Whether a word of the sentence itself says that something was calculated."""
    said = {"difference": DIFFERENCE, "sum": SUM, "change": CHANGE, "product": PRODUCT}
    return name in said and said[name] in claim.told.named


def _is_difference(pair: _Pair) -> bool:
    if not pair.asks(DIFFERENCE):
        return False
    claim = pair.claim
    if claim.number.unit == "%" and not _in_points(claim.number) and pair.names(CHANGE):
        return False  # "rose by 3 %" for three points
    if claim.unit is None and not pair.target.kind and pair.a.kind and pair.lower < IN_IT:
        return False
    if pair.unsaid_a and pair.unsaid_b:
        if not (pair.together and claim.unit is not None):
            return False
    elif (pair.unsaid_a or pair.unsaid_b) and not (pair.sharp or pair.together):
        return False
    return not claim.sense or claim.order(pair.b, pair.a) in (0, claim.sense)


def _is_sum(pair: _Pair) -> bool:
    if WHOLE in (pair.a.place, pair.b.place) or pair.lower < BY_WORDS:
        return False
    if pair.sharp and pair.a.place >= 0 and pair.b.place >= 0:
        return True
    return pair.asks(SUM) and not (pair.unsaid_a or pair.unsaid_b)


def _is_rest(pair: _Pair) -> bool:
    return pair.names(DIFFERENCE)


def _is_change(pair: _Pair) -> bool:
    claim = pair.claim
    if pair.unsaid_a or pair.unsaid_b or not pair.names(CHANGE) or _in_points(claim.number):
        return False
    rises = base(pair.a) > base(pair.b)
    return (not claim.sense or rises is (claim.sense > 0)) and claim.order(pair.b, pair.a) >= 0


def _is_ratio(pair: _Pair) -> bool:
    named = pair.names(RATIO)
    if pair.target.kind == "%":
        if _in_points(pair.claim.number):
            return False
        if base(pair.a) > base(pair.b):
            return pair.asks(RATIO)
        moved = pair.names(CHANGE) and not pair.together
        if not named and pair.lower < IN_IT and (moved or pair.claim.rated):
            return False
    if pair.b.place == WHOLE:
        return not pair.unsaid_a
    if pair.together:
        return not pair.unsaid_a or pair.lower >= BY_WORDS
    if pair.crosses:
        return False
    if pair.unsaid_a and pair.unsaid_b:
        return False
    either = pair.unsaid_a or pair.unsaid_b
    return (
        not either
        or pair.sharp
        or named
        or (pair.target.kind == "times" and pair.lower >= BY_WORDS)
    )


def _is_product(pair: _Pair) -> bool:
    if pair.asks(PRODUCT):
        return pair.sharp or pair.upper == IN_IT
    share = "%" in (pair.a.kind, pair.b.kind)
    return pair.sharp and (share or pair.together or pair.by_calendar)


def _is_quotient(pair: _Pair) -> bool:
    per = pair.asks(RATIO)
    if pair.a.kind == pair.b.kind and pair.a.kind:
        return per and not (pair.unsaid_a or pair.unsaid_b)
    return per or (pair.sharp and pair.by_calendar)


_MEANT: dict[str, Callable[[_Pair], bool]] = {
    "difference": _is_difference,
    "sum": _is_sum,
    "rest": _is_rest,
    "change": _is_change,
    "ratio": _is_ratio,
    "product": _is_product,
    "quotient": _is_quotient,
}


def _in_points(claim: Number) -> bool:
    return claim.unit in ("pp", "bp") or bool(_POINTS.search(claim.text))


def _apart(a: Operand, b: Operand) -> tuple[Words, Words]:
    """The words that only one of two labels has, but for times."""
    if not (a.label and b.label):
        return frozenset(), frozenset()
    return _drop_times(a.label.near - b.label.near), _drop_times(b.label.near - a.label.near)


def _periods(one: Operand) -> dict[str, set[str]]:
    return periods(one.label.near) if one.label else {}


def _drop_times(some: Words) -> Words:
    return some.difference(_GENERIC, *periods(some).values())


@dataclass(frozen=True, slots=True)
class _Order:
    """Which of two operands is the base: as the sentence says, then as the sources do."""

    working: Working
    after: str  # the claim
    before: str

    def __call__(self, a: Operand, b: Operand) -> int:
        if a.place >= 0 and b.place >= 0:
            x, y, turn = (a, b, 1) if a.place < b.place else (b, a, -1)
            if y.place - x.place <= 2 and (told := way(self.working.answer, x.number, y.number)):
                return told * turn
        if told := self._order_around_than(a, b):
            return told
        if a.label and b.label and (told := order_of_labels(a.label, b.label)):
            return told
        found = self.working.labels.sources.found
        if a.source < 0 or b.source < 0 or found[a.source][0] != found[b.source][0]:
            return 0
        text = self.working.labels.sources.texts[found[a.source][0]]
        x, y, turn = (a, b, 1) if a.source < b.source else (b, a, -1)
        return turn * order_in_text(text, found[x.source][1], found[y.source][1])

    def _order_around_than(self, a: Operand, b: Operand) -> int:
        """ "East has 5 more than West": the base stands after "than"."""
        found = _THAN.search(self.after)
        if not found or not (a.label and b.label):
            return 0
        compared = words(self.after[found.end() :])
        subject = words(self.before + " " + self.after[: found.start()]) - compared
        only_a, only_b = a.label.near - b.label.near, b.label.near - a.label.near
        if only_a & compared and not only_b & compared and not only_a & subject:
            return 1
        if only_b & compared and not only_a & compared and not only_b & subject:
            return -1
        return 0
