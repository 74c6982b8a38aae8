"""Everything the sample agent knows, loaded once and shared by all threads: it never changes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gate.sample.bm25 import Index, build_index
from gate.sample.database import Database, load_database
from gate.sample.documents import load_pages
from gate.sample.question import Vocabulary, vocabulary_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    index: Index
    database: Database
    vocabulary: Vocabulary


def load_knowledge(folder: Path, *, stale: bool = False) -> Knowledge:
    """`folder` holds documents/, database/ and previous/ (older wordings, used when `stale`).

    Raises UsageError when something is missing or broken.
    """
    pages = load_pages(folder / "documents", folder / "previous" if stale else None)
    database = load_database(folder / "database")
    return Knowledge(
        index=build_index(pages), database=database, vocabulary=vocabulary_of(database)
    )
