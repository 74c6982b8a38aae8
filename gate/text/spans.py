"""A line of text as pieces that know what they are, so that each report escapes and marks them in
its own way and none can forget to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from gate.text import escaping
from gate.text.late_pattern import late_pattern
from gate.text.shortening import LIMIT, shorten

_MINUS = late_pattern(r"(?<=[ (])-(?=\d)")
_URL = late_pattern(
    r"https?://[\w.-]+(?::\d+)?(?:/[\w.~%/-]*)?(?:\?[\w.~%=&-]*)?(?:#[\w.~%=&+-]*)?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Span:
    """`text` is hostile until it is rendered; `url` is empty or was checked by `link`."""

    text: str
    kind: Literal["text", "code", "strong"] = "text"
    url: str = ""


Line = tuple[Span, ...]


def code(value: str) -> Span:
    return Span(value, "code")


def strong(value: str) -> Span:
    return Span(value, "strong")


def link(span: Span, url: str | None) -> Span:
    """The span as a link; unlinked when the address is not plainly an http one."""
    return Span(span.text, span.kind, url) if url and _URL.fullmatch(url) else span


def say(template: str, *values: str | Span | Line) -> Line:
    """`template` with its `{}` filled in, in order; plain strings become text."""
    pieces = template.split("{}")
    if len(pieces) != len(values) + 1:
        raise ValueError(f"{len(values)} values for {template!r}")
    spans = [Span(pieces[0])]
    for value, piece in zip(values, pieces[1:], strict=True):
        spans += value if isinstance(value, tuple) else [_span(value)]
        spans.append(Span(piece))
    return tuple([span for span in spans if span.text])


def prose(value: str, limit: int = 1_000) -> Line:
    """At most `limit` characters of sentences that may have `code` between backticks, arrows and
    negative numbers.
    """
    parts = re.split(r"(`[^`\n]+`)", shorten(value, limit).replace(" -> ", " → "))
    spans = (
        code(p[1:-1]) if n % 2 else Span(_MINUS.sub("\N{MINUS SIGN}", p))
        for n, p in enumerate(parts)
    )
    return tuple(span for span in spans if span.text)


def join(separator: str, lines: Iterable[Line]) -> Line:
    joined: list[Span] = []
    for line in lines:
        if line:
            joined += (Span(separator), *line) if joined and separator else line
    return tuple(joined)


def markdown(line: Line, *, limit: int = LIMIT) -> str:
    """One line of GitHub Markdown, fit for a table cell too; `limit` holds for each span."""
    first, *others = line or (Span(""),)
    text, before = _markdown(first, escaping.inline, limit), first
    for span in others:
        # Fences that touch are one fence, and what stood behind them would be loose.
        text += escaping.BREAK if before.kind == span.kind == "code" else ""
        text, before = text + _markdown(span, escaping.midline, limit), span
    return text.strip()


def plain(line: Line, *, limit: int = LIMIT) -> str:
    """One line of words, links left out; hostile until it is shown."""
    return "".join(_pad(shorten(span.text, limit), span) for span in line).strip()


def _span(value: str | Span) -> Span:
    return Span(value) if isinstance(value, str) else value


def _markdown(span: Span, words: Callable[[str, int], str], limit: int) -> str:
    body = escaping.cell(span.text, limit) if span.kind == "code" else words(span.text, limit)
    marked = f"**{body}**" if span.kind == "strong" and body else body
    return _pad(f"[{marked}]({span.url})" if span.url and body else marked, span)


def _pad(shown: str, span: Span) -> str:
    """With one space where the span has white space at an end."""
    if span.kind == "code" or not shown:
        return shown or " "  # white space alone
    return f"{' ' * span.text[0].isspace()}{shown}{' ' * span.text[-1].isspace()}"
