"""How many items an answer has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gate.text import markdown_blocks

How = Literal["lines", "commas", "array"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """The number of items. `how`: what separates them. Sentences and entries of a list count as
    lines.
    """

    count: int
    how: How


def lines_of(text: str) -> list[str]:
    """The lines that are not blank."""
    return [line for line in text.splitlines() if line.strip()]


def between_commas(text: str) -> Items:
    count = sum(bool(part.strip()) for part in text.split(","))
    return Items(count=count, how="commas")


def in_text(text: str) -> Items:
    """The items of a text: the entries of its outermost list, else its lines; the sentences of a
    single line; the parts between the commas of a single sentence.
    """
    lines = lines_of(text)
    if len(lines) > 1:
        list_items = [block for block in markdown_blocks.split_blocks(text) if block.kind == "item"]
        least = min((block.indent for block in list_items), default=0)
        entries = sum(block.indent == least for block in list_items)
        return Items(count=entries or len(lines), how="lines")
    sentences = markdown_blocks.sentences(text[: markdown_blocks.LIMIT])
    if len(sentences) > 1:
        return Items(count=len(sentences), how="lines")
    return between_commas(text)


def in_array(data: object) -> Items:
    """The entries of an array; 0 if it is not one."""
    return Items(count=len(data) if isinstance(data, list) else 0, how="array")
