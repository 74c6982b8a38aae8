r"""Formulas in LaTeX as plain signs where they stood: "\frac{3}{4}" is "3/4" and spaces."""

from __future__ import annotations

import re
from collections.abc import Callable

from gate.text.late_pattern import late_pattern

_INNER = r"\{\s*([^{}\n]{0,200})\}"
_NUMBER = r"\{?\s*([+\-\u2212]?\d{1,12}(?:\.\d{1,12})?)\s*\}?"
# Between two of these a formula stands: "costs $5 and $6" has none, nor has "$5-$10".
_DOLLARS = late_pattern(r"(?<!\\)\$\$?(?=[^\s$])([^$\n]{1,400}?)(?<=[^\s$\\])\$\$?(?!\d)")
_GROUPED = late_pattern(r"\d{1,3}(?:(?:\\[,;:!]|\{,\})\d{3}){1,8}(?!\d)")
_POWER = late_pattern(
    r"(?:\\(?:times|cdot)|\u00d7|\u00b7)\s{0,3}10\s?\^\s?\{?\s?([+\-\u2212]?\d{1,3})\s?\}?"
)
_RAISED = late_pattern(r"(?<=10)\^\{\s?([+\-\u2212]?\d{1,3})\s?\}")
_INDEX = late_pattern(r"[_^]\{[^{}\n]{0,40}\}|(?<=[A-Za-z])_\w")
_FRACTION = late_pattern(rf"\\[dt]?frac{_NUMBER}{_NUMBER}")
_UNDER = frozenset(("2", "3", "4", "5", "6", "7", "8", "9", "12", "16", "32", "64"))
_SPACE = late_pattern(r"\\[,;:! ]|\\q?quad\b|~")
_SIGN = late_pattern(r"\\([%$&#_])")
_WORDED = late_pattern(
    r"(?:\\[,;:! ]|~|\s)?"
    rf"\\(?:text|mathrm|mathbf|mathit|mathsf|operatorname|unit|textbf|boxed){_INNER}"
)


def unfold_formulas(text: str) -> str:
    """The text, as long as it was, in which the numbers of formulas read as other numbers do."""
    if "\\" not in text and "{,}" not in text:
        return text
    text = _DOLLARS.sub(_without_dollars, text)
    for pattern, said in _STEPS:
        text = pattern.sub(_padded(said), text)
    return text


def _without_dollars(found: re.Match[str]) -> str:
    before = found.start(1) - found.start()
    return f"{' ' * before}{found[1]}{' ' * (found.end() - found.end(1))}"


def _padded(said: Callable[[re.Match[str]], str]) -> Callable[[re.Match[str]], str]:
    return lambda found: said(found).ljust(len(found[0]))


def _of_parts(found: re.Match[str]) -> str:
    """ "3/4"; a part that is no fraction of small whole numbers becomes one decimal number."""
    over, under = found[1], found[2]
    if over.isdecimal() and len(over) <= 2 and under in _UNDER:
        return f"{over}/{under}"
    size = len(found[0])
    worth = float(over.replace("\u2212", "-")) / (float(under.replace("\u2212", "-")) or 1.0)
    return f"{worth:.{max(1, size - 8)}g}"[:size]


_STEPS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (_GROUPED, lambda found: ",".join(re.findall(r"\d+", found[0]))),
    (_POWER, lambda found: f"\u00d710^{found[1]}"),
    (_RAISED, lambda found: f"^{found[1]}"),
    (_FRACTION, _of_parts),
    (_INDEX, lambda found: ""),
    (_WORDED, lambda found: f" {found[1]}"),
    (_SIGN, lambda found: found[1]),
    (_SPACE, lambda found: " "),
)
