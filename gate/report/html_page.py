"""What the HTML pages share: what a page may load, values as text."""

from __future__ import annotations

import base64
import hashlib
import json

from gate.records import Json
from gate.text.escaping import clean


def content_policy(style: str, script: str = "", frames: str = "") -> str:
    """A content security policy: only these two, by their hashes, and pages of `frames` inside this
    one. Injected markup could neither run nor load anything.
    """
    frames = f"frame-src {frames}; " if frames else ""
    scripts = f"script-src {_hash(script)}; " if script else ""
    return (
        f"default-src 'none'; style-src {_hash(style)}; {scripts}{frames}base-uri 'none'; "
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
