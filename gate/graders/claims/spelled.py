"""Numbers that an answer says in words: "twelve percent", "three stores", "nine times"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set

from gate.text.late_pattern import late_pattern
from gate.text.numbers.foreign_words import FRENCH, GERMAN, SPANISH
from gate.text.numbers.languages import groups_with_points
from gate.text.numbers.measures import measure_of_word
from gate.text.numbers.number import SMALL, TENS, Number

_VALUES = {word: n for word, n in SMALL.items() if n}
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_ONES = "|".join(_VALUES)
_NUMBER = late_pattern(
    rf"(?<![\w-])(?:(?P<tens>{'|'.join(TENS)})(?:[- ](?P<ones>{_ONES}))?"
    rf"|(?P<small>{_ONES}))"
    r"(?P<half> and a half)?(?:[ -](?P<scale>hundred|thousand|million|billion))?"
    r"(?=[ -](?P<next>\w+)(?: (?P<then>\w+))?)",
    re.IGNORECASE,
)
# Two to twelve in German, French and Spanish, but for those that are English words.
_FOREIGN = {
    word: float(n)
    for names in (GERMAN, FRENCH, SPANISH)
    for n, word in enumerate(names.split()[:11], 2)
    if word != "once"
}
_FOREIGN_NUMBER = late_pattern(rf"\b(?P<word>{'|'.join(_FOREIGN)}) (?P<next>[^\W\d_]+)")
_UNITS = "hours?|days?|weeks?|months?|years?"
_TIMES = late_pattern(
    r"\b(?:(?P<done>doubled|tripled|trebled|quadrupled|halved)|(?P<as>twice|double|triple|half)"
    r"(?= (?:as|the|that|its|their|his|her|what)\b))",
    re.IGNORECASE,
)
_FACTORS = {
    "doubled": 2.0,
    "twice": 2.0,
    "double": 2.0,
    "tripled": 3.0,
    "trebled": 3.0,
    "triple": 3.0,
    "quadrupled": 4.0,
    "halved": 0.5,
    "half": 0.5,
}
_ENGLISH = frozenset((*_VALUES, *TENS))
_TRIGGERS = _ENGLISH.union(_FACTORS)
_TO_SPACES = str.maketrans(dict.fromkeys("-.,;:!?()\"'*/|[]<>=+–—„“”«»¿¡’", " "))
TIMES = "times"  # in place of a unit: the number is how many times as much
_ROUGHLY = 0.1  # "doubled" stands for 1.9 to 2.1 times
_PERCENT = frozenset(("percent", "percentage", "per", "%"))
_POINTS = frozenset(("point", "points"))
_PERCENT_BEFORE = late_pattern(r"%|per ?cent")
_MONEY = {"dollars": "dollars", "euros": "euros", "dollar": "dollar", "euro": "euro"}
_NO_MULTIPLE_WORDS = (
    "a an per daily each every weekly monthly yearly in over before since during this "
    "last for and or but with within on at between until"
)
_NO_MULTIPLE = frozenset(_NO_MULTIPLE_WORDS.split())
_COMPARED_WORDS = "before after later earlier longer shorter ago older younger than per"
_COMPARED = frozenset(_COMPARED_WORDS.split())
_PART_NAMES = "half third quarter fifth sixth seventh eighth ninth tenth"
_PARTS_OF_ONE = _PART_NAMES.split()
_PART_VALUES = {word: n for n, word in enumerate(_PARTS_OF_ONE, 2)}
_PART_WORDS = frozenset(f"{word}{ending}" for word in _PARTS_OF_ONE for ending in ("", "s"))
# "One pupil in six", "three out of four"; "two thirds", "a quarter of it", "by half".
_SHARE = late_pattern(
    rf"\b(?P<few>{_ONES}) (?:[^\W\d_]+ )?(?:in|out of) (?:every )?(?P<all>{_ONES})\b"
    rf"(?! (?:{_UNITS}))"
    rf"|\b(?P<count>two|three|four|five) (?P<parts>{'|'.join(_PARTS_OF_ONE)})s\b"
    rf"|\b(?:an?|one) (?P<part>{'|'.join(_PARTS_OF_ONE[1:])})"
    r"(?= (?:of (?!an? |the (?:hour|year|century|day))|more|less|fewer|lower|higher|larger"
    r"|smaller))"
    rf"|(?<=by )(?:an? )?(?P<by>{'|'.join(_PARTS_OF_ONE)})\b",
    re.IGNORECASE,
)
_TELLING = _TRIGGERS.union(_FOREIGN, _PART_WORDS, ("in", "out"))
_ROUGH_SHARE = 0.16  # "a third" stands for 30.7 to 36 %
_NO_NOUN_WORDS = "or and to of the in more less other times third thirds half fifths"
_NO_NOUN = frozenset(_NO_NOUN_WORDS.split())


def find_spelled(text: str, counted: Callable[[str], bool]) -> Iterator[Number]:
    """Those that are claims: with a unit, "times", or a noun that is `counted` by the sources."""
    words = _words_of(text)
    said = _TRIGGERS & words
    for found in _NUMBER.finditer(text) if said - _FACTORS.keys() else ():
        value, step = _value(found)
        noun, then = found["next"].lower(), (found["then"] or "").lower()
        if noun in _VALUES or noun in TENS or (noun == "and" and then in _VALUES):
            continue
        if noun in _PERCENT and (noun != "per" or then == "cent"):
            points = noun == "percentage"
            end = found.end() + 1 + len(noun) + (1 + len(then) if noun == "per" or points else 0)
            yield _make_number(text, found.start(), end, value, "pp" if points else "%", step)
        elif noun in _POINTS and _PERCENT_BEFORE.search(
            text, max(0, found.start() - 80), found.start()
        ):
            yield _make_number(text, found.start(), found.end() + 1 + len(noun), value, "pp", step)
        elif noun in _MONEY:
            yield _make_number(text, found.start(), found.end() + 1 + len(noun), value, noun, step)
        elif noun == "times":
            if then and then not in _NO_MULTIPLE and value > 1:
                yield _make_number(text, found.start(), found.end() + 6, value, TIMES, step)
        elif value > 1 and (
            (noun not in _NO_NOUN and counted(noun)) or (then in _COMPARED and _is_amount(noun))
        ):
            yield _make_number(text, found.start(), found.end(), value, "", step)
    for one, noun in _foreign(text, words):
        if counted(noun):
            yield one
    may_share = _PART_WORDS & words or (said and not words.isdisjoint(("in", "out")))
    for found in _SHARE.finditer(text) if may_share else ():
        share = 100 * _share(found)
        if 0 < share < 100:
            yield _make_number(text, found.start(), found.end(), share, "%", _ROUGH_SHARE * share)
    for found in _TIMES.finditer(text) if said & _FACTORS.keys() else ():
        factor = _FACTORS[found[0].lower()]
        step = 2 * _ROUGHLY * factor if found["done"] else factor / 5
        yield _make_number(text, found.start(), found.end(), factor, TIMES, step)


def _words_of(text: str) -> Set[str]:
    """Those, in lower case, that tell which patterns can match, since patterns are slow."""
    return _TELLING.intersection(text.lower().translate(_TO_SPACES).split())


def _foreign(text: str, words: Set[str]) -> Iterator[tuple[Number, str]]:
    """ "Trois ans", with the noun; in texts that are not in English."""
    if not _FOREIGN.keys().isdisjoint(words) and groups_with_points(text):
        for found in _FOREIGN_NUMBER.finditer(text):
            value = _FOREIGN[found["word"]]
            yield (
                _make_number(text, found.start(), found.end("word"), value, "", 1.0),
                found["next"].lower(),
            )


def _is_amount(noun: str) -> bool:
    """ "Ten years before", "two fewer than"."""
    unit = measure_of_word(noun)
    return noun in ("fewer", "more") or (unit is not None and unit.dimension in ("time", "months"))


def _share(found: re.Match[str]) -> float:
    if found["all"]:
        return _VALUES[found["few"].lower()] / _VALUES[found["all"].lower()]
    part = (found["parts"] or found["part"] or found["by"]).lower()
    return (_VALUES[found["count"].lower()] if found["count"] else 1) / _PART_VALUES[part]


def find_counts_in_words(text: str) -> Iterator[Number]:
    """All whole numbers above one that the text says in words, whatever they count."""
    words = _words_of(text)
    if not _ENGLISH.isdisjoint(words):
        for found in _NUMBER.finditer(text):
            value, step = _value(found)
            noun = found["next"].lower()
            unit, end = "", found.end()
            if noun in _PERCENT and noun != "per":
                unit, end = "%", found.end() + 1 + len(noun)
            if value > 1 and noun not in _VALUES and noun not in TENS:
                yield _make_number(text, found.start(), end, value, unit, step)
    yield from (one for one, _ in _foreign(text, words))


def nouns(text: str) -> Iterator[str]:
    """The words that the text counts in words."""
    for found in _NUMBER.finditer(text):
        yield found["next"].lower()
        if found["then"]:
            yield found["then"].lower()
    yield from (noun for _, noun in _foreign(text, _words_of(text)))


def _value(found: re.Match[str]) -> tuple[float, float]:
    small = found["small"] or found["ones"]
    value = TENS.get((found["tens"] or "").lower(), 0) + _VALUES.get((small or "").lower(), 0)
    scale = _SCALES.get((found["scale"] or "").lower(), 1.0)
    half = 0.5 if found["half"] else 0.0
    return (value + half) * scale, (0.1 if half else 1.0) * scale


def _make_number(text: str, start: int, end: int, value: float, unit: str, step: float) -> Number:
    end = min(end, len(text))
    return Number(value=value, unit=unit, step=step, text=text[start:end], start=start, end=end)
