"""HTML that is made of literals and escaped values only: whoever forgets to escape, escapes."""

from __future__ import annotations

from collections.abc import Iterable


class Markup(str):
    """Safe as it stands. Made by `markup` and `join_markup`; by hand only of a file of our own."""

    __slots__ = ()


def markup(template: str, *values: object) -> Markup:
    """A literal with its `%s` filled in, in order; what is no Markup is escaped."""
    return Markup(
        template % tuple([v if v.__class__ is Markup else escape_html(v) for v in values])
    )


def join_markup(parts: Iterable[object]) -> Markup:
    """One after the other; what is no Markup is escaped."""
    return Markup("".join([p if p.__class__ is Markup else escape_html(p) for p in parts]))


def escape_html(value: object) -> str:
    """What is no Markup as text that shows as it is, between tags and in a quoted attribute."""
    return (
        str(value)
        .replace("&", "&amp;")
        .replace(">", "&gt;")
        .replace("<", "&lt;")
        .replace("'", "&#39;")
        .replace('"', "&#34;")
    )
