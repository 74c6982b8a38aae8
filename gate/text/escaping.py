"""Hostile text made safe, one function for each place where text can end up; each text passes one
of them, once: what is shown twice has its signs for hidden characters shown as such.

Answers, case ids, codes and messages come from agents, datasets and forks. Whatever they hold,
what these functions return shows as text and does nothing.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

from gate.text.hidden import PICTURES, cut, show_hidden
from gate.text.late_pattern import late_pattern
from gate.text.shortening import LIMIT, shorten

ANNOTATION_LIMIT = 4096  # where the runner cuts a message

BREAK = "&#8203;"  # a zero-width space: GitHub's filters no longer see the name, number or link

_MARKDOWN = str.maketrans(
    {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        "$": "&#36;",  # a backslash would not stop GitHub's formulas
        **{sign: f"\\{sign}" for sign in "\\`*_[]|~#!^"},
    }
)
# Links that GitHub makes of plain text: mentions, issues, commits, addresses, emoji names.
_AUTOLINKS = late_pattern(
    r"@(?=\S)|(?<!&)\\?#(?=\d)|[Gg][Hh]-(?=\d)|:(?=//|(?:\\?[\w+-])+:)|[Ww]{3}(?=\.)"
    r"|[0-9a-fA-F]{6}(?=[0-9a-fA-F])"
)
_LINE_START = late_pattern(r"(?=[-+=])|\d{1,9}(?=[.)])")  # a list, or a heading's underline
# What starts a workflow command: `::` first on a line, `##[` anywhere (an older form).
_COMMAND = late_pattern(r"(?m)(?:^|(?<=\s))::+|##(?=\w*\[)")


def clean(text: str, limit: int | None = None) -> str:
    """Lines ended by \\n, in which every hidden character has a visible sign: control characters,
    those of no width, those that change the writing direction. Different texts look different. At
    most `limit` characters, then an ellipsis.
    """
    return show_hidden(text) if limit is None else cut(show_hidden(cut(text, limit + 1)), limit)


def one_line(text: str, limit: int | None = LIMIT) -> str:
    """`clean`, with every run of blanks, tabs and line ends (\\n, \\r\\n) as one blank, and none at
    the ends: texts that differ only in these look alike.
    """
    shown = show_hidden(shorten(text, None if limit is None else limit + 1))
    return shown if limit is None else cut(shown, limit)


def inline(text: str, limit: int | None = LIMIT) -> str:
    """Plain words in GitHub Markdown, in a table or outside."""
    escaped = midline(text, limit)
    start = _LINE_START.match(escaped)
    return f"{start[0]}\\{escaped[start.end() :]}" if start else escaped


def midline(text: str, limit: int | None = LIMIT) -> str:
    """`inline` for words that never start a line."""
    escaped = one_line(text, limit).translate(_MARKDOWN)
    return _AUTOLINKS.sub(lambda found: found[0] + BREAK, escaped)


def markup(text: str, limit: int | None = LIMIT) -> str:
    """Plain words between HTML tags in GitHub Markdown, where Markdown's own escapes are not
    read.
    """
    escaped = html.escape(one_line(text, limit)).replace("$", "&dollar;")
    return _AUTOLINKS.sub(lambda found: found[0] + BREAK, escaped)


def code(text: str, limit: int | None = LIMIT) -> str:
    """A code span in GitHub Markdown outside tables; empty text gives an empty string.

    Nothing in a code span is a link, a mention, an emoji or HTML. The fence is longer than any run
    of backticks inside.
    """
    shown = one_line(text, limit).replace("<!--", "<! --")  # no comment marker, not even as text
    if not shown:
        return ""
    longest = max(map(len, re.findall("`+", shown)), default=0) if "`" in shown else 0
    fence = "`" * (longest + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def cell(text: str, limit: int | None = LIMIT) -> str:
    """A code span in a cell of a GitHub Markdown table."""
    # Parsers differ on a backslash right before an escaped pipe, so the two are kept apart.
    return code(text, limit).replace("\\|", "\\ |").replace("|", "\\|")


def block(text: str, limit: int | None = None, language: str = "text") -> str:
    """A fenced code block in GitHub Markdown, lines kept."""
    return fence(clean(text, limit), language)


def fence(safe: str, language: str = "text") -> str:
    """`block` of lines in which nothing is hidden any more."""
    shown = safe.replace("<!--", "<! --").rstrip("\n")
    longest = max(map(len, re.findall("`+", shown)), default=0) if "`" in shown else 0
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{shown}\n{ticks}"


def plain(text: str, limit: int | None = None) -> str:
    """Text for a terminal, lines kept; on a GitHub runner no line of it is a workflow command."""
    return _COMMAND.sub(lambda found: " ".join(found[0]), clean(text, limit))


def command(name: str, message: str, properties: Mapping[str, str | int | None]) -> str:
    """A workflow command for GitHub's runner: `::error file=a,line=1::message`."""
    given = ",".join(
        f"{key}={_escape(one_line(str(value))).replace(':', '%3A').replace(',', '%2C')}"
        for key, value in properties.items()
        if value is not None
    )
    head = f"::{name} {given}::" if given else f"::{name}::"
    return head + _escape(plain(message, ANNOTATION_LIMIT // 4))


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


_ASCII = str.maketrans(
    {"…": "...", "−": "-", "–": "-", "→": "->", "·": "|", "≤": "<=", "∞": "inf", "\u00a0": " "}
    | {"±": "+-", "×": "x", "⟨": "<", "⟩": ">"}
    | {picture: f"<U+{code:04X}>" for code, picture in PICTURES.items()}
)
_BEYOND_ASCII = late_pattern(r"[^\x00-\x7f]")


def in_ascii(text: str) -> str:
    """For a terminal that can show no more; what has no stand-in is `<U+4E2D>`."""
    return _BEYOND_ASCII.sub(lambda sign: f"<U+{ord(sign[0]):04X}>", text.translate(_ASCII))


def stand_ins(error: UnicodeError) -> tuple[str, int]:
    """An error handler of codecs: `in_ascii` of what an encoding does not have."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return in_ascii(error.object[error.start : error.end]), error.end
