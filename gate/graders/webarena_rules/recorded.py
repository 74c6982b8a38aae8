"""What was recorded at the end of a run: the answer, the last page, the texts that locators
gave.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gate.files.json_values import as_object, string_or_none
from gate.records import Json

FINAL_URL, FINAL_HTML, LOCATED, PAGES = "final_url", "final_html", "locator_results", "pages"
STATE: Mapping[str, Json] = {
    FINAL_URL: {"type": ["string", "null"]},
    FINAL_HTML: {"type": ["string", "null"]},
    LOCATED: {"type": ["object", "null"], "additionalProperties": {"type": "string"}},
    PAGES: {"type": ["object", "null"], "additionalProperties": {"type": "string"}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What was recorded; None: not recorded. `located`: target's index -> the text that its locator
    gave, empty if it found nothing; `pages`: address -> HTML.
    """

    answer: str = ""
    final_url: str | None = None
    final_html: str | None = None
    located: Mapping[int, str] = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)

    def page(self, url: str) -> str | None:
        """The HTML of a page; a slash at the end of the address does not matter."""
        plain = url.rstrip("/")
        return next((html for at, html in self.pages.items() if at.rstrip("/") == plain), None)


def read_recorded(answer: str, state: Mapping[str, Json]) -> Recorded:
    """The recorded parts of a state; a value of the wrong type counts as not recorded."""
    return Recorded(
        answer=answer,
        final_url=string_or_none(state.get(FINAL_URL)) or None,
        final_html=string_or_none(state.get(FINAL_HTML)),
        located={
            int(key): value
            for key, value in _texts(state.get(LOCATED))
            if key.isascii() and key.isdigit() and len(key) < 7
        },
        pages=dict(_texts(state.get(PAGES))),
    )


def _texts(value: Json) -> list[tuple[str, str]]:
    return [(key, one) for key, one in as_object(value).items() if isinstance(one, str)]
