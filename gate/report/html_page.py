"""What the HTML pages share: how templates are read, what a page may load, values as text.

Escaping is on for every template, and a name that is not given is an error: that stands here once.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gate.records import Json
from gate.text.escaping import clean


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


def allowed(style: str, script: str = "") -> str:
    """A content security policy: only these two, by their hashes. Injected markup could neither run
    nor load anything.
    """
    scripts = f"script-src {_hash(script)}; " if script else ""
    return (
        f"default-src 'none'; style-src {_hash(style)}; {scripts}base-uri 'none'; "
        "form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def value_text(value: Json, limit: int) -> str:
    """Text as it is, anything else as JSON; nothing for None. Cleaned, not escaped."""
    if value is None:
        return ""
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return clean(shown, limit)
