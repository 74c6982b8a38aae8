"""Everything the sample agent knows, loaded once and shared by all threads: it never changes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gate.agents.sample_agent.bm25 import Index, build_index
from gate.agents.sample_agent.database import Database, load_database
from gate.agents.sample_agent.documents import KnowledgePage, load_pages, read_page
from gate.agents.sample_agent.question import Vocabulary, vocabulary_of
from gate.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    page: KnowledgePage
    sender: str
    sent_on: str  # ISO day


def load_messages(folder: Path) -> tuple[Message, ...]:
    """All `*.md` files of a folder by id.

    Raises UsageError when the folder holds none or a file has no id, title, sender or day.
    """
    messages = tuple(map(_load, sorted(folder.glob("*.md"))))
    if not messages:
        raise UsageError(f"{folder}: no messages (*.md) - the sample agent's data are missing")
    return messages


def _load(path: Path) -> Message:
    page, head = read_page(path)
    if not head.get("from") or not head.get("sent"):
        raise UsageError(f"{path}:1: a message has 'from: ...' and 'sent: ...' in its head")
    return Message(page=page, sender=head["from"], sent_on=head["sent"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """`index` is what search_documents ranks; messages are read by id only. `everything` weighs
    words over both.
    """

    index: Index
    everything: Index
    database: Database
    vocabulary: Vocabulary
    messages: tuple[Message, ...] = ()

    def page(self, key: str) -> KnowledgePage | None:
        """The document or message of that id."""
        return next((page for page in self.everything.pages if page.id == key), None)


def load_bundled(datasets: Path, *, stale: bool = False) -> Knowledge:
    """All that comes with the package: `datasets` holds analytics/ and trajectories/.

    Raises UsageError when something is missing or broken.
    """
    messages = datasets / "trajectories" / "messages"
    return load_knowledge(datasets / "analytics", messages=messages, stale=stale)


def load_knowledge(folder: Path, *, messages: Path | None = None, stale: bool = False) -> Knowledge:
    """`folder` holds documents/, database/ and previous/ (older wordings, used when `stale`).

    Raises UsageError when something is missing or broken.
    """
    pages = load_pages(folder / "documents", folder / "previous" if stale else None)
    database = load_database(folder / "database")
    letters = load_messages(messages) if messages else ()
    index = build_index(pages)
    return Knowledge(
        index=index,
        everything=build_index((*pages, *(one.page for one in letters))) if letters else index,
        database=database,
        vocabulary=vocabulary_of(database),
        messages=letters,
    )
