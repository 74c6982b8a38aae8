"""What an importer finds in another tool's results: its suites, and their trials one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gate.records import Case, Health, Json, MetricSpec, Provenance, QuotedValue, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSuite:
    """One suite of them. Sizes are counted in what was read, unless the source says that more was
    to be there.
    """

    rounds: int = 1
    cases: int
    dataset: str = ""  # what it was measured on, in words
    dataset_digest: str = ""
    version: str | None = None
    metrics: tuple[MetricSpec, ...] = ()  # beside those that trials have by themselves
    # Column -> what gave it its values: where that differs, nothing is compared.
    graders: Mapping[str, str] = field(default_factory=dict)
    quoted: tuple[QuotedValue, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Checked already: what is wrong with the source was raised before.

    `files`: all that was read, in a fixed order: what they hold is the import's digest.
    `created_at`: when it was measured, ISO 8601, UTC; None: the source does not say. `trials` reads
    them, as often as wanted: of one suite after the other or mixed, each (suite, case, round) once.
    Their cases hold what the source tells of them: without an input `Case.input` is empty. A source
    of cases alone has no suites; `cases` then reads them.
    """

    files: tuple[Path, ...]
    created_at: str | None = None
    provenance: Provenance
    suites: Mapping[str, ImportedSuite]
    trials: Callable[[], Iterator[Trial]] = field(repr=False)
    cases: Callable[[], Iterator[Case]] | None = field(default=None, repr=False)
    # Of its own run, for meta.json.
    options: Mapping[str, Json] = field(default_factory=dict)
    health: Health | None = None
    notes: tuple[str, ...] = ()  # what a reader of the report should know, one sentence each
