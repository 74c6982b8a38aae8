"""Whether a claim follows from two numbers, or from all of a kind, of which its sentence speaks.

A free search would be blind: among 20 numbers some operation comes within 1 % of nearly any wrong
one. So units limit what goes with what, and meaning.py tells whether the sentence means what was
found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise

from gate.graders.claims.labels import Words, is_word, periods, words
from gate.graders.claims.meaning import (
    AROUND,
    BY_UNIT,
    BY_WORDS,
    IN_IT,
    Claim,
    Level,
    Pool,
    Told,
    is_meant,
    is_whole,
    operations_meant,
)
from gate.graders.claims.operands import Whole
from gate.graders.claims.operations import (
    AVERAGE,
    CALENDAR,
    CHANGE,
    DIFFERENCE,
    SUM,
    Operand,
    Operation,
    base,
    operand,
    operations_named,
)
from gate.graders.claims.search import Candidates, Target, calculations
from gate.graders.claims.sources import is_scaled, precision
from gate.graders.claims.spelled import TIMES, find_counts_in_words
from gate.graders.claims.units import unit_of
from gate.graders.claims.working import Working
from gate.text.late_pattern import late_pattern
from gate.text.numbers.number import PARTS, Number

_REACH = 500  # characters of a sentence on each side of a claim that can name an operation
_MOST = 12  # numbers of the answer on each side of a claim that can be its operands
_SOURCES = 16  # numbers of the sources whose labels the sentence names
_READ = 60  # numbers of the sources that can be operands by their unit alone
_UNNAMED = 8  # of them

_MULTIPLES = (
    (late_pattern(r"\b(?:twice|doubl\w+|two times|two-fold)\b", re.IGNORECASE), 2.0),
    (late_pattern(r"\b(?:tripl\w+|three times|thrice)\b", re.IGNORECASE), 3.0),
    (late_pattern(r"\b(?:four times|quadrupl\w+)\b", re.IGNORECASE), 4.0),
    (late_pattern(r"\b(?:half|halv\w+)\b", re.IGNORECASE), 0.5),
)
_MULTIPLE = late_pattern(r"twice|doubl|two|tripl|thr|four|quadr|hal[fv]", re.IGNORECASE)
_CALENDAR_WORDS = frozenset(word for word, _ in CALENDAR)
_OF = late_pattern(
    r"[ ]?(?:[\w'-]+ ){0,2}?(?:out )?of (?:the |its |their |our |all |a total of )*[$€£]?"
    r"|[ ]?/[ ]?|[ ]over[ ]"
)
_IN = late_pattern(r" (?:in|out of)(?: every)? ")
_FROM = late_pattern(r"\bfrom (?:about |around |roughly )?[$€£]?\Z")
_TO = late_pattern(r"\bto (?:about |around |roughly |just )?[$€£]?\Z")
_RATE = late_pattern(r"[ ]?(?:[^\W\d_]+ )?(?:per|an?|each|every|pro|par|por|je)\b|[ ]?/")
_OPENING = late_pattern(r"[^.;:()\d]{0,60}\(")
_VERSUS = late_pattern(
    r"[^.;()\d]{0,25}\b(?:instead of|against|versus|vs\.?|rather than|compared (?:with|to)|up from"
    r"|down from|after|than|over|to)\b[^.;()\d]{0,15}"
)
_BOUND = late_pattern(
    r"\b(?:at (?:least|most)|(?:more|less|fewer|no more|no less|no later) than|within|minimum of"
    r"|maximum of|mindestens|höchstens|au moins|au plus|al menos) \Z",
    re.IGNORECASE,
)
_NO_NUMBER = Number(value=0.0)
_SMALL_COUNTS = (2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0)
_OPERATIONS = frozenset(("difference", "rest", "change", "sum", "product", "quotient", "ratio"))


@dataclass(frozen=True)
class Named:
    """The calculations of one answer that its sentences name."""

    working: Working

    def explains(self, i: int, *, within: bool) -> bool:
        """Whether number i is such a calculation; `within`: of numbers of its own sentence."""
        claim = self._claim(i, self.working.numbers[i])
        if claim.number.unit in (TIMES, "%") and (two := self._pair_after(i)):
            return self._is_of(two, claim)
        if claim.number.unit == "%" and CHANGE in claim.told.named and (two := self._find_move(i)):
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

    def _find_move(self, i: int) -> tuple[Operand, Operand] | None:
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

    def _is_of(self, pair: tuple[Operand, Operand], claim: Claim) -> bool:
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
        spelled = find_counts_in_words(
            f"{working.answer[told.before : told.end]} {working.question}"
        )
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
                for one, level in self._list_named(told)
                if level >= least and not one.number.maybe_date
            ),
            *(whole.operand for whole, level in told.wholes if level >= least),
        ]
        columns = (sum(labels.operands[k].amount for k in some) for some in labels.columns)
        alone = (one.number.value for one in pool)
        bare = [Operand(value, "", None, _NO_NUMBER) for value in (*alone, *columns)]
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
            is_whole(target, claim.told, *one)
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

    def _follows(self, i: int, claim: Claim, *, within: bool) -> bool:
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
                if any(is_whole(target, told, *one) for target in targets):
                    return True
                wholes.append(one)
            pool += self._list_named(told)
            if claim.number.unit != TIMES:
                pool += [(whole.operand, level) for whole, level in wholes if level]
        among = {k for k, (_, level) in enumerate(pool) if level >= BY_WORDS}
        if tried is not None and not summed:  # only what is new can make a difference
            among = {k for k in among if pool[k][0].place >= 0 and pool[k][0].place not in tried}
        if not among:
            return False
        candidates = Candidates([one for one, _ in pool], among)
        wanted = operations_meant(told)
        number, answer = claim.number, self.working.answer
        if not number.unit and _BOUND.search(answer, max(0, number.start - 20), number.start):
            wanted -= {"difference"}  # "at least 5 days" is no rest
        return any(
            is_meant(claim, target, name, pool[a], pool[b])
            for target in targets
            for name, a, b in calculations(target, candidates, wanted)
        )

    @cached_property
    def _tried(self) -> dict[tuple[int, Number, bool], set[int]]:
        """Claim, and whether within its sentence -> places of the operands that gave nothing."""
        return {}

    # --------------------------------------------------------------------------- what is told

    def _claim(self, i: int, number: Number) -> Claim:
        if (i, number) not in self._claims:
            told = self._tell(number)
            self._claims[i, number] = Claim(self.working, told, number, self.working.units[i])
        return self._claims[i, number]

    @cached_property
    def _claims(self) -> dict[tuple[int, Number], Claim]:
        return {}

    @cached_property
    def _tolds(self) -> dict[tuple[int, int], Told]:
        return {}

    def _tell(self, claim: Number) -> Told:
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
            constants += [(_constant(n), BY_WORDS) for word, n in CALENDAR if word in wide]
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

    def _targets(self, claim: Claim) -> Iterator[Target]:
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

    def _list_named(self, told: Told) -> Pool:
        """The numbers of the sources that a sentence names, those beside them, and some more with a
        unit.
        """
        if told.begin in self._pools:
            return self._pools[told.begin]
        labels = self.working.labels
        weights = labels.weights(told.said, told.wide)
        lightness = {k: -weight for k, (weight, _) in weights.items()}
        taken = sorted(lightness, key=lightness.__getitem__)[:_SOURCES]
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

    def _wholes(self, claim: Claim, own: Pool) -> Iterator[tuple[Whole, Level]]:
        """The sums that a sentence may mean which says that something is summed."""
        told, labels = claim.told, self.working.labels
        yield from told.wholes
        here = [one for one, level in own if level == IN_IT and one.place >= 0]
        before = [one for one in here if one.number.start < claim.number.start]
        own_wholes = (labels.whole(here), labels.whole(before))
        unit = claim.number.unit
        like = unit if unit and unit not in PARTS and unit != TIMES else None
        when = periods(told.said) or periods(told.wide)
        named = labels.list_named(told.wide, when, like=like, unit=claim.unit)
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


def _adds_up(target: Target, whole: Whole) -> bool:
    """Whether the target is the sum or average of numbers of any kind."""
    total = base(whole.operand)
    return any(abs(one - target.value) <= target.allowed for one in (total, total / whole.size))


def _level(some: Words, said: Words, wide: Words) -> Level:
    if not some.isdisjoint(said):
        return BY_WORDS
    return BY_UNIT if some.isdisjoint(wide) else AROUND


def _constant(value: float) -> Operand:
    return Operand(value, "", None, Number(value=value))
