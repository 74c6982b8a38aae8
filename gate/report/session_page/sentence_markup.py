"""Sentences of the wording as HTML."""

from __future__ import annotations

from collections.abc import Iterable

from gate.text.escaping import one_line
from gate.text.html_markup import Markup, join_markup, markup
from gate.text.spans import Line, Span

NONE = Markup()


def join_titles(names: Iterable[str], *, numbers: Iterable[int]) -> Markup:
    """Heads of columns; those of `numbers`, counted from 0, stand at the right."""
    right = set(numbers)
    return join_markup(
        markup('<th class="n">%s</th>' if at in right else "<th>%s</th>", name)
        for at, name in enumerate(names)
    )


def join_items(lines: Iterable[Line]) -> Markup:
    return join_markup(markup("<li>%s</li>", as_markup(line)) for line in lines)


def join_paragraphs(lines: Iterable[Line]) -> Markup:
    return join_markup(markup("<p>%s</p>\n", as_markup(line)) for line in lines)


def as_paragraph(line: Line) -> Markup:
    return markup("<p>%s</p>", as_markup(line)) if line else NONE


def as_markup(spans: Line) -> Markup:
    return join_markup(map(_span, spans))


def _span(span: Span) -> Markup:
    text = one_line(span.text, 1_000)
    if span.kind == "code":
        body = markup("<code>%s</code>", text)
    elif span.kind == "strong":
        body = markup("<strong>%s</strong>", one_line(span.text))
    else:
        before, after = " " * span.text[:1].isspace(), " " * span.text[-1:].isspace()
        body = markup("%s%s%s", before, text, after)
    if not span.url:
        return body
    return markup('<a href="%s" rel="noopener noreferrer">%s</a>', span.url, body)
