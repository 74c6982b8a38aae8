"""Names in a question that nobody here has heard of: a figure for them would be invented."""

from __future__ import annotations

import calendar
import re

from gate.agents.sample_agent.bm25 import Index
from gate.agents.sample_agent.question import Vocabulary
from gate.agents.sample_agent.words import stems

_NAME = re.compile(r"(?<=[\w,;'’] )[A-Z][A-Za-z]+")  # capitals that begin no sentence
_CALENDAR = frozenset(stems(" ".join([*calendar.month_name, *calendar.day_name])))


def unknown_names(text: str, index: Index, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Capitalised words inside a sentence that neither a document nor a row holds, in order."""

    def known(stem: str) -> bool:
        return stem in index.pages_with or stem in vocabulary.stems or stem in _CALENDAR

    return tuple(name for name in _NAME.findall(text) if not all(map(known, stems(name))))
