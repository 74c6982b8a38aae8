"""Hostile text made safe, one function for each place where text can end up.

Answers, case ids, codes and messages come from agents, datasets and forks. Whatever they hold,
what these functions return shows as text and does nothing.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping

from gate.text.late_pattern import late_pattern

LIMIT = 300  # characters of one piece of text, unless the caller says otherwise
ANNOTATION_LIMIT = 4096  # where the runner cuts a message

_ESCAPES = late_pattern(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|[\x1b\x9d][\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC, DCS: titles, links
    r"|\x1b[@-_]?|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROL = late_pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_NEWLINES = late_pattern(r"\r\n?|[\x85\u2028\u2029]")
# Whole texts of Latin letters and usual punctuation, which are shown as they are.
_LATIN = late_pattern("[\t\n\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e]*")
# Not of category Cf, and still drawn as nothing: fillers, joiners, variation selectors.
_BLANK = {*"\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0", *map(chr, range(0xFE00, 0xFE10))}
_ACCENTS = 3  # combining marks on one letter; more are stacked to cover the neighbouring lines
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
_NOT_XML = late_pattern("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str, limit: int | None = None) -> str:
    """Printable text, lines ended by \\n: no escape sequences, control or invisible characters, no
    change of writing direction, no lone surrogates. At most `limit` characters, then an ellipsis.
    """
    shortened = limit is not None and len(text) > 8 * limit + 64
    if limit is not None and shortened:
        text = text[: 8 * limit + 64]  # the rest cannot be shown; 50 MB need not be cleaned
    if not text.isprintable():
        text = _CONTROL.sub("", _ESCAPES.sub("", _NEWLINES.sub("\n", text)))
    if not text.isascii() and not _LATIN.fullmatch(text):
        text = "".join(_visible(text))
    if limit is None:
        return text
    # What was cut off ends in an ellipsis: the redactor finds the beginning of a secret by it.
    if shortened and len(text) < limit:
        text += "…"
    return text if len(text) <= limit else _cut(text, limit)


def one_line(text: str, limit: int | None = LIMIT) -> str:
    """`clean`, with every run of white space as one space."""
    shown = " ".join(clean(text, None if limit is None else 4 * limit).split())
    return shown if limit is None or len(shown) <= limit else _cut(shown, limit)


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
    shown = clean(text, limit).replace("<!--", "<! --").rstrip("\n")
    longest = max(map(len, re.findall("`+", shown)), default=0) if "`" in shown else 0
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def plain(text: str, limit: int | None = None) -> str:
    """Text for a terminal, lines kept; on a GitHub runner no line of it is a workflow command."""
    return _COMMAND.sub(lambda found: " ".join(found[0]), clean(text, limit))


def xml(text: str, limit: int | None = None) -> str:
    """`clean`, without the characters that XML 1.0 has no way to write; not escaped."""
    return _NOT_XML.sub("", clean(text, limit))


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


def _cut(text: str, limit: int) -> str:
    return text[: limit - 1].rstrip() + "…"


def _visible(text: str) -> list[str]:
    shown: list[str] = []
    accents = 0
    for sign in text:
        category = "" if sign.isascii() else unicodedata.category(sign)
        if category in ("Cf", "Cc", "Co", "Cn") or sign in _BLANK:
            continue
        if category == "Cs":
            sign = "\ufffd"
        elif category == "Zs":
            sign = " "
        accents = accents + 1 if category in ("Mn", "Me") else 0
        if accents <= _ACCENTS:
            shown.append(sign)
    return shown


_ASCII = str.maketrans(
    {"…": "...", "−": "-", "–": "-", "→": "->", "·": "|", "≤": "<=", "∞": "inf", "\u00a0": " "}
    | {"±": "+-", "×": "x"}
)


def in_ascii(text: str) -> str:
    """For a terminal that can show no more; what has no stand-in is `?`."""
    return text.translate(_ASCII).encode("ascii", "replace").decode()


def stand_ins(error: UnicodeError) -> tuple[str, int]:
    """An error handler of codecs: `in_ascii` of what an encoding does not have."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return in_ascii(error.object[error.start : error.end]), error.end
