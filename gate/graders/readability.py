"""Is the answer easy to read?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from gate.errors import UsageError
from gate.graders.scales.share import ShareGrader
from gate.plugins import GRADERS
from gate.records import Case, MetricSpec, Response, Score
from gate.text import figures
from gate.text.markdown_blocks import list_running_text, sentences, split_blocks, words
from gate.text.syllables import Language, count_syllables

METRIC = "response_quality.readability"

# a, b, c of: ease = a - b x words a sentence - c x syllables a word
_EASE: Mapping[Language, tuple[float, float, float]] = {
    "en": (206.835, 1.015, 84.6),  # Flesch, 1948
    "de": (180.0, 1.0, 58.5),  # Amstad, 1978
    "fr": (207.0, 1.015, 73.6),  # Kandel and Moles, 1958
    "es": (206.84, 1.02, 60.0),  # Fernández Huerta, 1959
    "it": (217.0, 1.3, 60.0),  # Franchina and Vacca, 1986
    "nl": (206.84, 0.93, 77.0),  # Douma, 1960
}


@GRADERS.register("readability")
@dataclass(frozen=True, slots=True, kw_only=True)
class Readability(ShareGrader):
    """Flesch's reading ease of the running text, by the formula for the `language`, divided by 100
    and cut to 0 and 1. Passes from `pass_at` on.

    Paragraphs and list items count; headings, tables, code, addresses and words with a digit do
    not. Fewer than `min_words` words have no value.
    """

    language: Language = "en"
    min_words: int = 30

    metric: ClassVar = MetricSpec(
        name=METRIC,
        column=METRIC,
        unit="share",
        on_agent_error=None,  # as an answer of too few words
        description="reading ease of the running text, 100 points of Flesch's scale are 1",
    )

    def __post_init__(self) -> None:
        if self.min_words < 1:
            raise UsageError("readability: min_words must be 1 or more")
        self.check_pass_at("readability")

    def grade(self, case: Case, response: Response) -> Score:
        text = list(list_running_text(split_blocks(response.answer)))
        spoken = [word for part in text for word in words(part)]
        if len(spoken) < self.min_words:
            return self.without_value()
        number = sum(bool(words(s)) for part in text for s in sentences(part))
        a, b, c = _EASE[self.language]
        long, many = len(spoken) / number, self._syllables(spoken) / len(spoken)
        value = min(1.0, max(0.0, (a - b * long - c * many) / 100))
        words_each, syllables_each = (figures.value(mean, "") for mean in (long, many))
        reason = f"{words_each} words a sentence, {syllables_each} syllables a word"
        return self.score(value, reason, ["hard_to_read"])

    def _syllables(self, spoken: list[str]) -> int:
        return sum(count_syllables(word, self.language) for word in spoken)
