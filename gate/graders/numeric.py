"""Is the number of the answer the expected one?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gate.errors import GraderFailure, UsageError
from gate.plugins import GRADERS
from gate.records import Case, CheckedJson, Json, MetricSpec, Response, Score
from gate.text.numbers.agreement import agrees, read_whole, stated
from gate.text.numbers.number import Locale, Number, Sign
from gate.text.numbers.scanning import numbers
from gate.text.numbers.words import worded

METRIC = "correctness.numeric_match"
_EXPECTED: Json = {
    "type": ["number", "string", "array"],
    "items": {"type": ["number", "string"]},
}


@GRADERS.register("numeric")
@dataclass(frozen=True, slots=True, kw_only=True)
class Numeric:
    """Passes when the answer's number agrees with `value`, or without it with the case's `key` (a
    number, a text that states one, or a list of right ones). `pick`: which of several numbers
    counts.
    """

    key: str = "expected_answer"
    value: float | None = None
    rel_tol: float = 0.0
    abs_tol: float = 0.0
    pick: Literal["first", "last", "only"] = "last"
    sign: Sign = "strict"
    rounding: bool | None = None  # 1.2 for 1.23; None: where the answer's number looks rounded
    percent_as_number: bool = True  # 30 % agrees with 30, too
    number_words: bool = True  # an answer without figures may say "twelve"
    locale: Locale = "en"

    def __post_init__(self) -> None:
        if self.rel_tol < 0 or self.abs_tol < 0:
            raise UsageError("numeric: a tolerance cannot be below 0")

    @property
    def keys(self) -> Mapping[str, Json]:
        return {} if self.value is not None else {self.key: _EXPECTED}

    @property
    def needs(self) -> tuple[str, ...]:
        return () if self.value is not None else (self.key,)

    def metrics(self) -> tuple[MetricSpec, ...]:
        about = "share of answers whose number is the expected one"
        return (
            MetricSpec(name=METRIC, column=METRIC, family="rate", unit="share", description=about),
        )

    def grade(self, case: Case, response: Response) -> Score:
        written = case.keys.get(self.key) if self.value is None else self.value
        if written is None or written in ("", []):
            return Score(values={METRIC: None})
        accepted = [self._expected(one) for one in _list_expected(written)]
        answer = response.answer or ""
        found = numbers(answer, self.locale) or (worded(answer) if self.number_words else ())
        if not found:
            return _fail("number_missing", f"the answer states no number, expected {written}")
        if self.pick == "only" and len(found) > 1:
            return _fail("number_ambiguous", f"the answer states {len(found)} numbers, not one")
        number = found[0] if self.pick == "first" else found[-1]
        if any(self._agrees(number, one) for one in accepted):
            return Score(values={METRIC: 1.0}, passed=True)
        return _fail("number_mismatch", f"expected {written}, got {number.text}")

    def _agrees(self, number: Number, expected: Number) -> bool:
        return agrees(
            number,
            expected,
            rel_tol=self.rel_tol,
            abs_tol=self.abs_tol,
            sign=self.sign,
            rounding=self.rounding,
            percent_as_number=self.percent_as_number,
        )

    def _expected(self, written: CheckedJson) -> Number:
        if isinstance(written, str):
            found = read_whole(written, self.locale) or _single(numbers(written, self.locale))
        else:
            found = stated(written) if type(written) in (int, float) else None
        if found is None:
            raise GraderFailure(f"{self.key}: {str(written)[:80]!r} does not state one number")
        return found


def _single(found: tuple[Number, ...]) -> Number | None:
    return found[0] if len(found) == 1 else None


def _list_expected(written: Json) -> list[Json]:
    return written if isinstance(written, list) else [written]


def _fail(code: str, reason: str) -> Score:
    return Score(values={METRIC: 0.0}, passed=False, failures=(code,), reason=reason[:300])
