"""Sentences that list names and numbers apart: "Revenue and cost were 12 and 15, respectively"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gate.text.late_pattern import late_pattern
from gate.text.numbers.number import Number

_WORD = late_pattern(r"\b(?:respectively|in that order)\b", re.IGNORECASE)
_SENTENCE_END = late_pattern(r"[.!?](?=\s)|[;\n]|\Z")
_SEPARATOR = late_pattern(r"\s*,\s*(?:and\b)?|\s+(?:and|&)\s+", re.IGNORECASE)
# Between two numbers of one list: up to two words of a unit, and what separates.
_LIST = late_pattern(r"(?:\s?[^\W\d]{1,20}){0,2}\s*(?:,|,?\s?\band\b|&)\s*\W{0,3}", re.IGNORECASE)
_LONGEST_GAP = 60
_MOST = 30  # numbers of one list


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Where a name stands, and the index of its number."""

    start: int
    end: int
    number: int


def paired(text: str, found: Sequence[Number]) -> tuple[Pair, ...]:
    """Each name of such a sentence with its number; `found`: the numbers of the text, in order."""
    ends = [end.end() for end in _SENTENCE_END.finditer(text)]
    starts = [number.start for number in found]
    pairs: list[Pair] = []
    done = -1
    for word in _WORD.finditer(text):
        at = bisect_left(ends, word.end())
        begin, end = ends[at - 1] if at else 0, ends[min(at, len(ends) - 1)]
        if begin == done:
            continue
        done = begin
        inside = range(bisect_left(starts, begin), bisect_left(starts, end))
        run = _last_run(text, found, inside)
        if len(run) > 1:
            pairs += _pairs(text, found, run, (begin, end), word)
    return tuple(pairs)


def _last_run(text: str, found: Sequence[Number], inside: range) -> list[int]:
    """The last list of numbers among those."""
    run = list(inside[-1:])
    for i in reversed(inside[:-1]):
        gap = text[found[i].end : found[run[0]].start]
        if len(gap) > _LONGEST_GAP or len(run) >= _MOST or not _LIST.fullmatch(gap):
            break
        run.insert(0, i)
    return run


def _pairs(
    text: str,
    found: Sequence[Number],
    run: list[int],
    sentence: tuple[int, int],
    word: re.Match[str],
) -> Iterator[Pair]:
    first, last = found[run[0]].start, found[run[-1]].end
    after = list(_items(text, last, word.start() if word.start() > last else sentence[1]))
    before = list(_items(text, sentence[0], min(first, word.start())))
    names = after if len(after) == len(run) else before[-len(run) :]
    if len(names) == len(run):
        for (start, end), number in zip(names, run, strict=True):
            yield Pair(start=start, end=end, number=number)


def _items(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """What stands between commas and "and"."""
    at = begin
    for separator in _SEPARATOR.finditer(text, begin, end):
        if text[at : separator.start()].strip(" .:\n"):
            yield at, separator.start()
        at = separator.end()
    if text[at:end].strip(" .:\n"):
        yield at, end
