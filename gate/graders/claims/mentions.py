"""Dates, times of day, codes and names that an answer mentions: do the sources have them, and where
the answer speaks of them?
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gate.graders.claims.entities import dates_in, days_of
from gate.graders.claims.labels import Words, words
from gate.graders.claims.places import ELSEWHERE, Places
from gate.graders.claims.sentences import Sentences
from gate.text.late_pattern import late_pattern
from gate.text.numbers.measures import measure_of_word
from gate.text.numbers.number import LIMIT, Number

NO_CODE = "no source has this code"
NO_DATE = "no source has this date"
NO_TIME = "no source has this time of day"
UNKNOWN_NAME = "no source mentions this name"
_MOST = 100  # of each kind
_OFTEN = 4  # a name that stands so often in the sources belongs to nothing else
_TIME = late_pattern(
    r"(?<![\d:.,])(?P<hour>[01]?\d|2[0-4])(?:[:h](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?)?(?!:?\d)"
    r"(?:[ ]?(?P<half>[ap])\.?m\b|(?<=[:h]\d\d)(?![ ]?(?:min|h|km|mm)))",
    re.IGNORECASE,
)
_TO = r"(?:to|through|until|and|bis|und|au|et|al?|y|-|–)"
_DAY_BEFORE = late_pattern(rf"(?<![\d.,:])(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?[ ]?{_TO}[ ]?\Z")
_DAY_AFTER = late_pattern(rf"[ ]?{_TO}[ ]?(?P<day>\d{{1,2}})(?![\d:]|[.,]\d|[ ]?[^\W\d_])")
_MAY_TIME = late_pattern(r"\d(?::\d|h\d| ?[ap]\.?m)", re.IGNORECASE)
_CODE = re.compile(r"[A-Z](?<![\w.#-].)[A-Z]{0,4}-?\d+(?![\w-]|[.,]\d)")  # E-4417
_MAY_VERSION = re.compile(r"\.\d+\.\d")
_VERSION = re.compile(r"\d+(?<![\w.,-]\d)\.\d+\.\d+(?![\w,]|\.\d)")  # 2.0.3
# A word with a capital after a word or comma, so that it begins no sentence, with what it goes on.
_NAME = late_pattern(
    r"[A-Z](?<=[\w,;(] .)(?:[a-z]{2,}[\w'’]*(?: (?:of |de |van |von )?[A-Z][\w'’-]+){0,4}"
    r"|[A-Z]{2,}\b)"
)
_GERMAN_WORDS = (
    "der die das den dem des ein eine und ist sind wurde nicht mit für auf nach bei vom zum zur"
    " liegt damit nur ihr im sie"
)
_GERMAN = frozenset(_GERMAN_WORDS.split())
_WORD = re.compile(r"[^\W\d_]{4,}")
_COMMON_WORDS = (
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june"
    " july august september october november december celsius fahrenheit kelvin english german"
    " french spanish however therefore total overall average note please yes step table figure"
    " section article version english european american british western eastern northern southern"
    " internet"
)
_COMMON = frozenset(_COMMON_WORDS.split())
_SAID_OF_ITSELF = re.compile(r"\b(?:I|I'm|I’m|we|our|my|me|us)\b")
Key = tuple[object, ...]


class Unknown(NamedTuple):
    """What no source has, or none in that place, and why that speaks against the answer."""

    claim: Number  # its value tells nothing
    why: str


class _Kind(NamedTuple):
    """`find` gives its mentions in a text, `read` what one can mean."""

    find: Callable[[str], Iterable[re.Match[str]]]
    read: Callable[[str], Iterator[Key]]
    unknown: str
    beside: Callable[[re.Match[str]], Iterator[Key]] = lambda _: iter(())  # what it tells with it
    placed: bool = True  # whether one belongs to one sentence or row


def _times_of(text: str) -> Iterable[re.Match[str]]:
    return _TIME.finditer(text) if _MAY_TIME.search(text) else ()


def _versions_of(text: str) -> Iterable[re.Match[str]]:
    return _VERSION.finditer(text) if _MAY_VERSION.search(text) else ()


def _days(written: str) -> Iterator[Key]:
    return ((month, day) for _, month, day in dates_in(written) if day)


def _days_of_range(found: re.Match[str]) -> Iterator[Key]:
    """The other end of "9 to 11 May" and "May 9-11"."""
    text = found.string
    other = _DAY_BEFORE.search(text, max(0, found.start() - 12), found.start())
    other = other or _DAY_AFTER.match(text, found.end())
    if other:
        yield from ((month, int(other["day"])) for _, month, day in dates_in(found[0]) if day)


def _minutes(written: str) -> Iterator[Key]:
    """Minutes since midnight, and seconds if told: of 6:30 without "am" or "pm" two readings."""
    found = _TIME.match(written)
    if found:
        hour, half = int(found["hour"]), (found["half"] or "").lower()
        minutes = 60 * (hour % 12) + int(found["minute"] or 0)
        seconds = (int(found["second"]),) if found["second"] else ()
        if hour <= 12 and half != "p":
            yield (minutes, *seconds)
        if hour > 12 or half != "a":
            yield (minutes + 720, *seconds)


def _without_seconds(found: re.Match[str]) -> Iterator[Key]:
    """An answer may leave seconds away."""
    return (key[:1] for key in _minutes(found[0]) if len(key) > 1)


def _itself(written: str) -> Iterator[Key]:
    yield (written,)


_KINDS = (
    _Kind(days_of, _days, NO_DATE, _days_of_range),
    _Kind(_times_of, _minutes, NO_TIME, _without_seconds),
    _Kind(_CODE.finditer, _itself, NO_CODE),
    _Kind(_versions_of, _itself, NO_CODE, placed=False),
)


@dataclass(frozen=True)
class Mentions:
    """What one answer mentions. `words_around` gives the words of the sentence at a position, and
    further ones to go by where the sources have none of them.
    """

    answer: str
    question: str
    places: Places
    words_around: Callable[[int], tuple[Words, Words]]

    def list_unsupported(self) -> Iterator[Unknown]:
        for kind in _KINDS:
            yield from self._values(kind)
        names = list(self._names())
        if names and not is_german(self.answer):
            yield from names

    def _values(self, kind: _Kind) -> Iterator[Unknown]:
        """Those of one kind that no source has, where the sources have some of the kind; and those
        that the sources have of something else.
        """
        said = list(kind.find(self.answer[:LIMIT]))[:_MOST]
        if not said:
            return
        spots: dict[Key, list[tuple[int, int]]] = defaultdict(list)
        shapes = set()
        for where, text in enumerate(self.places.texts):
            for found in kind.find(text[:LIMIT]):
                shapes.add(_shape(found[0]))
                for key in (*kind.read(found[0]), *kind.beside(found)):
                    spots[key].append((where, found.start()))
        asked = {key for one in kind.find(self.question) for key in kind.read(one[0])}
        for found in said if spots else ():
            keys = list(kind.read(found[0]))
            if not asked.isdisjoint(keys):
                continue
            held = [spot for key in keys for spot in spots.get(key, ())]
            if held:
                if not kind.placed:
                    continue
                if kind.unknown == NO_CODE and any(map(self.places.begins_with, held)):
                    continue
                others = (spot for key in spots for spot in spots[key] if key not in keys)
                if self._is_elsewhere(found, held, others):
                    yield _make_unknown(found, ELSEWHERE)
            elif kind.unknown != NO_CODE or _shape(found[0]) in shapes:
                yield _make_unknown(found, kind.unknown)

    def _is_elsewhere(
        self,
        found: re.Match[str],
        spots: Sequence[tuple[int, int]],
        others: Iterable[tuple[int, int]] = (),
    ) -> bool:
        own = words(found[0])
        said = tuple(some - own for some in self.words_around(found.start()))
        return self.places.is_elsewhere(spots, said, others)

    def _names(self) -> Iterator[Unknown]:
        """Names in the sentences that speak of what the sources speak of; not of the one who
        answers. A word of the sources with another ending ("Iberian" for "Iberia") is no new name.
        """
        said = list(_NAME.finditer(self.answer[:LIMIT]))[:_MOST]
        if not said:
            return
        texts = (*self.places.texts, self.question)
        folded = ""
        sentences = Sentences(self.answer)
        known: dict[str, Sequence[tuple[int, int]] | None] = {}
        for found in said:
            name = found[0]
            if name not in known:
                has_all = all(any(word in text for text in texts) for word in name.split())
                known[name] = self._places_of(name) if has_all else None
            spots = known[name]
            if spots is not None:
                if spots and self._is_elsewhere(found, spots):
                    yield _make_unknown(found, ELSEWHERE)
                continue
            folded = folded or "\n".join(text[:LIMIT] for text in texts).casefold()
            begin, end = sentences.around(found.start())
            sentence = self.answer[begin:end]
            new = any(_is_new(word, folded) for word in found[0].split())
            about = (one.casefold() for one in _WORD.findall(sentence) if one not in found[0])
            if new and not _SAID_OF_ITSELF.search(sentence) and any(one in folded for one in about):
                yield _make_unknown(found, UNKNOWN_NAME)

    def _places_of(self, name: str) -> Sequence[tuple[int, int]]:
        """The positions in the sources of a name that belongs to some of them only; none of one
        that may stand beside anything.
        """
        if name in self.question or _is_common(name):
            return ()
        spots = self._spots_of(name)
        if len(spots) == _OFTEN:
            return ()
        return () if any(map(self.places.is_subject, spots)) else spots

    def _spots_of(self, name: str) -> list[tuple[int, int]]:
        """The first places of the sources that have the name."""
        spots: list[tuple[int, int]] = []
        for where, text in enumerate(self.places.texts):
            at = text.find(name)
            while at >= 0 and len(spots) < _OFTEN:
                spots.append((where, at))
                at = text.find(name, at + 1)
        return spots


def _shape(code: str) -> str:
    return "".join("0" if sign.isdigit() else sign for sign in code)


def _is_new(word: str, folded: str) -> bool:
    plain = word.casefold().removesuffix("'s").removesuffix("’s").strip("'’-")
    if len(plain) < 4 or _is_common(plain):
        return False
    return not any(part[: max(4, len(part) - 3)] in folded for part in plain.split("-"))


def _is_common(word: str) -> bool:
    return word.casefold() in _COMMON or measure_of_word(word.casefold()) is not None


def is_german(text: str) -> bool:
    """Whether the text is in a language that writes all nouns with a capital."""
    return len(_GERMAN.intersection(text.split())) > 1


def _make_unknown(found: re.Match[str], why: str) -> Unknown:
    return Unknown(Number(value=0.0, text=found[0], start=found.start(), end=found.end()), why)
