"""Does the answer match the patterns that it should, and none that it should not?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from gate.errors import GraderFailure, UsageError
from gate.plugins import GRADERS
from gate.records import Case, CheckedJson, MetricSpec, Response, Score
from gate.user_code import patterns

METRIC = "correctness.fact_pattern_match"
LIMIT = 200_000  # characters of an answer that a pattern sees
_CODE_LIMIT = 80  # characters of a pattern in a failure code

Flag = Literal["ignore_case", "multiline", "dotall", "verbose", "ascii"]
_FLAGS: Mapping[Flag, re.RegexFlag] = {
    "ignore_case": re.IGNORECASE,
    "multiline": re.MULTILINE,
    "dotall": re.DOTALL,
    "verbose": re.VERBOSE,
    "ascii": re.ASCII,
}


@GRADERS.register("regex")
@dataclass(frozen=True, slots=True, kw_only=True)
class Regex:
    """Passes when every pattern (`pattern`, and those in the case's `key`) is found in the answer
    and none of `must_not` is. Python's `re`, on the first 200,000 characters.
    """

    pattern: str | tuple[str, ...] | None = None
    key: str | None = None
    must_not: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()

    def __post_init__(self) -> None:
        if not (self.pattern or self.key or self.must_not):
            raise UsageError("regex: needs one of pattern, key, must_not")
        for pattern in (*_as_tuple(self.pattern), *self.must_not):
            try:
                _compile(pattern, self.flags)
            except (re.error, RecursionError, OverflowError) as error:
                raise UsageError(f"regex: {pattern!r} is not a pattern: {error}") from None

    @property
    def keys(self) -> Mapping[str, CheckedJson]:
        schema = {"type": ["string", "array"], "items": {"type": "string"}}
        return {self.key: schema} if self.key else {}

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.key,) if self.key else ()

    def metrics(self) -> tuple[MetricSpec, ...]:
        about = "share of answers that match every pattern and no forbidden one"
        return (
            MetricSpec(name=METRIC, column=METRIC, family="rate", unit="share", description=about),
        )

    def grade(self, case: Case, response: Response) -> Score:
        wanted = _as_tuple(self.pattern)
        if self.key:
            wanted = (*wanted, *_as_tuple(case.keys.get(self.key)))
        if not wanted and not self.must_not:
            return Score(values={METRIC: None})
        answer = (response.answer or "")[:LIMIT]
        failures = [
            f"pattern_missing:{pattern[:_CODE_LIMIT]}"
            for pattern in wanted
            if not self._search(pattern, answer)
        ] + [
            f"forbidden_pattern_hit:{pattern[:_CODE_LIMIT]}"
            for pattern in self.must_not
            if self._search(pattern, answer)
        ]
        if not failures:
            return _PASSED
        return Score(
            values={METRIC: 0.0},
            passed=False,
            failures=tuple(dict.fromkeys(failures)),
            reason="; ".join(failures).replace("_", " "),
        )

    def _search(self, pattern: str, answer: str) -> bool:
        try:
            return patterns.search(_compile(pattern, self.flags), answer) is not None
        except (re.error, RecursionError, OverflowError) as error:
            raise GraderFailure(f"{self.key}: {pattern!r} is not a pattern: {error}") from None


_PASSED = Score(values={METRIC: 1.0}, passed=True)


@lru_cache(maxsize=4096)
def _compile(pattern: str, flags: tuple[Flag, ...]) -> re.Pattern[str]:
    combined = re.RegexFlag(0)
    for flag in flags:
        combined |= _FLAGS[flag]
    return re.compile(pattern, combined)


def _as_tuple(written: CheckedJson) -> tuple[str, ...]:
    if written is None or written == "":
        return ()
    return (written,) if isinstance(written, str) else tuple(str(item) for item in written if item)
