"""Is the answer the expected one?"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gate.plugins import GRADERS
from gate.records import Case, Json, MetricSpec, Response, Score
from gate.text.numbers.scanning import numbers

METRIC = "correctness.exact_match"
_SHOWN = 120  # characters of a text in a reason
_EXPECTED: Json = {"type": ["string", "number", "boolean", "array"]}

Step = Literal["strip", "casefold", "whitespace", "nfkc", "punctuation", "numbers"]


@GRADERS.register("exact_match")
@dataclass(frozen=True, slots=True, kw_only=True)
class ExactMatch:
    """Passes when the answer equals the case's `key`, both changed by the steps of `normalize`. A
    list has several right answers.
    """

    key: str = "expected_answer"
    normalize: tuple[Step, ...] = ("nfkc", "casefold", "whitespace")

    @property
    def keys(self) -> Mapping[str, Json]:
        return {self.key: _EXPECTED}

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.key,)

    def metrics(self) -> tuple[MetricSpec, ...]:
        about = "share of answers that equal the expected one"
        return (
            MetricSpec(name=METRIC, column=METRIC, family="rate", unit="share", description=about),
        )

    def grade(self, case: Case, response: Response) -> Score:
        written = case.keys.get(self.key)
        if written is None or written in ("", []):
            return Score(values={METRIC: None})
        answer = normalize_text(_text(response.answer), self.normalize)
        accepted = written if isinstance(written, list) else [written]
        if any(normalize_text(_text(one), self.normalize) == answer for one in accepted):
            return Score(values={METRIC: 1.0}, passed=True)
        return Score(
            values={METRIC: 0.0},
            passed=False,
            failures=("answer_mismatch",),
            reason=f"expected {_short(_text(accepted[0]))}, got {_short(_text(response.answer))}",
        )


def normalize_text(text: str, steps: tuple[Step, ...]) -> str:
    """The text after the steps, always in this order: nfkc, numbers, casefold, punctuation,
    whitespace, strip.
    """
    if "nfkc" in steps and not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    if "numbers" in steps:
        text = _plain_numbers(text)
    if "casefold" in steps:
        text = text.casefold()
    if "punctuation" in steps:
        text = "".join(sign for sign in text if not unicodedata.category(sign).startswith("P"))
    if "whitespace" in steps:
        return " ".join(text.split())
    return text.strip() if "strip" in steps else text


def _plain_numbers(text: str) -> str:
    """Every number in one spelling: "$1,200.0" and "1.2k" are both 1200."""
    parts, end = [], 0
    for number in numbers(text):
        sign = "%" if number.unit == "%" else ""
        parts += [text[end : number.start], f"{number.value!r}{sign}"]
        end = number.end
    return "".join((*parts, text[end:]))


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
