"""Is the answer well formatted?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import ClassVar, Literal

from gate.errors import UsageError
from gate.graders.scales.share import ShareGrader
from gate.plugins import GRADERS
from gate.records import Case, MetricSpec, Response, Score
from gate.text.markdown_blocks import (
    Block,
    list_running_text,
    plain,
    sentences,
    split_blocks,
    without_code,
    words,
)
from gate.text.phrases import fold_text

METRIC = "response_quality.structure"

Check = Literal["fence", "table", "list", "heading", "long_paragraph", "emphasis", "end", "repeat"]

_CELL_END = re.compile(r"(?<!\\)\|")
_STRONG = re.compile(r"(?<!\d)\*\*|\*\*(?!\d)")  # not the power of 2**3
_CUT = ("length", "max_tokens", "MAX_TOKENS")  # finish reasons of an answer that ran out of tokens
# The end of a sentence, behind it quotes, brackets, emphasis and citations.
_FINAL = re.compile(r"[.!?…。！？؟।][\"'”’»)\]*_~`]{0,9}(?:[ ,;]{0,2}\[[^\[\]\s]{1,40}\]){0,9}$")
_LEAST = 5  # words of a sentence that should not come twice, or that must have an end


@GRADERS.register("structure")
@dataclass(frozen=True, slots=True, kw_only=True)
class Structure(ShareGrader):
    """The share of `checks` that pass, of those that apply: an answer without a table is not
    checked for tables. Passes from `pass_at` on. An empty answer has 0. The rules of Markdown are
    those of CommonMark and, for tables, of GitHub.
    """

    checks: tuple[Check, ...] = (
        *("fence", "table", "list", "heading", "long_paragraph", "emphasis", "end", "repeat"),
    )
    paragraph_words: int = 150

    metric: ClassVar = MetricSpec(
        name=METRIC,
        column=METRIC,
        unit="share",
        description="share of the checks of its layout that hold",
    )

    def __post_init__(self) -> None:
        if not self.checks or self.paragraph_words < 1:
            raise UsageError("structure: name a check, and paragraph_words of 1 or more")
        self.check_pass_at("structure")

    def grade(self, case: Case, response: Response) -> Score:
        blocks = split_blocks(response.answer)
        if not blocks:
            return self._score(0.0, ["empty"])
        held = {name: self._holds(name, blocks, response) for name in self.checks}
        applied = [name for name, holds in held.items() if holds is not None]
        if not applied:
            return self.without_value()
        broken = [name for name in applied if not held[name]]
        return self._score(1 - len(broken) / len(applied), broken)

    def _holds(self, name: Check, blocks: Sequence[Block], response: Response) -> bool | None:
        """None: nothing to check."""
        if name == "end":
            return _is_complete(blocks, response.finish_reason)
        if name == "long_paragraph":
            lengths = [len(plain(b.text).split()) for b in blocks if b.kind == "paragraph"]
            return max(lengths) <= self.paragraph_words if lengths else None
        return _CHECKS[name](blocks)

    def _score(self, value: float, broken: Sequence[str]) -> Score:
        codes = tuple(f"structure:{name}" for name in broken)
        reason = f"does not hold: {', '.join(broken).replace('_', ' ')}" if broken else ""
        return self.score(value, reason, codes)


def _is_code_closed(blocks: Sequence[Block]) -> bool | None:
    code = [block.closed for block in blocks if block.kind == "code"]
    return all(code) if code else None


def _are_tables_even(blocks: Sequence[Block]) -> bool | None:
    """Every row has as many cells as the head."""
    tables = [block.text.splitlines() for block in blocks if block.kind == "table"]
    return all(len({_cells(row) for row in rows}) == 1 for rows in tables) if tables else None


def _cells(row: str) -> int:
    """A bar that is not escaped ends a cell, in a code span too."""
    return len(_CELL_END.split(row.strip().removeprefix("|").removesuffix("|")))


def _are_lists_even(blocks: Sequence[Block]) -> bool | None:
    """Items beside each other have the same marker; numbers count up by one or are all the same."""
    levels = [items for items in _list_markers(blocks) if len(items) > 1]
    return all(_counts(items) for items in levels) if levels else None


def _list_markers(blocks: Sequence[Block]) -> Iterator[list[str]]:
    """Markers of the items of each list, and of each list within an item."""
    items = [block for block in blocks if block.kind == "item"]
    for _, members in groupby(items, key=lambda item: item.group):
        deep: list[tuple[int, list[str]]] = []  # indents and markers of the lists that are open
        for item in members:
            while deep and item.indent < deep[-1][0]:
                yield deep.pop()[1]
            if not deep or item.indent > deep[-1][0] + 1:
                deep.append((item.indent, []))
            deep[-1][1].append(item.marker)
        yield from (markers for _, markers in deep)


def _counts(markers: Sequence[str]) -> bool:
    if len({marker[-1] for marker in markers}) > 1:
        return False
    numbers = [int(marker[:-1] or 0) for marker in markers]
    return len(set(numbers)) == 1 or all(b == a + 1 for a, b in pairwise(numbers))


def _are_headings_stepwise(blocks: Sequence[Block]) -> bool | None:
    """No heading is empty or more than one level below the one before it."""
    headings = [block for block in blocks if block.kind == "heading"]
    if not headings:
        return None
    levels = [len(block.marker) for block in headings]
    return all(b.text.strip(" #") for b in headings) and all(
        after <= before + 1 for before, after in pairwise(levels)
    )


def _are_marks_paired(blocks: Sequence[Block]) -> bool | None:
    """In each block the marks of strong text and of code come in pairs."""
    texts = [block.text for block in blocks if block.kind not in ("code", "table")]
    marked = [without_code(text) for text in texts if "**" in text or "`" in text]
    return all(_has_pairs(text) for text in marked) if marked else None


def _has_pairs(text: str) -> bool:
    return len(_STRONG.findall(text)) % 2 == 0 and text.count("`") % 2 == 0


def _is_complete(blocks: Sequence[Block], finish_reason: str | None) -> bool | None:
    """Not cut off: as the model says, after a heading, or in the middle of a sentence."""
    last = blocks[-1]
    if finish_reason in _CUT or last.kind == "heading":
        return False
    if last.kind != "paragraph" or len(words(last.text)) < _LEAST:
        return None
    return bool(_FINAL.search(last.text.rstrip()[-400:]))


def _has_no_repeats(blocks: Sequence[Block]) -> bool | None:
    """No sentence of five words or more comes twice."""
    sentences_said = [
        fold_text(sentence)
        for part in list_running_text(blocks)
        for sentence in sentences(part)
        if len(sentence.split()) >= _LEAST
    ]
    return len(set(sentences_said)) == len(sentences_said) if len(sentences_said) > 1 else None


_CHECKS: Mapping[str, Callable[[Sequence[Block]], bool | None]] = {
    "fence": _is_code_closed,
    "table": _are_tables_even,
    "list": _are_lists_even,
    "heading": _are_headings_stepwise,
    "emphasis": _are_marks_paired,
    "repeat": _has_no_repeats,
}
