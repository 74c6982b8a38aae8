"""What the HTML pages share: how templates are read, and values of any kind as text.

Escaping is on for every template, and a name that is not given is an error: that stands here once.
"""

from __future__ import annotations

import json
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gate.records import Json
from gate.text import clean


def templates(folder: Path) -> Environment:
    """The templates of a folder."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def value_text(value: Json, limit: int) -> str:
    """Text as it is, anything else as JSON; nothing for None. Cleaned, not escaped."""
    if value is None:
        return ""
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return clean(shown, limit)
