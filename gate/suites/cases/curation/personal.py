"""Personal data and secrets in production logs, replaced before anybody else reads them.

What has a form of its own is found: addresses, numbers with a check digit, keys. Names of people
have none; the proposals are read by a person before they run.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from gate.text.sensitive import PERSONAL, SHAPES, Shape

_SAID = Shape(  # more than is surely a secret: whatever follows the word for one
    kind="password",
    pattern=re.compile(
        r"(?i:\b(?:password|passwd|secret|token|api[_-]?key)\b\s*(?:[:=]|\bis\b)\s*)(?!<)\S+"
    ),
)
_SHAPES = (
    *(shape for shape in SHAPES if shape.kind not in PERSONAL),
    _SAID,
    *(shape for shape in SHAPES if shape.kind in PERSONAL),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """The text with `<email>` and the like, and how many of each kind were there."""

    text: str
    found: Counter[str]


def cleaned(text: str) -> Cleaned:
    """Equal texts give equal results; what is already replaced stays."""
    found: Counter[str] = Counter()
    for shape in _SHAPES:
        kind = shape.kind if shape.kind in PERSONAL else "secret"

        def replaced(match: re.Match[str], kind: str = kind, shape: Shape = shape) -> str:
            if not shape.holds(match[shape.group]):
                return match[0]
            found[kind] += 1
            return f"<{kind}>"

        text = shape.pattern.sub(replaced, text)
    return Cleaned(text=text, found=found)
