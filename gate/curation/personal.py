"""Personal data and secrets in production logs, replaced before anybody else reads them.

What has a form of its own is found: addresses, numbers with a check digit, keys. Names of people
have none; the proposals are read by a person before they run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

_KEYS = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bxox[abeoprs]-[\w-]{10,}|\bAIza[\w-]{30,}"
    r"|\beyJ[\w-]{8,1000}\.[\w-]{8,}\.[\w-]*"
    r"|(?i:\b(?:password|passwd|secret|token|api[_-]?key)\b\s*(?:[:=]|\bis\b)\s*)(?!<)\S+"
    r"|(?i:\bbearer\s+)[A-Za-z0-9._~+/-]{16,}=*"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)
_SHAPES: tuple[tuple[str, str], ...] = (  # what replaces it, what it looks like; in this order
    ("secret", _KEYS),
    ("email", r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b"),
    ("iban", r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b"),
    ("card", r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])"),
    ("ssn", r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])"),
    ("phone", r"(?<![\w.,/-])(?:\+|00)\d(?:[ ()./-]{0,2}\d){7,13}(?![\w-])"),
    ("phone", r"(?<![\w.,/-])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?![\w-])"),
    ("ip", r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\d)"),
    ("ip", r"(?<![\w:])(?:[0-9A-Fa-f]{1,4}:){4,7}[0-9A-Fa-f]{1,4}(?![\w:])"),
)
_COMPILED = tuple((kind, re.compile(shape)) for kind, shape in _SHAPES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """The text with `<email>` and the like, and how many of each kind were there."""

    text: str
    found: Counter[str]


def cleaned(text: str) -> Cleaned:
    """Equal texts give equal results; what is already replaced stays."""
    found: Counter[str] = Counter()
    for kind, shape in _COMPILED:
        holds = _CHECKS.get(kind)

        def replaced(
            match: re.Match[str], kind: str = kind, holds: Callable[[str], bool] | None = holds
        ) -> str:
            if holds is not None and not holds(match[0]):
                return match[0]
            found[kind] += 1
            return f"<{kind}>"

        text = shape.sub(replaced, text)
    return Cleaned(text=text, found=found)


def _luhn(written: str) -> bool:
    """The check digit of payment cards (ISO/IEC 7812-1)."""
    digits = [int(sign) for sign in reversed(written) if sign.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return any(digits) and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _mod_97(written: str) -> bool:
    """The check digits of an IBAN (ISO 13616)."""
    compact = written.replace(" ", "")
    moved = compact[4:] + compact[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def _four_bytes(written: str) -> bool:
    """An address and no version: every part fits a byte."""
    return ":" in written or all(int(part) < 256 for part in written.split("."))


_CHECKS: dict[str, Callable[[str], bool]] = {"card": _luhn, "iban": _mod_97, "ip": _four_bytes}
