"""In which way a wrong answer misses what was expected, as far as the two texts tell it surely."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from gate.analysis.expected import ANSWERS
from gate.records import Json
from gate.text.abstention import abstains, may_abstain
from gate.text.dates import read_date, states_date
from gate.text.late_pattern import late_pattern
from gate.text.numbers.agreement import agrees, stated
from gate.text.numbers.number import Number
from gate.text.numbers.scanning import numbers

_READ = 4_000  # characters of an answer
_CLOSE = 0.01  # of a number: then it is the expected one
_SCALES = (1e2, 1e3, 1e6, 1e9)  # per cent, thousands, ...
_ERROR_TEXT = late_pattern(
    r"\s*(?:(?:\w+\.)*\w*(?:Error|Exception)\b\s*[:(]|Traceback \(most recent call last\)"
    r"|(?:internal server error|service unavailable|bad gateway|gateway time-?out)\b"
    r"|(?:an |unexpected )?(?:internal |unexpected )?error (?:occurred|while|processing)"
    r'|\{\s*"error"\s*:|<!doctype html|<html|HTTP(?:/\d\.\d)? [45]\d\d\b|[45]\d\d [A-Z])',
    re.IGNORECASE,
)
_FENCE = late_pattern(r"\s*```\w*\n(.*?)\n?```\s*", re.DOTALL)
_MARKS = late_pattern(r"(?<!\d)[\W_]+|[\W_]+(?!\d)")


def kind_of(expected: Mapping[str, Json], answer: str) -> str:
    """A word for it, such as `abstains` or `other_number`; empty where the texts do not tell.
    `expected`: what the dataset expects, by key.
    """
    if not answer.strip():
        return "empty"
    answer = answer[:_READ]
    if _ERROR_TEXT.match(answer):
        return "error_text"
    wanted = [text for text in _texts(expected) if text.strip()]
    if wanted and all(map(abstains, wanted)):
        return "" if may_abstain(answer) else "answers"
    is_known = bool(wanted) or bool(expected.get("expected_facts"))
    if is_known and not any(map(may_abstain, wanted)) and abstains(answer):
        return "abstains"
    return _form_of(expected, wanted, answer) or _number_of(expected, wanted, answer)


def _form_of(expected: Mapping[str, Json], wanted: list[str], answer: str) -> str:
    """How it is written, where it may say the right thing."""
    if _wants_json(expected):
        return "" if _is_json(answer) else "json_in_text" if _FENCE.fullmatch(answer) else "no_json"
    told = _squeeze(answer)
    for text in wanted:
        if answer.strip() == text.strip():
            return ""
        if told == _squeeze(text) and told:
            return "form"
        if len(_squeeze(text)) > 1 and f" {_squeeze(text)} " in f" {told} ":
            return "more_text"
    dates = [text for text in wanted if read_date(text)]
    return "date_form" if dates and any(states_date(text, answer) for text in dates) else ""


def _number_of(expected: Mapping[str, Json], wanted: list[str], answer: str) -> str:
    """Which number it has where one is expected."""
    right = list(_numbers(expected, wanted))
    if not right:
        return ""
    found = [number for number in numbers(answer) if not number.maybe_date]
    if not found:
        return "" if any(map(str.isdigit, answer)) else "no_number"
    if any(_is(one, other) for one in found for other in right):
        return ""
    scaled = any(_is_scaled(one, other) for one in found for other in right)
    return "scale" if scaled else "other_number"


def _is(found: Number, right: Number) -> bool:
    """Units are left aside: who writes 5 for 5 USD has the number."""
    plain = found._replace(unit=right.unit)
    return agrees(plain, right, rel_tol=_CLOSE, sign="ignore", rounding=None)


def _is_scaled(found: Number, right: Number) -> bool:
    one, other = abs(found.value), abs(right.value)
    if not one or not other:
        return False
    ratio = max(one, other) / min(one, other)
    return any(abs(ratio - scale) <= _CLOSE * scale for scale in _SCALES)


def _numbers(expected: Mapping[str, Json], wanted: list[str]) -> Iterator[Number]:
    """Of facts that are numbers, and of answers with a single one."""
    facts = expected.get("expected_facts")
    for fact in facts if isinstance(facts, list) else []:
        value = fact.get("value") if isinstance(fact, dict) else fact
        if isinstance(fact, dict) and (fact.get("regex") or fact.get("must_not")):
            continue
        if isinstance(value, (int, float, str)) and not isinstance(value, bool):
            number = stated(value)
            yield from (number,) if number is not None and not number.maybe_date else ()
    for text in wanted:
        found = numbers(text)
        if len(found) == 1 and not found[0].maybe_date and not read_date(text):
            yield found[0]


def _texts(expected: Mapping[str, Json]) -> Iterator[str]:
    for name in ANSWERS:
        value = expected.get(name)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, (str, int, float)) and not isinstance(one, bool):
                yield str(one)


def _wants_json(expected: Mapping[str, Json]) -> bool:
    return any(isinstance(expected.get(name), dict) for name in (*ANSWERS, "answer_schema"))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _squeeze(text: str) -> str:
    """Its words in small letters; 0.15 is one."""
    return _MARKS.sub(" ", text.casefold()).strip()
