"""Numbers in English words: "twenty-five", "two million", "half a dozen", "three quarters"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gate.text.late_pattern import late_pattern
from gate.text.numbers import units
from gate.text.numbers.measures import measure_of_word
from gate.text.numbers.number import LIMIT, SMALL, TENS, Number
from gate.text.numbers.scanning import is_negated

_WORD = late_pattern(r"[A-Za-z]+")
_NOTHING = ("nil", "nought", "naught")
_SMALL = SMALL | dict.fromkeys(_NOTHING, 0)
_TENS = TENS | {"fourty": 40}
_ARTICLES = frozenset(("a", "an"))
_TIMES = {"dozen": 12, "dozens": 12, "score": 20}
_UNDER_NAMES = "half third quarter fifth sixth seventh eighth ninth tenth"
_UNDER = dict(zip(_UNDER_NAMES.split(), (2, 3, 4, 5, 6, 7, 8, 9, 10), strict=True))
_UNDER |= {f"{name}s": under for name, under in _UNDER.items()} | {"halves": 2}
_BEGINS = frozenset((*_SMALL, *_TENS, *_ARTICLES, "half", "twice", "thrice"))
# A number of these is none: what stands before it, or after it.
_IDIOMS_BEFORE = ("cloud nine", "catch twenty", "world war two", "chapter eleven", "formula one")
_IDIOMS_AFTER = (
    *("nine to five", "seven eleven", "forty winks", "nine lives", "two cents", "six pack"),
    *("four letter word", "a million times", "a million bucks", "a thousand words", "two faced"),
    *("fifty fifty", "twenty four seven", "one in a million", "five o clock", "nine yards"),
)
_MULTIPLES = {"twice": 2.0, "thrice": 3.0}
_HAS = frozenset(("has", "have", "had", "is", "was", "s", "contains", "found", "with"))
_NO_NOUN_WORDS = "of who that which more another to in for on with and or by at thing"
_NO_NOUN = frozenset(_NO_NOUN_WORDS.split())
_CLOCK = frozenset(("past", "o", "oclock", "am", "pm"))
_SURELY_ONE = frozenset(("only", "just", "exactly", "precisely", "least", "most", "single"))
_AFTER_HALF = frozenset(("of", "a", "the", "percent", "an", "our", "their", "its", "all"))
_ORDINAL_NAMES = "first second third last other latter former this that next better"
_ORDINALS = frozenset(_ORDINAL_NAMES.split())  # the second half is no 0.5
_MOST = 12  # words of one number


class _Word(NamedTuple):
    word: str
    start: int
    end: int


def worded(text: str) -> tuple[Number, ...]:
    """Every number in words of the first LIMIT characters, in their order.

    "One" alone is none ("no one"), nor are ordinals, nor "tens of thousands".
    """
    text = text[:LIMIT]
    words = [_Word(found[0].lower(), *found.span()) for found in _WORD.finditer(text)]
    if _BEGINS.isdisjoint(word for word, _, _ in words):
        return ()
    return tuple(_read(text, words))


def _read(text: str, words: list[_Word]) -> Iterator[Number]:
    at = 0
    while at < len(words):
        if words[at].word in _BEGINS:
            run = _run(text, words, at)
            before = words[at - 1].word if at else ""
            value, used = _value(run, before)
            if used and (skipped := _skip(words, at, used)):
                at += skipped
                continue
            value, used, year = _with_rest(run, value, used)
            if used:
                start, end = words[at].start, words[at + used - 1].end
                if 0 < value < 1 and text.startswith(" of a per", end):
                    end += len(" of a")  # a quarter of a percentage point
                unit, end = units.unit_at(text, end)
                if used > 1 or unit or run[0] != "one" or _is_one_of_them(before, words, at):
                    sign = -1 if is_negated(text, start) else 1
                    yield Number(
                        value=sign * value,
                        unit=unit,
                        text=text[start:end],
                        start=start,
                        end=end,
                        step=1.0 if float(value).is_integer() else 0.01 * max(1.0, value),
                        maybe_date=year,
                    )
                at += used
                continue
        at += 1


def _skip(words: list[_Word], at: int, used: int) -> int:
    """How many words are no amount: of "cloud nine", "nine to five", "half past three", "five
    o'clock"; 0 where the words from there on are one.
    """
    before = [one.word for one in words[max(0, at - 2) : at]]
    after = [one.word for one in words[at : at + used + 3]]
    if f"{' '.join(before[-1:])} {after[0]}" in _IDIOMS_BEFORE:
        return used
    said = f"{' '.join(after)} "
    for idiom in _IDIOMS_AFTER:
        if said.startswith(f"{idiom} "):
            return max(used, idiom.count(" ") + 1)
    is_time = after[used : used + 1] and after[used] in _CLOCK
    return used if is_time or (len(before) > 1 and before[-1] == "past") else 0


def _is_one_of_them(before: str, words: list[_Word], at: int) -> bool:
    """Whether "one" counts: "only one", "one hour", "there was one error"."""
    following = words[at + 1].word if at + 1 < len(words) else ""
    if before in _SURELY_ONE or measure_of_word(following):
        return before not in ("no", "any", "every") and following != "of"
    return before in _HAS and bool(following) and following not in _NO_NOUN


def _with_rest(run: list[str], value: float, used: int) -> tuple[float, int, bool]:
    """With decimals ("three point five"), or as the year that it is ("nineteen eighty-four")."""
    rest = run[used:]
    if rest[:1] == ["point"]:
        figures = [str(_SMALL[word]) for word in rest[1:] if _SMALL.get(word, 10) < 10]
        if figures:
            return value + float(f"0.{''.join(figures)}"), used + 1 + len(figures), False
    if used == 1 and run[0] in ("eighteen", "nineteen", "twenty") and rest:
        ones, more = _value(rest, "")
        if more and 10 <= ones < 100 and float(ones).is_integer():
            return 100 * value + ones, used + more, True
    return value, used, False


def _run(text: str, words: list[_Word], at: int) -> list[str]:
    """The words from there on that nothing but a space or a hyphen keeps apart."""
    run = [words[at].word]
    for before, word in zip(words[at:], words[at + 1 : at + _MOST], strict=False):
        if text[before.end : word.start] not in (" ", "-", "\u2011", "\n"):
            break
        run.append(word.word)
    return run


def _value(run: list[str], before: str) -> tuple[float, int]:
    """What the number is that begins the run, and how many words it has; 0 words: there is none."""
    if run[0] == "half":
        return _half(run, before)
    if run[0] in _MULTIPLES:
        return _MULTIPLES[run[0]], 1
    if run[0] == "a" and run[1:2] in (["couple"], ["pair"]) and run[2:3] == ["of"]:
        return 2.0, 2
    used = 0
    total, current = 0.0, 0.0
    while used < len(run):
        word, following = run[used], run[used + 1] if used + 1 < len(run) else ""
        if word in _ARTICLES:
            known = following in _TIMES or following in _UNDER or _scale(following)
            if used or not known or following == "score" or following.endswith("s"):
                break
            current = 1.0
        elif word in _TENS or word in _SMALL:
            figure = _TENS.get(word) or _SMALL.get(word) or 0
            if used and not _may_follow(current, figure):
                break
            current += figure
        elif (power := _scale(word)) and used:
            if power == 2:
                current *= 100
            else:
                total, current = total + (current or 1.0) * 10.0**power, 0.0
        elif word in _TIMES and used:
            return total + current * _TIMES[word], used + 1
        elif word in _UNDER and used and not total and current < 20:
            return _part(current / _UNDER[word], run, used + 1)
        elif word == "and" and used and (more := _after_and(run, used)):
            added, words = more
            current += added
            used += words
            continue
        else:
            break
        used += 1
    if used == 1 and run[0] in _ARTICLES:
        return 0.0, 0
    return total + current, used


def _half(run: list[str], before: str) -> tuple[float, int]:
    if before in _ORDINALS or (len(run) > 1 and run[1] not in _AFTER_HALF):
        return 0.0, 0
    if len(run) > 2 and run[1] in _ARTICLES and run[2] in _TIMES:
        return 0.5 * _TIMES[run[2]], 3
    if len(run) > 2 and run[1] in _ARTICLES and (power := _scale(run[2])):
        return 0.5 * 10.0**power, 3
    return 0.5, 1


def _part(value: float, run: list[str], used: int) -> tuple[float, int]:
    """ "three quarters", and "three quarters of a million"."""
    if (
        run[used : used + 2] == ["of", "a"]
        and used + 2 < len(run)
        and (power := _scale(run[used + 2]))
    ):
        return value * 10.0**power, used + 3
    return value, used


def _after_and(run: list[str], at: int) -> tuple[float, int] | None:
    """ "two and a half", "one hundred and twenty": what is added, and by how many words."""
    rest = run[at + 1 : at + 3]
    if len(rest) == 2 and rest[0] in (*_ARTICLES, "one", "three") and rest[1] in _UNDER:
        over = 3 if rest[0] == "three" else 1
        return over / _UNDER[rest[1]], 3
    figure = (_TENS.get(rest[0]) or _SMALL.get(rest[0])) if rest else None
    if figure and run[at - 1] in ("hundred", "thousand", "million"):
        return figure, 2
    return None


def _may_follow(current: float, figure: int) -> bool:
    """ "twenty five", "two hundred five", "two thousand three", but not "two three"."""
    below = current % 100
    if not below:
        return True
    return below >= 20 and below % 10 == 0 and 0 < figure < 10


def _scale(word: str) -> int | None:
    return units.scale_of(word) if word not in ("mio", "mln", "mrd", "mld", "trn") else None
