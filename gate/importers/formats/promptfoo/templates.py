"""promptfoo's templates as far as they are variables: `{{name}}`, `{{ name.part }}`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from gate.records import Json

_VARIABLE = re.compile(r"\{\{-?\s*([A-Za-z_]\w*(?:\.\w+)*)\s*-?\}\}")
_MORE = re.compile(r"\{\{|\{%|\{#")


def render_template(text: str, known: Mapping[str, Json]) -> str | None:
    """The text with its variables put in; one that is not known is empty, as promptfoo has it. None
    where it has more than variables: filters, loops, the environment.
    """
    if _MORE.search(_VARIABLE.sub("", text)) or "{{env." in text.replace(" ", ""):
        return None
    return _VARIABLE.sub(lambda found: as_text(_at(known, found[1])), text)


def unknown(text: str, known: Mapping[str, Json]) -> set[str]:
    """Variables of the text that nobody gives a value."""
    return {found for found in _VARIABLE.findall(text) if _at(known, found) is None}


def within(value: Json, known: Mapping[str, Json]) -> Json:
    """The same with every text in it rendered. Raises ValueError for one that cannot be."""
    if isinstance(value, str):
        text = render_template(value, known)
        if text is None:
            raise ValueError(value)
        return text
    if isinstance(value, list):
        return [within(one, known) for one in value]
    if isinstance(value, dict):
        return {key: within(one, known) for key, one in value.items()}
    return value


def as_text(value: Json) -> str:
    if isinstance(value, str) or value is None:
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _at(known: Mapping[str, Json], path: str) -> Json:
    value: Json = known
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
