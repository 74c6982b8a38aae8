"""Each numeric claim of an answer: stated by its sources, calculated from them, or open."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gate.graders.claims.answer_numbers import find_answer_numbers
from gate.graders.claims.arithmetic import NEAR, Arithmetic
from gate.graders.claims.directions import find_direction_after, find_direction_before, is_turned
from gate.graders.claims.entities import days_of
from gate.graders.claims.json_texts import read_json
from gate.graders.claims.labels import (
    Label,
    Row,
    Words,
    labels_in,
    named_by_sign,
    periods,
    rows_of,
    unwrap,
    words,
)
from gate.graders.claims.mentions import NO_CODE, Mentions
from gate.graders.claims.operands import Labels, labels_of, list_words_beside
from gate.graders.claims.places import ELSEWHERE
from gate.graders.claims.ranks import RANK, Ranks
from gate.graders.claims.sentences import Sentences
from gate.graders.claims.sources import Leeway, Sources
from gate.graders.claims.spelled import TIMES
from gate.graders.claims.swaps import GENERIC, Saying, is_swapped
from gate.graders.claims.units import unit_of
from gate.graders.claims.working import Working
from gate.graders.claims.years import NO_YEAR, OTHER_YEAR, YEAR, Years
from gate.text.late_pattern import late_pattern
from gate.text.numbers.measures import Measure
from gate.text.numbers.number import LIMIT, Locale, Number

_MOST_COMPARED = 400  # of them, those whose words are compared with those of the sources
_PASSES = 3  # a calculated number can be the operand of another one
_QUESTION = 4_000  # characters of it that can name operations and operands; the last ones
_MOST_CALCULATED = 200  # open claims that are tried as calculations; a text of figures has no more
# "Step 3", "Table 4.2", "page 12": a place, not a quantity.
_REFERENCE = late_pattern(
    r"\b(?:step|figure|fig\.|table|section|chapter|page|appendix|footnote|item|option|question"
    r"|example|note|rule|line|article|paragraph|no\.|number|part)[ \u00a0]\Z|§[ \u00a0]?\Z",
    re.IGNORECASE,
)
# Patterns that begin with one of a few signs are found three times as fast.
_FEW = 2  # words beside a number that tell nothing without the question

_ENDS = frozenset((".", ". ", "", ".\n", "\n", "; "))
_PLAIN_WORDS = "the The a an of in at on to was is were are came had has have with"
_PLAIN = frozenset(_PLAIN_WORDS.split())

# Why a claim is open, besides that nothing states it.
SWAPPED = "the sources give this number for something else"
MAYBE_SWAPPED = f"{SWAPPED}, but it may be calculated"
_PERHAPS = (SWAPPED, ELSEWHERE)  # in the sources by chance, where it is calculated
TURNED = "it goes the other way"
NO_NAME = "no source has this name"
CHANGED = "a source says the same with another number"
INVENTED = "no source states it, and no calculation with two of their numbers gives it"
# What speaks against a claim. Without one of these an open claim may be right: it can follow from
# the sources by a calculation or in words that only a reader understands.
CONTRADICTIONS = frozenset(
    (SWAPPED, TURNED, NO_YEAR, NO_CODE, NO_NAME, OTHER_YEAR, CHANGED, INVENTED, RANK)
)
_VERSIONS = late_pattern(r"\.x\b")  # "2.4.x": no quantity
_FROM = late_pattern(r"\bfrom (?:about |around |roughly )?\Z")
_PRONOUN = late_pattern(r"[\s*-]*(?:Its?|He|She|They|Their|His|Her)\b")
_SUBJECT = late_pattern(r"\s*(?:[^\s,(]+[ ]?){1,4}")
_GOES_ON = late_pattern(
    r",[ ](?=(?:was|is|were|are|went|goes|belong\w*|came|comes|in|at|by|for|of|on)\b)"
    r"([^,.;:()\n\d]+)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What the sources say of an answer's numeric claims."""

    stated: tuple[Number, ...] = ()
    calculated: tuple[Number, ...] = ()
    open: tuple[Number, ...] = ()
    why: tuple[str, ...] = ()  # of each open one; "": nothing states it

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
    """Days of a month and references ("Step 3") are no claims; a year is one where the sources have
    years, and not this one.
    """
    answer = unwrap(answer)
    labelled = labels_of(tuple(unwrap(read_json(text)) for text in context), locale)
    sources = labelled.sources
    found = find_answer_numbers(answer, sources, locale)
    look = _Look(
        answer=answer,
        sentences=Sentences(answer),
        question=question,
        numbers=found,
        units=[unit_of(answer, one) for one in found],
        labelled=labelled,
        asked=Sources((question[:LIMIT],), locale),
        leeway=leeway,
    )
    claims = [i for i, one in enumerate(found) if look.is_claim(i, one)]
    for i in range(len(found)):
        look.look_up(i)
    if any(i not in look.known or i in look.doubted for i in claims):
        _explain(look, claims)
    mentions = Mentions(answer, question, labelled.places, look.words_around)
    unknown = list(mentions.list_unsupported())
    unknown += Ranks(answer, found, look.stating, labelled).list_unsupported(look.sentences)
    right = [i for i in claims if i in look.known and i not in look.doubted]
    open_ = [i for i in claims if i not in look.known or i in look.doubted]
    return Checked(
        stated=tuple(found[i] for i in right if i in look.stating and i not in look.calculated),
        calculated=tuple(found[i] for i in right if i not in look.stating or i in look.calculated),
        open=(*(found[i] for i in open_), *(one.claim for one in unknown)),
        why=(*(look.doubted.get(i, "") for i in open_), *(one.why for one in unknown)),
    )


def _explain(look: _Look, claims: Sequence[int]) -> None:
    """Which claims are calculations, and what speaks against the others; `look` keeps both."""
    working = Working(
        answer=look.answer,
        sentences=look.sentences,
        question=look.question[-_QUESTION:],
        numbers=look.numbers,
        units=look.units,
        known=look.known,
        stating=look.stating,
        doubted=look.doubted,
        asked=[one for _, one in look.asked.found],
        labels=look.labelled,
        leeway=look.leeway,
        names=lambda: look.names,
    )
    arithmetic = Arithmetic(working)
    look.calculated.update(_calculate(arithmetic, claims, look.doubted))
    look.clear_operands()
    _repeat(look)
    for i in claims:
        if (i not in look.stating or i in look.doubted) and look.is_changed(i):
            look.known.discard(i)
            look.doubted[i] = CHANGED
    _look_for_any_calculation(arithmetic, claims, look.doubted)


@dataclass(frozen=True, kw_only=True)
class _Look:
    """The numbers of one answer while they are looked up."""

    answer: str
    sentences: Sentences
    question: str
    numbers: Sequence[Number]
    units: Sequence[Measure | None]
    labelled: Labels
    asked: Sources
    leeway: Leeway
    known: set[int] = field(default_factory=set)
    stating: dict[int, Sequence[int]] = field(default_factory=dict)
    doubted: dict[int, str] = field(default_factory=dict)
    calculated: set[int] = field(default_factory=set)

    def is_claim(self, i: int, one: Number) -> bool:
        if _is_reference(self.answer, one) or self._is_in_date(one):
            return False
        if _VERSIONS.match(self.answer, one.end):
            return False
        if not one.maybe_date:
            if self._is_unknown_name(one):
                self.doubted[i] = NO_NAME
            return True
        why = self._years.why_not(self.answer, one, *self.sentences.around(one.start))
        if why:
            self.doubted[i] = why
        return bool(why)

    def _is_in_date(self, one: Number) -> bool:
        k = bisect_right(self._dates, (one.start, len(self.answer)))
        return k > 0 and one.start < self._dates[k - 1][1] and not YEAR.fullmatch(one.text)

    @cached_property
    def _dates(self) -> list[tuple[int, int]]:
        return [found.span() for found in days_of(self.answer[:LIMIT])]

    def _is_unknown_name(self, one: Number) -> bool:
        """ "Aero 14" where the sources have "Aero 13" and "Aero 15"."""
        name = named_by_sign(self.answer, one) if one.text.isdigit() else ""
        if not name:
            return False
        known = self.labelled.signed_names
        kind = name.partition(" ")[0] + " "
        return name not in known and sum(one.startswith(kind) for one in known) > 1

    @cached_property
    def _years(self) -> Years:
        return Years(self.sources.texts, self.question)

    def look_up(self, i: int) -> None:
        one, unit = self.numbers[i], self.units[i]
        if one.unit == TIMES:
            return
        stating = self.sources.stating(one, unit, self.answer, self.leeway)
        asked = self.asked.stating(one, unit, self.answer, self.leeway)
        if not (stating or asked):
            return
        self.known.add(i)
        self.stating[i] = stating
        if asked or one.maybe_date:
            return
        if self._is_turned(i) or self._is_contradicted(i, stating):
            self.doubted[i] = TURNED
        elif i < _MOST_COMPARED and min(stating) >= 0 and not self._is_said_alike(i, stating):
            if self._is_swapped(i, stating):
                self.doubted[i] = SWAPPED
            elif self._is_elsewhere(i, stating):
                self.doubted[i] = ELSEWHERE

    def _is_turned(self, i: int) -> bool:
        """ "fell from 5 to 8"."""
        if not i:
            return False
        a, b = self.numbers[i - 1], self.numbers[i]
        if b.start - a.end > 60:
            return False
        return is_turned(self.answer, a, b, 0)

    def _is_contradicted(self, i: int, stating: Sequence[int]) -> bool:
        """ "rose by 5 %" where each source of it says "fell by 5 %"."""
        said = find_direction_before(self.answer, self.numbers[i])
        if not said:
            return False
        found = self.sources.found
        theirs = {
            find_direction_before(self.sources.texts[found[k][0]], found[k][1]) for k in stating
        }
        return theirs == {-said}

    def _is_swapped(self, i: int, stating: Sequence[int]) -> bool:
        if self.sources.spells(self.numbers[i]):
            return False
        mine, *beside = self._labels(i)
        near = mine.near | self._subject(i)
        theirs = self.sources.labels
        if not near or any(
            k >= len(theirs)
            or near <= theirs[k].near
            or _says_no_more(self.labelled.about(k), near)
            for k in stating
        ):
            return False
        return is_swapped(self.numbers[i], stating, self._saying(i, near, beside), self.labelled)

    def _is_elsewhere(self, i: int, stating: Sequence[int]) -> bool:
        found, number = self.sources.found, self.numbers[i]
        spots = [(where, one.start) for where, one in (found[k] for k in stating)]
        others = (
            (where, one.start)
            for where, one in found
            if one.unit == number.unit and one.value != number.value
        )
        return self.labelled.places.is_elsewhere(spots, self.words_around(number.start), others)

    def is_changed(self, i: int) -> bool:
        """Whether a source has the words around the number with another number among them."""
        number = self.numbers[i]
        key = list_words_beside(self.answer, number)
        return self.labelled.may_stand_beside(key) and any(
            one.value != number.value for one in self.labelled.by_words_beside.get(key, ())
        )

    def clear_operands(self) -> None:
        """Operands may come from several places."""
        calculated = [i for i in self.known if i not in self.stating]
        sentences = {self.sentences.around(self.numbers[i].start)[0] for i in calculated}
        for i in [i for i, why in self.doubted.items() if why == ELSEWHERE]:
            if self.sentences.around(self.numbers[i].start)[0] in sentences:
                del self.doubted[i]

    def words_around(self, at: int) -> tuple[Words, Words]:
        """The words of a sentence; and with them those of the one before and of the question."""
        begin, end = self.sentences.around(at)
        before, _ = self.sentences.around(at, back=1)
        said = words(self.answer[begin:end])
        return said, said | words(self.answer[before:begin]) | self._question_words

    def _subject(self, i: int) -> Words:
        """Of a sentence that begins with "it" or has no name: the first words of the one before; of
        "the best one, 4.8, is Lea's": what follows.
        """
        number = self.numbers[i]
        begin, end = self.sentences.around(number.start)
        found = _GOES_ON.match(self.answer, number.end, end)
        told = words(found[1]) if found else frozenset()
        if begin and (
            _PRONOUN.match(self.answer, begin)
            or words(self.answer[begin:end]).isdisjoint(self.labelled.names)
        ):
            earlier, _ = self.sentences.around(max(0, begin - 2))
            if subject := _SUBJECT.match(self.answer, earlier, begin):
                about = words(subject[0])
                told |= about.difference(*periods(about).values())
        return told

    def _is_said_alike(self, i: int, stating: Sequence[int]) -> bool:
        """Whether a source has the very words before the number, and none come after it: the usual
        case, told without labels.
        """
        number = self.numbers[i]
        if self.answer[number.end : number.end + 2] not in _ENDS:
            return False
        mine = _words_before(self.answer, number)
        if not mine:
            return False
        for k in stating[:3]:
            where, one = self.sources.found[k]
            if mine.issubset(_words_before(self.sources.texts[where], one)):
                return True
        return False

    @cached_property
    def sources(self) -> Sources:
        return self.labelled.sources

    @cached_property
    def _rows(self) -> Mapping[int, Row]:
        return rows_of(self.answer)

    def _labels(self, i: int) -> tuple[Label, ...]:
        """Of number i, and of those before and after it in its sentence."""
        begin, end = self.sentences.around(self.numbers[i].start)
        if begin not in self._labels_by_sentence:
            some = self._inside(begin, end)
            made = labels_in(
                self.answer, self.numbers[some.start : some.stop], self._rows, lambda: self.names
            )
            self._labels_by_sentence[begin] = some.start, made
        first, made = self._labels_by_sentence[begin]
        at = i - first
        return made[at], *made[max(0, at - 1) : at], *made[at + 1 : at + 2]

    @cached_property
    def _labels_by_sentence(self) -> dict[int, tuple[int, list[Label]]]:
        return {}

    def _inside(self, begin: int, end: int) -> range:
        """The numbers between two places of the answer."""
        return range(bisect_left(self._starts, begin), bisect_left(self._starts, end))

    @cached_property
    def _starts(self) -> list[int]:
        return [number.start for number in self.numbers]

    @cached_property
    def names(self) -> Words:
        """ "aero 13": names of the sources that end in a figure."""
        return frozenset(word for word in self.labelled.holders if " " in word)

    @cached_property
    def _question_words(self) -> Words:
        return words(self.question[-_QUESTION:])

    def _saying(self, i: int, near: Words, beside: Sequence[Label]) -> Saying:
        begin, end = self.sentences.around(self.numbers[i].start)
        said = words(self.answer[begin : min(end, begin + 1000)])
        sure = near.difference(*(label.near for label in beside))
        asked = self._question_words
        if len(near) < _FEW:
            near |= asked
        if _FROM.search(self.answer, max(0, self.numbers[i].start - 20), self.numbers[i].start):
            follows = self.numbers[i + 1 : i + 2]
            later = words(self.answer[follows[0].end : end]) if follows else frozenset()
            when = frozenset().union(*periods(later).values())
            asked = asked.difference(*periods(asked).values())
            near, said, sure = near - when, said - when, sure - when
        others = frozenset(abs(one.value) for one in self._within(i, begin, end))
        return Saying(
            near=near,
            subject=self._subject(i),
            sure=sure,
            said=said,
            wide=said | asked,
            others=others,
        )

    def _within(self, i: int, begin: int, end: int) -> list[Number]:
        near = self.numbers[max(0, i - 12) : i + 13]
        return [one for one in near if begin <= one.start < end and one is not self.numbers[i]]


def _says_no_more(theirs: Words, near: Words) -> bool:
    """Whether a source gives a number with no word that the answer lacks, as the result of a tool
    does: it says it of nothing else.
    """
    return theirs - GENERIC <= near


def _words_before(text: str, number: Number) -> set[str]:
    """Of its sentence, as they are written, without those that tell nothing."""
    low = max(0, number.start - 60)
    before = text[low : number.start]
    at = max(before.rfind(". "), before.rfind("\n"), before.rfind("? "))
    return set(before[at + 1 :].split()).difference(_PLAIN)


def _calculate(arithmetic: Arithmetic, claims: Sequence[int], doubted: dict[int, str]) -> list[int]:
    """The claims that are calculations. One is tried again only where one near it has become an
    operand.
    """
    explained: list[int] = []
    working, known = arithmetic.working, arithmetic.working.known
    for i in [i for i in claims if doubted.get(i) in _PERHAPS]:
        arithmetic.clear(i)
    tried = [i for i in claims if i not in known or doubted.get(i) in _PERHAPS]
    for _ in range(_PASSES):
        right = []
        for i in tried[:_MOST_CALCULATED]:
            if arithmetic.explains(i, stated=i in doubted):
                working.add(i)
                doubted.pop(i, None)
                right.append(i)
        explained += right
        tried = [
            i
            for i in tried
            if (i not in known or i in doubted) and any(abs(i - k) <= NEAR for k in right)
        ]
        if not tried:
            break
    return explained


def _look_for_any_calculation(
    arithmetic: Arithmetic, claims: Sequence[int], doubted: dict[int, str]
) -> None:
    """An answer with many open claims calculates in steps, and a search that goes on in steps finds
    any number.
    """
    known = arithmetic.working.known
    left = [i for i in claims if i not in known or doubted.get(i) in _PERHAPS]
    for i in left:
        excluded = len(left) <= _FEW and arithmetic.excludes(i)
        if doubted.get(i) == SWAPPED:
            doubted[i] = SWAPPED if excluded else MAYBE_SWAPPED
        elif excluded and i not in doubted:
            doubted[i] = INVENTED


def _repeat(look: _Look) -> None:
    """A calculated number may be said again; "30 % more" and "30 % less" are two."""
    said = {
        (look.numbers[i][:2], find_direction_after(look.answer, look.numbers[i]))
        for i in look.known
        if i not in look.stating
    }
    for i, one in enumerate(look.numbers):
        if i not in look.known and (one[:2], find_direction_after(look.answer, one)) in said:
            look.known.add(i)


def _is_reference(answer: str, number: Number) -> bool:
    return bool(
        not number.unit and _REFERENCE.search(answer, max(0, number.start - 12), number.start)
    )
