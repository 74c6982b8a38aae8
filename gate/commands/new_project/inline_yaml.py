"""A value on one line of YAML, with quotes only where they are needed."""

from __future__ import annotations

import json

from gate.records import Json

_WORDS = ("true", "false", "null", "yes", "no", "on", "off")


def inline(value: Json) -> str:
    """A text, a number, a list or a mapping as YAML reads it."""
    if isinstance(value, str):
        return value if _is_plain(value) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {inline(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    """Whether it needs no quotes: letters, digits and a few signs, and no word of YAML."""
    signs = text.translate({ord(sign): None for sign in "/.-_"})
    is_word = signs.isalnum() and signs.isascii() and not signs[0].isdigit()
    return is_word and text[0] not in "-." and text.lower() not in _WORDS
