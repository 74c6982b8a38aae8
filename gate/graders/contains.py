"""Does the answer contain what it should?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gate.errors import UsageError
from gate.plugins import GRADERS
from gate.records import Case, CheckedJson, MetricSpec, Response, Score
from gate.text.phrases import has_phrase

METRIC = "correctness.contains"
_CODE_LIMIT = 80  # characters of a text in a failure code


@GRADERS.register("contains")
@dataclass(frozen=True, slots=True, kw_only=True)
class Contains:
    """Passes when the answer contains `text`, every text of `all_of`, one text of `any_of` and what
    the case holds under `key` (a text, or a list of which all are needed).
    """

    text: str | None = None
    key: str | None = None
    any_of: tuple[str, ...] = ()
    all_of: tuple[str, ...] = ()
    ignore_case: bool = False
    word: bool = False  # whole words only: "12" is not in "2012"

    def __post_init__(self) -> None:
        if not (self.text or self.key or self.any_of or self.all_of):
            raise UsageError("contains: needs one of text, key, any_of, all_of")
        if "" in (*self.any_of, *self.all_of):
            raise UsageError("contains: an empty text is in every answer - take it out")

    @property
    def keys(self) -> Mapping[str, CheckedJson]:
        schema = {"type": ["string", "array"], "items": {"type": "string"}}
        return {self.key: schema} if self.key else {}

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.key,) if self.key else ()

    def metrics(self) -> tuple[MetricSpec, ...]:
        about = "share of answers that contain what they should"
        return (
            MetricSpec(name=METRIC, column=METRIC, family="rate", unit="share", description=about),
        )

    def grade(self, case: Case, response: Response) -> Score:
        wanted = self._list_wanted(case)
        if not wanted and not self.any_of:
            return Score(values={METRIC: None})
        answer = self._fold(response.answer or "")
        missing = [text for text in wanted if not self._is_in(text, answer)]
        failures = [f"text_missing:{text[:_CODE_LIMIT]}" for text in missing]
        if self.any_of and not any(self._is_in(text, answer) for text in self.any_of):
            failures.append("text_missing:any of " + ", ".join(self.any_of)[:_CODE_LIMIT])
        if not failures:
            return _PASSED
        return Score(
            values={METRIC: 0.0},
            passed=False,
            failures=tuple(dict.fromkeys(failures)),
            reason="the answer lacks " + "; ".join(code.partition(":")[2] for code in failures),
        )

    def _list_wanted(self, case: Case) -> list[str]:
        wanted = [*self.all_of, self.text] if self.text else list(self.all_of)
        written = case.keys.get(self.key) if self.key else None
        return [*wanted, *_texts(written)]

    def _fold(self, text: str) -> str:
        return text.casefold() if self.ignore_case else text

    def _is_in(self, text: str, answer: str) -> bool:
        text = self._fold(text)
        return has_phrase(text, answer) if self.word else text in answer


_PASSED = Score(values={METRIC: 1.0}, passed=True)


def _texts(written: CheckedJson) -> list[str]:
    items = written if isinstance(written, list) else [written]
    return [str(item) for item in items if item is not None and item != ""]
