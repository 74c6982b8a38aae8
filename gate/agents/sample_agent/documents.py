"""The documents the sample agent reads: Markdown files with a head of `key: value` lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from gate.errors import UsageError

_HEAD = re.compile(r"\A---\r?\n(.*?)\r?\n---\r?\n", re.DOTALL)
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9`])")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgePage:
    """One document. `text` is its body in Markdown."""

    id: str
    title: str
    text: str

    def paragraphs(self) -> tuple[str, ...]:
        """The paragraphs, each on one line."""
        return tuple(" ".join(part.split()) for part in self.text.split("\n\n") if part.strip())

    def sentences(self) -> tuple[str, ...]:
        """The sentences of the prose; formulas and lists of other names are left out."""
        prose = (p for p in self.paragraphs() if not p.startswith(MARKED))
        return tuple(sentence for part in prose for sentence in _END.split(part))


MARKED = ("Calculation:", "Parameter:", "Also called:")


def load_pages(folder: Path, older: Path | None = None) -> tuple[KnowledgePage, ...]:
    """All `*.md` files of a folder by id; a page in `older` takes the place of its successor.

    Raises UsageError when the folder holds none or a file has no id or title.
    """
    pages = {page.id: page for page, _ in map(read_page, sorted(folder.glob("*.md")))}
    if not pages:
        raise UsageError(f"{folder}: no documents (*.md) - the sample agent's data are missing")
    if older is not None:
        pages.update((page.id, page) for page, _ in map(read_page, sorted(older.glob("*.md"))))
    return tuple(pages[key] for key in sorted(pages))


def read_page(path: Path) -> tuple[KnowledgePage, dict[str, str]]:
    """A document and the lines of its head, key -> value. Raises UsageError."""
    content = path.read_text(encoding="utf-8")
    head = _HEAD.match(content)
    lines = head[1].splitlines() if head else []
    keys = {k.strip(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
    if head is None or not keys.get("id") or not keys.get("title"):
        raise UsageError(f"{path}:1: a document starts with '---', 'id: ...', 'title: ...', '---'")
    return KnowledgePage(
        id=keys["id"], title=keys["title"], text=content[head.end() :].strip()
    ), keys
