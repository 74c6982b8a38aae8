"""An answer as a reader sees it: its blocks of Markdown, and what of them is running text.

One pass over the lines, every pattern linear. What is not Markdown is one paragraph after another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from gate.text.late_pattern import late_pattern

LIMIT = 200_000  # characters of an answer that are read

_FENCE = late_pattern(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_HEADING = late_pattern(r" {0,3}(#{1,6})(?:[ \t]+(.*)|$)")
_ITEM = late_pattern(r"([ \t]*)([-*+]|\d{1,9}[.)])(?:[ \t]+(.*)|$)")
_RULE = late_pattern(r" {0,3}(?:[-*_][ \t]*){3,}$")
_TABLE_RULE = late_pattern(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_QUOTE = late_pattern(r" {0,3}>[ ]?")
_INDENTED = ("    ", "\t")

_CODE_SPAN = late_pattern(r"(?<!`)(`{1,8})(?!`)([^`]{1,2000})(?<!`)\1(?!`)")
_NO_WORDS = late_pattern(
    r"!\[[^\[\]]{0,500}\](?:\([^()\s]{0,2000}\))?"  # pictures
    r"|(?<=\])\([^()\s]{0,2000}\)"  # where a link leads
    r"|(?:https?://|www\.)[^\s<>()\[\]]{1,2000}"
    r"|</?[A-Za-z][^<>]{0,300}>|<!--"
)
_MARKS = str.maketrans(dict.fromkeys("*_~"))
_WORD = late_pattern(r"[^\W\d_]+(?:['’\-‐‑][^\W\d_]+)*")
_TOKEN = late_pattern(r"\S+")
# What may follow the sign that ends a sentence: quotes, brackets, emphasis, a citation.
_SENTENCE_END = late_pattern(
    r"[.!?…]{1,9}[\"'”’»)\]*_]{0,9}(?:\[\d{1,3}\]){0,9}\s+|[。！？]{1,9}\s*"
)
_ABBREVIATION = late_pattern(
    r"(?:^|[\s(])(?:e\.g|i\.e|vs|cf|approx|incl|excl|mr|mrs|ms|dr|prof|jr|sr|z\.\s?b|d\.\s?h|u\.\s?a"
    r"|bzw|evtl|ggf|p\.\s?ej|sra|bijv|dhr|mevr|[^\W\d_])\.$",
    re.IGNORECASE,
)

Kind = Literal["paragraph", "heading", "item", "table", "code"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of an answer. `text` has no marker; the rows of a table are its lines."""

    kind: Kind
    text: str
    marker: str = ""  # of an item: "-", "3."; of a heading: "##"
    indent: int = 0  # columns before an item's marker
    group: int = 0  # which list an item belongs to, from 1
    closed: bool = True  # a fence that has an end


def split_blocks(answer: str) -> tuple[Block, ...]:
    """The first `LIMIT` characters in order; an answer that is JSON as a whole is code."""
    text = answer[:LIMIT].strip()
    if text[:1] in ("{", "[") and _is_json(text):
        return (Block(kind="code", text=text),)
    scan = _Scan()
    for line in text.splitlines():
        scan.add(line)
    return scan.finish()


def list_running_text(blocks: Iterable[Block]) -> Iterator[str]:
    """Paragraphs and items as plain words: no code, pictures, addresses, tags or emphasis."""
    for block in blocks:
        if block.kind in ("paragraph", "item"):
            yield plain(block.text)


def plain(text: str) -> str:
    return _NO_WORDS.sub(" ", _CODE_SPAN.sub(" ", text)).translate(_MARKS)


def without_code(text: str) -> str:
    """Text without code spans and addresses, its emphasis left in."""
    return _NO_WORDS.sub(" ", _CODE_SPAN.sub(" ", text))


def sentences(text: str) -> tuple[str, ...]:
    """Sentences of plain running text: they end at . ! ? or … before white space, not after an
    abbreviation, an initial or a list number, nor before a small letter.
    """
    joined = " ".join(text.split())
    pieces, start = [], 0
    for end in _SENTENCE_END.finditer(joined):
        head = joined[max(start, end.start() - 12) : end.start() + 1]
        next_sign = joined[end.end() : end.end() + 1]
        if next_sign.islower() or (end[0][0] == "." and _ABBREVIATION.search(head)):
            continue
        pieces.append(joined[start : end.end()].strip())
        start = end.end()
    return tuple(sentence for sentence in (*pieces, joined[start:].strip()) if sentence)


def words(text: str) -> tuple[str, ...]:
    """Words of letters; what has a digit in it (a number, an id, `Q4`) is none."""
    letters: list[str] = []
    for token in _TOKEN.findall(text):
        if token.isalpha():
            letters.append(token)
        elif not any(sign.isdigit() for sign in token):
            letters += _WORD.findall(token)
    return tuple(letters)


class _Scan:
    """Reads line by line; `_lines` is the block that is still open."""

    def __init__(self) -> None:
        self._done: list[Block] = []
        self._lines: list[str] = []
        self._open = Block(kind="paragraph", text="")
        self._fence = ""
        self._lists = 0
        self._in_list = False

    def add(self, line: str) -> None:
        if self._fence:
            self._in_fence(line)
            return
        fence = _FENCE.match(line)
        if fence:
            self._begin(Block(kind="code", text="", closed=False))
            self._fence = fence[1]
        elif not line.strip():
            self._end()
        elif not self._starts(_QUOTE.sub("", line, count=1)):
            self._goes_on(_QUOTE.sub("", line, count=1))

    def finish(self) -> tuple[Block, ...]:
        self._end()
        return tuple(self._done)

    def _in_fence(self, line: str) -> None:
        sign = self._fence[0]
        closing = line.strip()
        if len(closing) >= len(self._fence) and closing == sign * len(closing):
            self._open = Block(kind="code", text="")
            self._fence = ""
            self._end()
        else:
            self._lines.append(line)

    def _starts(self, line: str) -> bool:
        """Whether the line begins a block, which is then open."""
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if heading:
            self._in_list = False
            self._begin(Block(kind="heading", text="", marker=heading[1]), heading[2] or "")
            self._end()
        elif _TABLE_RULE.match(line) and self._is_header():
            header = self._lines.pop()
            self._begin(Block(kind="table", text=""), header, line)
        elif _RULE.match(line):
            self._in_list = False
            self._end()
        elif item and self._may_begin(item[2]):
            self._lists += not self._in_list
            self._in_list = True
            indent = len(item[1].expandtabs(4))
            block = Block(kind="item", text="", marker=item[2], indent=indent, group=self._lists)
            self._begin(block, item[3] or "")
        elif line.startswith(_INDENTED) and not self._lines and not self._in_list:
            self._begin(Block(kind="code", text=""), line)
        else:
            return False
        return True

    def _is_header(self) -> bool:
        return self._open.kind == "paragraph" and bool(self._lines) and "|" in self._lines[-1]

    def _may_begin(self, marker: str) -> bool:
        """As in CommonMark: within a paragraph no number but 1 starts a list."""
        in_paragraph = self._open.kind == "paragraph" and bool(self._lines)
        return not in_paragraph or not marker[0].isdigit() or marker[:-1] == "1"

    def _goes_on(self, line: str) -> None:
        indented = line.startswith((" ", "\t"))
        ended_table = self._open.kind == "table" and bool(self._lines) and "|" not in line
        ended_code = self._open.kind == "code" and not line.startswith(_INDENTED)
        if not self._lines or ended_table or ended_code:
            self._in_list = self._in_list and indented
            self._begin(Block(kind="paragraph", text=""), line)
        else:
            self._lines.append(line)

    def _begin(self, block: Block, *lines: str) -> None:
        self._end()
        self._open = block
        self._lines = list(lines)

    def _end(self) -> None:
        block, text = self._open, "\n".join(self._lines)
        if text.strip() or block.kind in ("heading", "item", "code"):
            complete = Block(
                kind=block.kind,
                text=text,
                marker=block.marker,
                indent=block.indent,
                group=block.group,
                closed=block.closed,
            )
            self._done.append(complete)
        self._open, self._lines = Block(kind="paragraph", text=""), []


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
