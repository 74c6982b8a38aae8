"""Is the answer as short as it can be?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from gate.errors import UsageError
from gate.graders.scales.share import ShareGrader
from gate.plugins import GRADERS
from gate.records import Case, Json, MetricSpec, Response, Score
from gate.text import figures
from gate.text.markdown_blocks import list_running_text, split_blocks

METRIC = "response_quality.conciseness"

_LIMIT: Json = {"type": "integer", "minimum": 1}
_EXPECTED: Json = {"type": ["string", "number", "boolean", "array"]}
_PUNCTUATION = ".,;:!?…\"'()[]“”„«»"
_RUN = 4  # words of a phrase that counts as repeated


@GRADERS.register("conciseness")
@dataclass(frozen=True, slots=True, kw_only=True)
class Conciseness(ShareGrader):
    """How much of the answer is necessary: allowed length / actual length, at most 1, times the
    share of phrases that are new. Passes from `pass_at` on.

    The allowed length is the case's `max_words` or `max_chars`, else `ratio` times the words of the
    longest right answer in `key`, and at least `least_words`. A case without any of these keys has
    no value.
    """

    key: str = "expected_answer"
    ratio: float = 2.0
    least_words: int = 25

    metric: ClassVar = MetricSpec(
        name=METRIC,
        column=METRIC,
        unit="share",
        description="allowed by actual length, at most 1, times the share of new phrases",
    )

    def __post_init__(self) -> None:
        if self.ratio < 1 or self.least_words < 1:
            raise UsageError("conciseness: ratio and least_words must be 1 or more")
        self.check_pass_at("conciseness")

    @property
    def keys(self) -> Mapping[str, Json]:
        return {self.key: _EXPECTED, "max_words": _LIMIT, "max_chars": _LIMIT}

    def grade(self, case: Case, response: Response) -> Score:
        answer = response.answer.strip()
        lengths = dict(self._shares(case, answer))
        if not lengths:
            return self.without_value()
        if not answer:
            return self.score(0.0, "the answer is empty", ["empty"])
        shortest, length = min(lengths.items(), key=lambda item: item[1])
        fresh = 1.0 - repetition(answer)
        reason = (
            f"{shortest}, {figures.portion(1 - fresh)} of its phrases repeat"
            if fresh < 1
            else shortest
        )
        return self.score(length * fresh, reason, ["too_long" if length <= fresh else "repetitive"])

    def _shares(self, case: Case, answer: str) -> Iterator[tuple[str, float]]:
        """What each limit says and the share of the answer within it."""
        used, allowed = len(answer.split()), case.keys.get("max_words")
        if allowed is None and case.keys.get("max_chars") is None:
            allowed = self._from_expected(case.keys.get(self.key))
        if allowed is not None:
            yield f"{used} words, {allowed} allowed", min(1.0, allowed / max(1, used))
        most = case.keys.get("max_chars")
        if most is not None:
            yield f"{len(answer)} characters, {most} allowed", min(1.0, most / max(1, len(answer)))

    def _from_expected(self, written: Json) -> int | None:
        expected = written if isinstance(written, list) else [written]
        lengths = [len(str(one).split()) for one in expected if one not in (None, "")]
        return max(self.least_words, round(self.ratio * max(lengths))) if lengths else None


def repetition(answer: str) -> float:
    """The share of phrases of four words that occurred earlier in the running text, 0 to 1; 0 for
    fewer words. seq-rep-4 = 1 - different phrases / all (Welleck et al., 2020, Neural Text
    Generation with Unlikelihood Training).
    """
    text = " ".join(list_running_text(split_blocks(answer))).casefold()
    spoken = [word for token in text.split() if (word := token.strip(_PUNCTUATION))]
    phrases = [tuple(spoken[n : n + _RUN]) for n in range(len(spoken) - _RUN + 1)]
    return 1.0 - len(set(phrases)) / len(phrases) if phrases else 0.0
