"""How many items an answer lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gate.text import markdown_blocks

How = Literal["lines", "commas", "array"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """`how`: what sets them apart. Sentences and the entries of a list count as lines."""

    count: int
    how: How


def lines_of(text: str) -> list[str]:
    """The lines with something in them."""
    return [line for line in text.splitlines() if line.strip()]


def between_commas(text: str) -> Items:
    count = sum(bool(part.strip()) for part in text.split(","))
    return Items(count=count, how="commas")


def in_text(text: str) -> Items:
    """The entries of its outermost list, else its lines; of a single line the sentences, and of a
    single sentence what stands between its commas.
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
    """0 where it is no array."""
    return Items(count=len(data) if isinstance(data, list) else 0, how="array")
