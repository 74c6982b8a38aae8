"""Whether a text states a number: same unit, same sign, to the precision of the claim."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter

from gate.graders.claims.labels import Label, labels
from gate.graders.claims.spelled import find_counts_in_words
from gate.graders.claims.units import join_compounds
from gate.text.late_pattern import late_pattern
from gate.text.numbers.currencies import currencies
from gate.text.numbers.measures import Measure, same_kind
from gate.text.numbers.number import LIMIT, PARTS, SMALL, TENS, Locale, Number
from gate.text.numbers.scanning import numbers

Key = tuple[str, bool]  # unit family, negative
_LOOKS = 20  # candidates whose surroundings are read; the others would say the same
MOST_LABELLED = 400  # numbers whose labels are read
SPELLED = -1  # in place of a number: the text says it in words
_AROUND = 60  # characters before a number that can tell what it is
_FRACTION = "fraction"  # plain numbers with decimals: 0.30 can be 30 %

_IN_UNITS = late_pattern(
    r"\bin (?:[\w$€£.]+ )?(?:thousand|million|billion)s?\b"
    r"|(?:(?<!\w)[$€£]\s?|\b(?:USD|EUR|GBP) )(?:k|m|mn|bn|millions?|thousands?|billions?)\b"
    r"|['\u2019]000s?\b",
    re.IGNORECASE,
)
_PERCENT_NAMED = late_pattern(r"%|per ?cent|pct\b", re.IGNORECASE)
_FALLING = late_pattern(
    r"\b(?:f[ae]ll(?:s|en|ing)?|dropp?(?:s|ed|ing)?|declin\w+|decreas\w+|down|los[ets]\w*|loss(?:es)?"
    r"|reduc\w+|shr[aiu]nk\w*|lower|less|fewer|below|negative|minus|cut|deficit|contract\w+)\b",
    re.IGNORECASE,
)
_HEDGE_WORDS = (
    "~ ≈ about around roughly approximately approx approx. nearly almost some circa ca. over under"
    " than least to"
)
_HEDGES = frozenset(_HEDGE_WORDS.split())  # the last word of "more than", "at least", "close to"
_HEDGED = 0.05  # "about 20 %" stands for 19 to 21 %, "about 1,200" for 1,150 to 1,250
_ONES, _TENS = tuple(SMALL), tuple(TENS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Leeway:
    """What may differ between a claim and its source besides rounding."""

    rel_tol: float = 0.0
    abs_tol: float = 0.0

    def of(self, stated: float, want: float) -> float:
        """The largest difference to `want` for a claim that is known up to `stated`."""
        return max(stated, self.abs_tol, self.rel_tol * abs(want)) + 1e-9 * abs(want)


def precision(claim: Number, text: str) -> float:
    """How far off the claim may be as it is stated: half of its last digit; "about 1,200": half of
    the last digit before the zeros, too.
    """
    before = text[max(0, claim.start - 16) : claim.start].lower().split()
    if not before or before[-1] not in _HEDGES or not claim.value:
        return claim.step / 2
    if before[-1] == "to" and before[-2:-1] != ["close"]:
        return claim.step / 2
    zeros = claim.step
    while claim.value % (zeros * 10) == 0 and zeros < abs(claim.value):
        zeros *= 10
    return max(claim.step, min(zeros, 2 * _HEDGED * abs(claim.value))) / 2


@dataclass(frozen=True)
class Sources:
    """The numbers of some texts, to be looked up."""

    texts: Sequence[str]
    locale: Locale = "en"

    @cached_property
    def found(self) -> tuple[tuple[int, Number], ...]:
        """Which text, and the number."""
        return tuple((i, one) for i, text in enumerate(self.texts) for one in self._read(text))

    def _read(self, text: str) -> tuple[Number, ...]:
        found = tuple(join_compounds(text, numbers(text, self.locale)))
        said = list(find_counts_in_words(text[:LIMIT]))
        if not said:
            return found
        taken = {k for one in found for k in (one.start, one.end)}
        free = [one for one in said if one.start not in taken]
        return tuple(sorted((*found, *free), key=lambda one: one.start))

    @cached_property
    def labels(self) -> list[Label]:
        """What each of the first numbers is."""
        made: list[Label] = []
        for where, some in groupby(self.found[:MOST_LABELLED], key=itemgetter(0)):
            made += labels(self.texts[where], [number for _, number in some])
        return made

    @cached_property
    def scales(self) -> tuple[float, ...]:
        """What the figures of a table stand for: 1e6 where a text says "in millions" or "€m"."""
        said = {_scale(found[0]) for text in self.texts for found in _IN_UNITS.finditer(text)}
        return tuple(sorted(said))

    @cached_property
    def _exactly(self) -> dict[tuple[float, str], list[int]]:
        listed: dict[tuple[float, str], list[int]] = defaultdict(list)
        for i, (_, one) in enumerate(self.found):
            listed[one.value, one.unit].append(i)
            if one.other is not None:  # "8.460 inhabitants"
                listed[one.other, one.unit].append(i)
        return listed

    def label_of(self, i: int) -> Label | None:
        return self.labels[i] if i < MOST_LABELLED else None

    def measure_of(self, i: int) -> Measure | None:
        return self.labels[i].measure if i < MOST_LABELLED else None

    @cached_property
    def _measured(self) -> dict[str, list[tuple[int, Measure]]]:
        """Dimension -> numbers with a measuring unit."""
        listed: dict[str, list[tuple[int, Measure]]] = defaultdict(list)
        for i, label in enumerate(self.labels):
            if label.measure is not None:
                listed[label.measure.dimension].append((i, label.measure))
        return listed

    @cached_property
    def _index(self) -> dict[Key, tuple[list[float], list[int]]]:
        """Key -> sizes in order, and whose they are."""
        listed: dict[Key, list[tuple[float, int]]] = defaultdict(list)
        for i, (_, one) in enumerate(self.found):
            size = abs(one.value)
            for family in _families(one):
                listed[family, one.value < 0].append((size, i))
                if one.either_sign:
                    listed[family, one.value >= 0].append((size, i))
        return {key: _columns(sorted(pairs)) for key, pairs in listed.items()}

    def states(self, claim: Number, unit: Measure | None, text: str, leeway: Leeway) -> bool:
        """Whether one of the texts states the claim, which stands in `text`."""
        return bool(self.stating(claim, unit, text, leeway))

    def stating(self, claim: Number, unit: Measure | None, text: str, leeway: Leeway) -> list[int]:
        """The numbers that state the claim, which stands in `text` with a measuring `unit`; the
        exact ones win. [SPELLED]: a text says it in words.
        """
        if not self.found:
            return [SPELLED] if self.spells(claim) else []
        exact = self._exactly.get((claim.value, claim.unit))
        if exact:
            exact = exact[:_LOOKS]
            if unit is None:
                return exact
            if exact := self._of_kind(exact, unit, claim.value):
                converted = self._find_converted(claim, unit, precision(claim, text), leeway)
                return list(dict.fromkeys((*exact, *converted)))
        found = list(dict.fromkeys(self._nearly(claim, text, leeway)))
        if unit is not None:
            found = self._of_kind(found, unit, claim.value)
            found = found or self._find_converted(claim, unit, precision(claim, text), leeway)
        if not found and is_scaled(claim):
            for scale in self.scales:
                less = claim._replace(value=claim.value / scale, step=claim.step / scale)
                found += [i for i in self._nearly(less, text, leeway) if i not in found]
        return found or ([SPELLED] if self.spells(claim) else [])

    def spells(self, claim: Number) -> bool:
        """Whether a text says the small whole number in words."""
        return 2 <= claim.value <= 99 and claim.step == 1 and self._spells(claim)

    def _of_kind(self, some: list[int], unit: Measure, value: float) -> list[int]:
        """Those whose measuring unit is the claim's, or is not told."""
        kept = []
        for i in some:
            other = self.measure_of(i)
            if other is None or (same_kind(other, unit) and other[1:] == unit[1:]) or not value:
                kept.append(i)
        return kept

    def _find_converted(
        self, claim: Number, unit: Measure, stated: float, leeway: Leeway
    ) -> list[int]:
        """180 ms where the claim is 0.18 s."""
        found = []
        for i, other in self._measured.get(unit.dimension, ())[:MOST_LABELLED]:
            want = unit.of(other, self.found[i][1].value)
            if abs(want - claim.value) <= leeway.of(stated, want):
                found.append(i)
        return found

    def _nearly(self, claim: Number, text: str, leeway: Leeway) -> Iterator[int]:
        negative = claim.value < 0
        yield from self._stating(claim, text, leeway, negative=negative)
        if claim.either_sign:
            yield from self._stating(claim, text, leeway, negative=not negative)
        yield from self._with_other_sign(claim, text, leeway)

    def _with_other_sign(self, claim: Number, text: str, leeway: Leeway) -> Iterator[int]:
        """ "fell by 5 %" is -5 %, and the other way round."""
        negative = claim.value >= 0
        falls: bool | None = None
        for i in self._stating(claim, text, leeway, negative=negative):
            where, source = self.found[i]
            if negative:
                falls = _falling(text, claim) if falls is None else falls
                if not falls:
                    return
                yield i
            elif _falling(self.texts[where], source):
                yield i

    def _stating(
        self, claim: Number, text: str, leeway: Leeway, *, negative: bool
    ) -> Iterator[int]:
        if not self._index:
            return
        stated = precision(claim, text)
        for family, factor, named in _readings(claim):
            sizes, whose = self._index.get((family, negative), _NONE)
            if not sizes:
                continue
            want = abs(claim.value) * factor
            allowed = leeway.of(stated * factor, want)
            at = bisect_left(sizes, want - allowed)
            for i in range(at, min(at + _LOOKS, len(sizes))):
                if sizes[i] > want + allowed:
                    break
                if self._may_be(claim, text, whose[i], named):
                    yield whose[i]

    def _may_be(self, claim: Number, text: str, i: int, named: bool) -> bool:
        """Whether a number of the same size is of the same kind."""
        if named:
            return self._percent_named(claim, text, i)
        mine, its = claim.unit, self.found[i][1].unit
        if mine == its or not mine or not its or mine in PARTS:
            return True
        return bool(currencies(mine) & currencies(its))

    def _percent_named(self, claim: Number, text: str, i: int) -> bool:
        """A bare 30 is 30 % where the words before it say so, as in a table or a record."""
        where, source = self.found[i]
        if claim.unit:
            return _names_percent(self.texts[where], source)
        return _names_percent(text, claim)

    @cached_property
    def _words(self) -> str:
        return "\n".join(self.texts).casefold()

    @cached_property
    def _spelled(self) -> dict[tuple[float, str], bool]:
        return {}

    def _spells(self, claim: Number) -> bool:
        """12 where a text says "twelve"."""
        key = _key(claim)
        if key not in self._spelled:
            words = _in_words(claim)
            self._spelled[key] = (
                claim.unit in ("", "%")
                and words in self._words
                and bool(
                    re.search(
                        rf"(?<![\w-]){words}\b(?!-\w| (?:hundred|thousand|\w+illion))", self._words
                    )
                )
            )
        return self._spelled[key]


def _scale(said: str) -> float:
    said = said.lower()
    if "b" in said.removeprefix("gbp"):
        return 1e9
    return 1e6 if "m" in said else 1e3


def is_scaled(claim: Number) -> bool:
    """Whether it says thousand, million or more, or is so round that it could."""
    return claim.step >= 100 and claim.text[-1:].isalpha()


_NONE: tuple[list[float], list[int]] = ([], [])


def _columns(pairs: list[tuple[float, int]]) -> tuple[list[float], list[int]]:
    return [size for size, _ in pairs], [i for _, i in pairs]


def _families(number: Number) -> Iterable[str]:
    if not number.unit:
        return ("", _FRACTION) if number.step < 1 else ("",)
    if number.unit in PARTS:
        return (number.unit,)
    return ("money",)


def _readings(claim: Number) -> Iterator[tuple[str, float, bool]]:
    """Families to look in, what the claim is there (a factor), and whether words must say so."""
    parts = PARTS.get(claim.unit)
    if parts:
        for unit, of in PARTS.items():
            yield unit, of / parts, False
        yield _FRACTION, 1 / parts, False
        yield "", 1.0, True
        return
    yield "", 1.0, False
    yield "money", 1.0, False
    if claim.unit:
        return
    if claim.step < 1:
        for unit, of in PARTS.items():
            yield unit, of, False
    yield "%", 1.0, True


def _falling(text: str, number: Number) -> bool:
    return bool(
        _FALLING.search(text, max(0, number.start - _AROUND), number.start)
        or _FALLING.match(text[number.end : number.end + 16].lstrip())
    )


def _names_percent(text: str, number: Number) -> bool:
    low = max(0, number.start - _AROUND)
    line = text.rfind("\n", low, number.start) + 1
    return bool(_PERCENT_NAMED.search(text, max(line, low), number.start))


def _key(claim: Number) -> tuple[float, str]:
    return claim.value, claim.unit


def _in_words(claim: Number) -> str:
    """The English words for a whole number from 2 to 99 ("one" is no number most of the time)."""
    tens, ones = divmod(int(claim.value), 10)
    if tens < 2:
        words = _ONES[int(claim.value)]
    else:
        words = _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")
    return f"{words} percent" if claim.unit == "%" else words
