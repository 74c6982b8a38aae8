"""Which numbers of the sources a sentence names by their labels."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from gate.graders.claims.labels import (
    Label,
    Words,
    conflict,
    names_of,
    periods,
    signed_names,
    words,
)
from gate.graders.claims.operations import Operand, base, operand
from gate.graders.claims.places import Places
from gate.graders.claims.sentences import Sentences
from gate.graders.claims.sources import Sources
from gate.text.numbers.currencies import currencies
from gate.text.numbers.measures import Measure, same_kind
from gate.text.numbers.number import PARTS, Locale, Number

WHOLE = -2  # in place of a place: the sum of several numbers
_NONE: Words = frozenset()
_COUNTED = re.compile(r"[ \u00a0-]([^\W\d_]{2,})")
_END = re.compile(r"[.;:|\n]\s")
_END_OR_LAST = re.compile(r"[.;:|\n](?:\s|\Z)")
_MOST_COMPARED = 5_000  # numbers of the sources whose words are compared with the answer's
_MOST = 12
_REACH = 300
_FEW = 4
_BACK = 3  # sentences


class Whole(NamedTuple):
    """The sum of several numbers, how many, and the words that all their labels have."""

    operand: Operand
    size: int
    words: Words
    apart: tuple[Words, ...] = ()  # the other words of each label

    def is_in_part(self, said: Words) -> bool:
        """Whether words name several of the numbers, but not all."""
        named = sum(not own.isdisjoint(said) for own in self.apart)
        return 2 <= named < self.size


@dataclass(frozen=True)
class Labels:
    """The words around each number of the sources."""

    sources: Sources

    @cached_property
    def names(self) -> Words:
        return names_of(self.sources.texts)

    @cached_property
    def signed_names(self) -> Words:
        """ "aero 13": names that end in a figure, wherever they stand."""
        return frozenset(name for text in self.sources.texts for name in signed_names(text))

    @cached_property
    def every_name(self) -> Words:
        return self.names | self.signed_names

    @cached_property
    def places(self) -> Places:
        return Places(self.sources.texts)

    @cached_property
    def by_words_beside(self) -> dict[tuple[str, ...], list[Number]]:
        """The words around a number -> the numbers that have them."""
        kept: dict[tuple[str, ...], list[Number]] = defaultdict(list)
        for where, number in self.sources.found[:_MOST_COMPARED]:
            if key := list_words_beside(self.sources.texts[where], number):
                kept[key].append(number)
        return kept

    def may_stand_beside(self, words: tuple[str, ...]) -> bool:
        """Whether words are all in one of the texts, so that they can be beside a number."""
        return bool(words) and any(all(one in text for one in words) for text in self.sources.texts)

    def about(self, i: int) -> Words:
        """The words of the label of number i, and those before it in its sentence; of a sentence
        without a name also those that begin the one before.
        """
        if i not in self._abouts:
            where, number = self.sources.found[i]
            text, label = self.sources.texts[where], self.sources.labels[i]
            told = label.near
            if not label.series:
                begin, _ = self._sentences[where].around(number.start)
                told |= words(text[max(begin, number.start - _REACH) : number.start])
                if not told & self.names:
                    told |= self._subject_before(where, begin)
            self._abouts[i] = told
        return self._abouts[i]

    def _subject_before(self, where: int, begin: int) -> Words:
        """The first words of the last sentence before a place that begins with a name, of the same
        paragraph.
        """
        text, first = self.sources.texts[where], _NONE
        for _ in range(_BACK):
            if not begin or text[begin - 1] == "\n":
                break
            begin, end = self._sentences[where].around(max(0, begin - 2))
            some = words(" ".join(text[begin:end].split()[:4]))
            if some & self.names:
                return some
            first = first or some
        return first

    @cached_property
    def _abouts(self) -> dict[int, Words]:
        return {}

    @cached_property
    def _sentences(self) -> list[Sentences]:
        return [Sentences(text) for text in self.sources.texts]

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

    def weights(self, said: Words, wide: Words) -> dict[int, tuple[float, bool]]:
        """Number -> how much of its label is said, and whether in the sentence itself. A word that
        many labels have weighs little.
        """
        found: dict[int, tuple[float, bool]] = {}
        for word in wide:
            if not (holding := self.holders.get(word)):
                continue
            inside = word in said
            more = (2.0 if inside else 1.0) / len(holding)
            for i in holding:
                weight, sure = found.get(i, (0.0, False))
                found[i] = weight + more, sure or inside
        return found

    @cached_property
    def wholes(self) -> list[Whole]:
        """The sums of the numbers of a row or column, of one kind in a sentence, of one noun."""
        groups: dict[object, list[int]] = defaultdict(list)
        texts = self.sources.texts
        for i, label in enumerate(self.sources.labels):
            where, number = self.sources.found[i]
            if number.maybe_date:
                continue
            if label.series:
                groups[where, label.series].append(i)
                groups[self._together[i]].append(i)
                continue
            kind = self.operands[i].kind
            groups[self._together[i], kind].append(i)
            if not kind and (after := _COUNTED.match(texts[where], number.end)):
                groups[after[1].lower().rstrip("s")].append(i)
        some = (some for some in groups.values() if len(some) > 1)
        made = (self.whole([self.operands[i] for i in one]) for one in some)
        return [one for one in made if one]

    def whole(self, some: Sequence[Operand]) -> Whole | None:
        """The sum of some operands; None: of fewer than two, of several kinds, or with their own
        total among them.
        """
        if len(some) < 2 or len({one.kind for one in some}) > 1:
            return None
        amounts = [base(one) for one in some]
        total = sum(amounts)
        if len(some) > 2 and math.isclose(total, 2 * amounts[-1], rel_tol=1e-6):
            return None
        unit = Measure(some[0].kind, 1.0) if some[0].unit is not None else None
        number = some[0].number._replace(value=total)
        every = [one.label.every if one.label else _NONE for one in some]
        near = frozenset.intersection(*every)
        apart = tuple(words - near for words in every)
        label = Label(near, _NONE, unit)
        return Whole(
            Operand(total, some[0].kind, unit, number, label, WHOLE), len(some), near, apart
        )

    @cached_property
    def columns(self) -> list[list[int]]:
        """Alike numbers: those of a column; of lines as in a list the first ones, second ones, ...;
        those of one kind in a sentence.
        """
        groups: dict[object, list[int]] = defaultdict(list)
        place, line = 0, (-1, -1)
        for i, label in enumerate(self.sources.labels):
            where, number = self.sources.found[i]
            at = where, self.sources.texts[where].rfind("\n", 0, number.start)
            place, line = (place + 1 if at == line else 0), at
            if number.maybe_date:
                continue
            groups[where, label.series or place].append(i)
            if not label.series:
                groups[self._together[i], self.operands[i].kind].append(i)
        return [some for some in groups.values() if len(some) > 1]

    @cached_property
    def with_unit(self) -> list[int]:
        """The numbers of the sources that are money or have a measuring unit."""
        found = self.sources.found
        return [
            i
            for i, label in enumerate(self.sources.labels)
            if label.measure or (found[i][1].unit and found[i][1].unit not in PARTS)
        ]

    @cached_property
    def _together(self) -> list[tuple[object, ...]]:
        """The row or sentence that each number stands in."""
        sources = self.sources
        made: list[tuple[object, ...]] = []
        for i, label in enumerate(sources.labels):
            where, number = sources.found[i]
            text = sources.texts[where]
            at = (
                text.rfind("\n", 0, number.start)
                if label.series
                else self._sentences[where].around(number.start)[0]
            )
            made.append((where, at))
        return made

    @cached_property
    def _groups(self) -> dict[tuple[object, ...], list[int]]:
        groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
        for i, key in enumerate(self._together):
            if not self.sources.found[i][1].maybe_date:
                groups[key].append(i)
        return groups

    def beside(self, i: int) -> list[int]:
        """The numbers of its row or sentence."""
        return self._groups[self._together[i]] if i < len(self._together) else []

    def outdone(self, some: Sequence[int], scope: Words) -> set[int]:
        """Those of which another one of the same kind has all words of the scope that they have,
        and more, or fewer others.
        """
        parts = {}
        for i in some:
            every = self.sources.labels[i].every
            parts[i] = (every & scope, every - scope, self.operands[i].kind)
        most = max((len(mine) for mine, _, _ in parts.values()), default=0)
        least = min((len(rest) for _, rest, _ in parts.values()), default=0)
        return {
            i
            for i, (mine, rest, kind) in parts.items()
            if (len(mine) < most or len(rest) > least)
            and any(
                its_kind == kind and (mine < its or (mine == its and other < rest))
                for its, other, its_kind in parts.values()
            )
        }

    @cached_property
    def operands(self) -> list[Operand]:
        """The numbers of the sources that have a label."""
        rows = enumerate(zip(self.sources.found, self.sources.labels, strict=False))
        return [operand(one, label.measure, label, -1, i) for i, ((_, one), label) in rows]

    def list_named(
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
        shared = self._count_shared(some)
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
            one = self.operands[i]
            ranked[shared[i]].append(one)
            if when and not ((told := periods(label.near)) and conflict(told, when)):
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

    def _count_shared(self, some: Words) -> Mapping[int, int]:
        """Number -> how many of the words its label has."""
        if (shared := self._last.get(some)) is None:
            shared = Counter(i for word in some for i in self.holders.get(word, ()))
            self._last.clear()
            self._last[some] = shared
        return shared

    def _beside(self, one: Operand) -> Iterator[Operand]:
        """The numbers right before and after it in its sentence."""
        for i, share in ((one.source - 1, one.source), (one.source + 1, one.source + 1)):
            if not 0 <= i < len(self.sources.labels) or share >= len(self.sources.labels):
                continue
            if not self.sources.labels[share].earlier or self.sources.found[i][1].maybe_date:
                continue
            other = self.operands[i]
            alike = [k for k in self.beside(i) if self.operands[k].kind == one.kind]
            if other.kind == one.kind and len(alike) == 2:
                yield other

    def _firsts(self, some: Words, kept: dict[int, Operand]) -> Iterator[int]:
        """For each of the words that few numbers have, the first number with it."""
        for word in some:
            holding = [i for i in self.holders.get(word, ()) if i in kept]
            if 0 < len(holding) <= _FEW and word in self.sources.labels[holding[0]].near:
                yield holding[0]


@lru_cache(maxsize=8)  # several answers are about one context, and each is read twice
def labels_of(texts: tuple[str, ...], locale: Locale) -> Labels:
    """The labels of the numbers of some texts, as long as they are asked for again."""
    return Labels(Sources(texts, locale))


def list_words_beside(text: str, number: Number) -> tuple[str, ...]:
    """Three words before a number and two after it; empty where its sentence has fewer."""
    before = _END.split(text[max(0, number.start - 60) : number.start])[-1].split()
    if len(before) < 3:
        return ()
    after = _END_OR_LAST.split(text[number.end : number.end + 40], 1)[0].split()
    return (*before[-3:], *after[:2]) if after else ()


def _row(near: Words) -> Words:
    """A label without its times."""
    when = periods(near)
    return near.difference(*when.values()) if when else near


def _periods(one: Operand) -> dict[str, set[str]]:
    return periods(one.label.near) if one.label else {}
