"""Shares told by two counts: "8 out of 10", "one in five", "8/10", "three of four"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gate.text.late_pattern import late_pattern
from gate.text.numbers.number import LIMIT, SMALL, TENS, Number

_WORDS = {name: value for name, value in (SMALL | TENS).items() if value}
_WORDS |= {"a hundred": 100, "one hundred": 100, "a thousand": 1000, "one thousand": 1000}
_COUNT = r"\d{1,4}|" + "|".join(sorted(_WORDS, key=len, reverse=True))
# "5 in 10 minutes" is a speed, "one in May" a day.
_NO_WHOLE = (
    r"(?![\w/]|[.,:]\d|[- ](?:second|minute|hour|day|week|month|year|cit(?:y|ies)|countr(?:y|ies)"
    r"|states|languages|places|hundred|thousand|million|percent|per cent|%))"
)
_SHARE = late_pattern(
    rf"(?<![\w.,/$€£:-])(?P<part>{_COUNT})(?P<joint> (?:out of|in|of) (?:every )?|/)"
    rf"(?P<whole>{_COUNT}){_NO_WHOLE}",
    re.IGNORECASE,
)
_ROUND = frozenset((10, 12, 15, 20, 25, 30, 40, 50, 60, 100, 200, 500, 1000))
_FEW = 10  # "one in five", "3 in 10": more is no share ("12 in 50 cities")


def find_shares(text: str, *, words: bool) -> tuple[Number, ...]:
    """Each share of the first LIMIT characters, in percent; with `words` those in words too."""
    return tuple(_shares(text[:LIMIT], words))


def _shares(text: str, words: bool) -> Iterator[Number]:
    for found in _SHARE.finditer(text):
        part, whole, joint = found["part"].lower(), found["whole"].lower(), found["joint"]
        if not (words or (part.isdecimal() and whole.isdecimal())):
            continue
        some, all_of_them = _count(part), _count(whole)
        if not 0 < some <= all_of_them or not _is_share(joint, some, all_of_them):
            continue
        value = 100 * some / all_of_them
        yield Number(
            value=value,
            unit="%",
            step=1.0 if value.is_integer() else 0.1,
            text=found[0],
            start=found.start(),
            end=found.end(),
        )


def _count(written: str) -> int:
    return int(written) if written.isdecimal() else _WORDS[written]


def _is_share(joint: str, part: int, whole: int) -> bool:
    if joint == "/":
        return whole in _ROUND
    if joint.startswith(" in "):
        return part <= _FEW and (whole <= _FEW or whole in _ROUND)
    return whole > 1
