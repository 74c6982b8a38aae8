"""Whether a claim follows from two numbers, or from all of a kind, of which its sentence speaks.

A free search would be blind: among 20 numbers some operation comes within 1 % of nearly any wrong
one. So units limit what goes with what, the words of the sentence must name the operands, and the
less precise the claim is, the more of the operation must be named too. A change goes the way that
the sentence says, from the base that it or the sources tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

from gate.graders.claims.directions import direction, order_in_text, order_of_labels, way
from gate.graders.claims.labels import Words, conflict, is_word, periods, words
from gate.graders.claims.operands import WHOLE, Whole
from gate.graders.claims.operations import (
    AVERAGE,
    CHANGE,
    DIFFERENCE,
    PRODUCT,
    RATIO,
    SUM,
    Operand,
    Operation,
    base,
    operand,
    operations_named,
)
from gate.graders.claims.search import Candidates, Target, calculations
from gate.graders.claims.sources import is_scaled, precision
from gate.graders.claims.spelled import TIMES, counted_in_words
from gate.graders.claims.units import unit_of
from gate.graders.claims.working import Working
from gate.text.numbers.currencies import currencies
from gate.text.numbers.measures import Measure
from gate.text.numbers.number import PARTS, Number

_REACH = 500  # characters of a sentence on each side of a claim that can name an operation
_MOST = 12  # numbers of the answer on each side of a claim that can be its operands
_SOURCES = 16  # numbers of the sources whose labels the sentence names
_READ = 60  # numbers of the sources that can be operands by their unit alone
_UNNAMED = 8  # of them
_SHARP = 0.006  # a claim known so well, relative to its size, is hardly met by chance
_TYPED = 3  # times as much for one with a measuring unit, which fewer operands have
IN_IT, BY_WORDS, AROUND, BY_UNIT = 3, 2, 1, 0  # how surely a sentence speaks of an operand

_MULTIPLES = (
    (re.compile(r"\b(?:twice|doubl\w+|two times|two-fold)\b", re.IGNORECASE), 2.0),
    (re.compile(r"\b(?:tripl\w+|three times|thrice)\b", re.IGNORECASE), 3.0),
    (re.compile(r"\b(?:four times|quadrupl\w+)\b", re.IGNORECASE), 4.0),
    (re.compile(r"\b(?:half|halv\w+)\b", re.IGNORECASE), 0.5),
)
_MULTIPLE = re.compile(r"twice|doubl|two|tripl|thr|four|quadr|hal[fv]", re.IGNORECASE)
_CALENDAR = (  # words, and how many of one are in another
    *(("year", 12.0), ("annual", 12.0), ("annually", 12.0), ("yearly", 12.0), ("month", 12.0)),
    *(("monthly", 12.0), ("week", 7.0), ("week", 52.0), ("day", 24.0), ("day", 365.0)),
    *(("year", 52.0), ("year", 365.0), ("hour", 60.0), ("minute", 60.0), ("weekly", 52.0)),
)
_CALENDAR_WORDS = frozenset(word for word, _ in _CALENDAR)
_CALENDAR_VALUES = frozenset(value for _, value in _CALENDAR)
_OF = re.compile(
    r"[ ]?(?:[\w'-]+ ){0,2}?(?:out )?of (?:the |its |their |our |all |a total of )*[$€£]?"
    r"|[ ]?/[ ]?|[ ]over[ ]"
)
_IN = re.compile(r" (?:in|out of)(?: every)? ")
_FROM = re.compile(r"\bfrom (?:about |around |roughly )?[$€£]?\Z")
_TO = re.compile(r"\bto (?:about |around |roughly |just )?[$€£]?\Z")
_RATE = re.compile(r"[ ]?(?:[^\W\d_]+ )?(?:per|an?|each|every|pro|par|por|je)\b|[ ]?/")
_OPENING = re.compile(r"[^.;:()\d]{0,60}\(")
_VERSUS = re.compile(
    r"[^.;()\d]{0,25}\b(?:instead of|against|versus|vs\.?|rather than|compared (?:with|to)|up from"
    r"|down from|after|than|over|to)\b[^.;()\d]{0,15}"
)
_POINTS = re.compile(r"points?|pp|bps?", re.IGNORECASE)
_BOUND = re.compile(
    r"\b(?:at (?:least|most)|(?:more|less|fewer|no more|no less|no later) than|within|minimum of"
    r"|maximum of|mindestens|höchstens|au moins|au plus|al menos) \Z",
    re.IGNORECASE,
)
_RANGED = re.compile(r"(?: to |\u2013)\d")
_THAN = re.compile(r"\b(?:than|over|against|compared (?:with|to)|versus|vs)\b", re.IGNORECASE)
_SMALL_COUNTS = (2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0)
_OPERATIONS = frozenset(("difference", "rest", "change", "sum", "product", "quotient", "ratio"))
_GENERIC = frozenset(("total", "all", "overall", "whole", "sum"))
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
class _Claim:
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
            len(rest := _untimed(labels.sources.labels[i].near)) > 1 and rest <= self.told.said
            for i in held
            if found[i][1].unit == self.number.unit and not labels.sources.labels[i].shares
        )


class _Pair(NamedTuple):
    """Two operands that give the claim by an operation, and how surely the sentence means them."""

    claim: _Claim
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


@dataclass(frozen=True)
class Named:
    """The calculations of one answer that its sentences name."""

    working: Working

    def explains(self, i: int, *, within: bool) -> bool:
        """Whether number i is such a calculation; `within`: of numbers of its own sentence."""
        claim = self._claim(i, self.working.numbers[i])
        if claim.number.unit in (TIMES, "%") and (two := self._pair_after(i)):
            return self._is_of(two, claim)
        if claim.number.unit == "%" and CHANGE in claim.told.named and (two := self._moved(i)):
            before, after = (base(one) for one in two)
            moved = abs(after / before - 1)
            return any(abs(moved - one.value) <= one.allowed for one in self._targets(claim))
        pair = self._of_pair(i) if claim.number.unit == "%" else ()
        if pair:
            part, whole = (base(self.working.own(k)) for k in pair)
            target = next(self._targets(claim))
            return bool(whole) and abs(part / whole - target.value) <= target.allowed
        return self._follows(i, claim, within=within)

    def _pair_after(self, i: int) -> tuple[Operand, Operand] | None:
        """ "three times as much (16 GB instead of 4 GB)": the two known numbers that tell it."""
        numbers, answer = self.working.numbers, self.working.answer
        if i + 2 >= len(numbers) or not {i + 1, i + 2} <= self.working.known:
            return None
        claim, a, b = numbers[i : i + 3]
        opens = _OPENING.fullmatch(answer, claim.end, a.start)
        if not (opens and _VERSUS.fullmatch(answer, a.end, b.start)):
            return None
        one, other = self.working.own(i + 1), self.working.own(i + 2)
        return (one, other) if one.kind == other.kind != "%" and base(one) and base(other) else None

    def _moved(self, i: int) -> tuple[Operand, Operand] | None:
        """ "fell from $5 to $4, or 20 %": the two known numbers, the first of which is the base."""
        working = self.working
        inside = working.inside(*working.sentences.around(working.numbers[i].start), i, _MOST)
        known = [
            k for k in inside if k < i and k in working.known and not working.numbers[k].maybe_date
        ]
        for k, j in pairwise(known):
            a, b = working.own(k), working.own(j)
            between = working.answer[a.number.end : b.number.start]
            from_to = _FROM.search(working.answer, max(0, a.number.start - 20), a.number.start)
            if from_to and _TO.search(between) and a.kind == b.kind != "%" and base(a):
                return a, b
        return None

    def _is_of(self, pair: tuple[Operand, Operand], claim: _Claim) -> bool:
        """Whether the claim is the ratio of two numbers, or the change from one to the other."""
        a, b = (base(one) for one in pair)
        wanted = (a / b, b / a) if claim.number.unit == TIMES else (a / b - 1, b / a - 1, a / b)
        return any(
            abs(abs(one) - target.value) <= target.allowed
            for target in self._targets(claim)
            for one in wanted
        )

    def excludes(self, i: int) -> bool:
        """Whether no operation with two numbers of sources, question or answer gives number i,
        whatever its sentence says and whatever their units are.
        """
        working, labels = self.working, self.working.labels
        claim = self._claim(i, working.numbers[i])
        told, number = claim.told, claim.number
        if _RATE.match(working.answer, number.end) or (claim.unit and claim.unit.offset):
            return False
        if SUM in told.named and number.unit not in PARTS:
            return False  # perhaps of more than two
        spelled = counted_in_words(f"{working.answer[told.before : told.end]} {working.question}")
        own = (
            working.own(k)
            for k, other in enumerate(working.numbers)
            if abs(k - i) <= _MOST and other[:2] != number[:2] and not other.maybe_date
        )
        # A sentence without an operation states its number: only what it names can give it.
        least = AROUND if told.named else BY_WORDS
        counts = _SMALL_COUNTS if told.named else ()
        few = [*(operand(one, None) for one in spelled), *(_constant(n) for n in counts)]
        pool = [
            *few,
            *(one for one, _ in told.constants),
            *own,
            *(one for one, _ in self._asked),
            *(
                one
                for one, level in self._named_in(told)
                if level >= least and not one.number.maybe_date
            ),
            *(whole.operand for whole, level in told.wholes if level >= least),
        ]
        columns = (sum(labels.operands[k].amount for k in some) for some in labels.columns)
        alone = (one.number.value for one in pool)
        bare = [_constant(value) for value in (*alone, *columns)]
        targets = list(self._targets(claim))
        precise = targets[-1] if number.unit != TIMES else targets[0]
        plain = Target(abs(number.value), precise.allowed / precise.factor, "")
        if len(targets) > 1 and targets[1].value == targets[0].value:
            del targets[0]  # what it allows, the second one allows too
        if any(_adds_up(plain, whole) for whole in labels.wholes):
            return False
        given = len(few) + len(told.constants)  # in each calculation is one that is not
        measured = Candidates(pool, range(given, len(pool)))
        plainly = Candidates(bare, range(given, len(bare)))
        return not any(
            name in ("product", "quotient") or min(a, b) >= len(few)
            for target, some in (*((target, measured) for target in targets), (plain, plainly))
            for name, a, b in calculations(target, some, _OPERATIONS)
        )

    def adds_up(self, i: int) -> bool:
        """Whether number i is the sum or average of all of a kind, and its sentence says so."""
        claim = self._claim(i, self.working.numbers[i])
        return not {SUM, AVERAGE}.isdisjoint(claim.told.named) and any(
            _is_whole(target, claim.told, *one)
            for target in self._targets(claim)
            for one in claim.told.wholes
        )

    def explains_share(self, i: int) -> bool:
        """Whether number i is the first or second one of "1 in 25", and that is right."""
        numbers = self.working.numbers
        for k in (i, i - 1):
            if not 0 <= k < len(numbers) - 1:
                continue
            part, whole = numbers[k], numbers[k + 1]
            if not 0 < part.value < whole.value <= 100:
                continue
            if _IN.fullmatch(self.working.answer, part.end, whole.start):
                value = 100 * part.value / whole.value
                share = part._replace(value=value, unit="%", step=value / whole.value)
                if self._follows(k, self._claim(k, share), within=False):
                    self.working.known.update((k, k + 1))
                    return True
        return False

    def _follows(self, i: int, claim: _Claim, *, within: bool) -> bool:
        told = claim.told
        pool = self._own(i, told)
        if within:
            pool = [one for one in pool if one[1] == IN_IT]
        places = {one.place for one, _ in pool}
        tried = self._tried.get((i, claim.number, within))
        if tried == places:
            return False
        self._tried[i, claim.number, within] = places
        summed = told.names(SUM) or told.names(AVERAGE)
        kinds = [one.kind for one, level in pool if level == IN_IT and one.place >= 0]
        if len(set(kinds)) < len(kinds):
            twice = frozenset(kind for kind in kinds if kinds.count(kind) > 1)
            claim = replace(claim, own_kinds=twice)
        targets = list(self._targets(claim))
        if not targets[0].kind and (told.by_question or is_scaled(claim.number)):
            targets += [target._replace(kind="money") for target in targets]
        if not within:
            wholes = []
            for one in self._wholes(claim, pool) if summed else told.wholes:
                if any(_is_whole(target, told, *one) for target in targets):
                    return True
                wholes.append(one)
            pool += self._named_in(told)
            if claim.number.unit != TIMES:
                pool += [(whole.operand, level) for whole, level in wholes if level]
        among = {k for k, (_, level) in enumerate(pool) if level >= BY_WORDS}
        if tried is not None and not summed:  # only what is new can make a difference
            among = {k for k in among if pool[k][0].place >= 0 and pool[k][0].place not in tried}
        if not among:
            return False
        candidates = Candidates([one for one, _ in pool], among)
        wanted = _wanted(told)
        number, answer = claim.number, self.working.answer
        if not number.unit and _BOUND.search(answer, max(0, number.start - 20), number.start):
            wanted -= {"difference"}  # "at least 5 days" is no rest
        return any(
            self._is_meant(claim, target, name, pool[a], pool[b])
            for target in targets
            for name, a, b in calculations(target, candidates, wanted)
        )

    @cached_property
    def _tried(self) -> dict[tuple[int, Number, bool], set[int]]:
        """Claim, and whether within its sentence -> places of the operands that gave nothing."""
        return {}

    # --------------------------------------------------------------------------- what is told

    def _claim(self, i: int, number: Number) -> _Claim:
        return _Claim(self.working, self._told(number), number, self.working.units[i])

    @cached_property
    def _tolds(self) -> dict[tuple[int, int], Told]:
        return {}

    def _told(self, claim: Number) -> Told:
        begin, end = self.working.sentences.around(claim.start)
        low, high = max(begin, claim.start - _REACH), min(end, claim.start + _REACH)
        if (low, high) not in self._tolds:
            before, _ = self.working.sentences.around(claim.start, back=1)
            self._tolds[low, high] = self._read(low, high, before)
        return self._tolds[low, high]

    def _read(self, begin: int, end: int, before: int) -> Told:
        sentence = self.working.answer[begin:end]
        said = words(sentence)
        earlier = words(self.working.answer[max(before, begin - _REACH) : begin])
        wide = said | self._question[0] | earlier
        named, asked = operations_named(sentence), self._question[1]
        if "relative" in said:
            named = tuple(one for one in named if one is not DIFFERENCE)
        asking = said | self._question[0]
        holders = self.working.labels.holders
        by_question = said.isdisjoint(holders) and not asking.isdisjoint(holders)
        constants: list[tuple[Operand, Level]] = []
        if not wide.isdisjoint(_CALENDAR_WORDS):
            constants += [(_constant(n), BY_WORDS) for word, n in _CALENDAR if word in wide]
        if _MULTIPLE.search(sentence):
            constants += [(_constant(n), IN_IT) for one, n in _MULTIPLES if one.search(sentence)]
        return Told(
            begin=begin,
            end=end,
            before=before,
            said=asking if by_question else said,
            wide=wide,
            named=(*named, *asked) if by_question else named,
            asked=asked,
            when=periods(said) or periods(self._question[0]),
            by_question=by_question,
            constants=constants,
            wholes=[(one, _level(one.words, said, wide)) for one in self.working.labels.wholes],
        )

    @cached_property
    def _question(self) -> tuple[Words, tuple[Operation, ...]]:
        return words(self.working.question), operations_named(self.working.question)

    def _targets(self, claim: _Claim) -> Iterator[Target]:
        """What to look for: the value as it stands, then with what "about" leaves open, then with
        another reading of its digits or in the scale of a table.
        """
        number, unit = claim.number, claim.unit
        value, kind, factor = abs(number.value), "", 1.0
        if number.unit in PARTS:
            kind, factor = "%", 1 / PARTS[number.unit]
        elif number.unit == TIMES:
            kind = "times"
        elif number.unit:
            kind = "money"
        elif unit is not None:
            kind, factor = unit.dimension, unit.factor
        leeway = self.working.leeway
        exact = leeway.of(number.step / 2, value)
        allowed = leeway.of(precision(number, self.working.answer), value)
        yield Target(value * factor, exact * factor, kind, factor)
        if exact < allowed:
            yield Target(value * factor, allowed * factor, kind, factor)
        if number.other is not None and kind in ("", "money"):
            yield Target(abs(number.other), 0.5, kind)
        for scale in self.working.labels.sources.scales if is_scaled(number) else ():
            yield Target(value * factor / scale, allowed * factor / scale, kind, factor)

    # ------------------------------------------------------------------------------- operands

    def _own(self, i: int, told: Told) -> list[tuple[Operand, Level]]:
        """Known numbers of the answer, and those of the question."""
        working = self.working
        pool: list[tuple[Operand, Level]] = []
        for k in range(max(0, i - _MOST), min(len(working.numbers), i + _MOST + 1)):
            number = working.numbers[k]
            if k == i or k not in working.known:
                continue
            near = told.before <= number.start < told.end
            if (near or k not in working.stating) and not is_word(
                working.answer, number, working.names
            ):
                level = IN_IT if told.begin <= number.start < told.end else BY_WORDS
                pool.append((working.own(k), level))
        return [*pool, *self._asked, *told.constants]

    @cached_property
    def _asked(self) -> Pool:
        question = self.working.question
        return [
            (operand(one, unit_of(question, one)), BY_WORDS)
            for one in self.working.asked
            if not one.maybe_date
        ]

    @cached_property
    def _pools(self) -> dict[int, Pool]:
        return {}

    def _named_in(self, told: Told) -> Pool:
        """The numbers of the sources that a sentence names, those beside them, and some more with a
        unit.
        """
        if told.begin in self._pools:
            return self._pools[told.begin]
        labels = self.working.labels
        weights = labels.weights(told.said, told.wide)
        taken = sorted(weights, key=lambda k: -weights[k][0])[:_SOURCES]
        sure = {k for k in taken if weights[k][1]}
        if told.by_question:
            sure -= labels.outdone(taken, told.wide)
        pool = [(labels.operands[k], BY_WORDS if k in sure else AROUND) for k in taken]
        beside = {j for k in sure for j in labels.beside(k)}.difference(taken)
        pool += [(labels.operands[k], AROUND) for k in sorted(beside)[:_SOURCES]]
        left = [k for k in labels.with_unit[:_READ] if k not in weights and k not in beside]
        pool += [(labels.operands[k], BY_UNIT) for k in left[:_UNNAMED]]
        self._pools[told.begin] = pool
        return pool

    def _wholes(self, claim: _Claim, own: Pool) -> Iterator[tuple[Whole, Level]]:
        """The sums that a sentence may mean which says that something is summed."""
        told, labels = claim.told, self.working.labels
        yield from told.wholes
        here = [one for one, level in own if level == IN_IT and one.place >= 0]
        before = [one for one in here if one.number.start < claim.number.start]
        own_wholes = (labels.whole(here), labels.whole(before))
        unit = claim.number.unit
        like = unit if unit and unit not in PARTS and unit != TIMES else None
        when = periods(told.said) or periods(told.wide)
        named = labels.named_by(told.wide, when, like=like, unit=claim.unit)
        yield from ((one, BY_WORDS) for one in chain(own_wholes, map(labels.whole, named)) if one)

    def _of_pair(self, i: int) -> Sequence[int]:
        """ "(11 of 20)", nearest to the claim; both known."""
        working = self.working
        at = working.numbers[i].start
        inside = working.inside(*working.sentences.around(at), i, _MOST)
        pairs = [
            (min(abs(a.start - at), abs(b.start - at)), k)
            for k in inside[:-1]
            if i not in (k, k + 1)
            and (a := working.numbers[k]).unit not in PARTS
            and (b := working.numbers[k + 1])
            and b.start - a.end < 60
            and _OF.fullmatch(working.answer, a.end, b.start)
        ]
        if not pairs:
            return ()
        _, k = min(pairs)
        return (k, k + 1) if {k, k + 1} <= working.known else ()

    # ----------------------------------------------------------------------- whether it is meant

    def _is_meant(
        self,
        claim: _Claim,
        target: Target,
        name: str,
        one: tuple[Operand, Level],
        other: tuple[Operand, Level],
    ) -> bool:
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
        together = a.source >= 0 and b.source in self.working.labels.beside(a.source)
        if name in ("product", "quotient"):
            if b.amount == 1 or self._is_ranged(b):
                return False
            named = lower >= AROUND or (la == BY_UNIT and a.kind == target.kind)
            if not named if sharp else lower < BY_WORDS:
                return False
        elif lower < BY_WORDS and not (
            lower == AROUND and (sharp or (together and not claim.rated))
        ):
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

    def _is_ranged(self, one: Operand) -> bool:
        """ "6 to 12": no count."""
        if one.source < 0:
            return False
        where, number = self.working.labels.sources.found[one.source]
        text = self.working.labels.sources.texts[where]
        return bool(_RANGED.match(text, number.end)) or text.endswith(" to ", 0, number.start)


def _wanted(told: Told) -> frozenset[str]:
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


def _is_whole(target: Target, told: Told, whole: Whole, level: Level) -> bool:
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


def _adds_up(target: Target, whole: Whole) -> bool:
    """Whether the target is the sum or average of numbers of any kind."""
    total = base(whole.operand)
    return any(abs(one - target.value) <= target.allowed for one in (total, total / whole.size))


def _is_said(name: str, claim: _Claim) -> bool:
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


def _level(some: Words, said: Words, wide: Words) -> Level:
    if not some.isdisjoint(said):
        return BY_WORDS
    return BY_UNIT if some.isdisjoint(wide) else AROUND


def _constant(value: float) -> Operand:
    return Operand(value, "", None, Number(value=value))


def _apart(a: Operand, b: Operand) -> tuple[Words, Words]:
    """The words that only one of two labels has, but for times."""
    if not (a.label and b.label):
        return frozenset(), frozenset()
    return _untimed(a.label.near - b.label.near), _untimed(b.label.near - a.label.near)


def _periods(one: Operand) -> dict[str, set[str]]:
    return periods(one.label.near) if one.label else {}


def _untimed(some: Words) -> Words:
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
        if told := self._compared(a, b):
            return told
        if a.label and b.label and (told := order_of_labels(a.label, b.label)):
            return told
        found = self.working.labels.sources.found
        if a.source < 0 or b.source < 0 or found[a.source][0] != found[b.source][0]:
            return 0
        text = self.working.labels.sources.texts[found[a.source][0]]
        x, y, turn = (a, b, 1) if a.source < b.source else (b, a, -1)
        return turn * order_in_text(text, found[x.source][1], found[y.source][1])

    def _compared(self, a: Operand, b: Operand) -> int:
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
