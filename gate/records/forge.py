"""The repository's host as a baseline source sees it, what it is asked for and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

RELEASE_ANCHOR = "gate-anchor"  # the artifact that a release leaves

# How the working tree's baseline file differs from the base branch's.
Here = Literal["", "edited", "gone", "added"]


class Forge(Protocol):
    """The repository's host as a baseline source sees it: GitHub through its API, or a laptop's
    git.
    """

    def read(self, path: str, ref: str) -> bytes | None:
        """A file's bytes at a commit or branch; None when it is not there. Raises
        InfrastructureError.
        """
        ...

    def listing(self, folder: str, ref: str) -> tuple[str, ...]:
        """Names of the files directly in a folder at a ref; empty when the folder is not there."""
        ...

    @property
    def has_artifacts(self) -> bool:
        """Whether artifacts can be asked for: a laptop's git knows none."""
        ...

    def artifact(self, request: BaselineRequest) -> Artifact | None:
        """The newest trustworthy baseline artifact of the branch; raises InfrastructureError."""
        ...

    def release_anchor(self, request: BaselineRequest, newer_than: str) -> Artifact | None:
        """What the newest release on the branch measured, if that is newer than the moment (ISO
        8601); raises InfrastructureError.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSession:
    """A session that an earlier run left: the folder to go on with, or None; `note` is for the
    report. `head`: the commit that it was stored for, where that is an earlier head.
    """

    folder: Path | None = None
    note: str = ""
    head: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A downloaded, checked and unpacked artifact; hostile until parsed against a schema."""

    files: Mapping[str, bytes]
    commit: str
    created_at: str
    url: str
    chosen_by: str  # which rule chose the run


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRequest:
    """What a baseline source needs to know."""

    suite: str
    path: str  # baseline.path, or the path given as source
    branch: str
    base_sha: str | None  # the commit to compare with; None on a laptop without git
    base_name: str | None = None  # the tag of base_sha: then no later commit will do
    artifact: str
    workflow: str | None
    max_age_days: float
    now: datetime
    explain: Callable[[str], None] = lambda reason: None  # told why a source has no baseline
    unasked: Callable[[str], None] = lambda reason: None  # told why a source could not be asked
    advise: Callable[[str], None] = lambda todo: None  # told how a stored file would be found
    head: str | None = None  # the commit that is checked out on a laptop
    why_no_base: str = ""  # why base_sha is not known, where git was to tell it
    no_branch: bool = False  # a laptop without a repository: there is only the working tree

    def cannot_ask(self, reason: str) -> None:
        """A source that could not be asked is no source that has none."""
        self.explain(reason)
        self.unasked(reason)

    @property
    def file(self) -> str:
        """In the repository, relative to the folder of gate.yml."""
        return f"{self.path.strip('/')}/{self.suite}.json"

    @property
    def answers_file(self) -> str:
        """What lies beside a baseline file, with what was answered."""
        return f"{self.suite}.answers.jsonl.gz"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundBaseline:
    """A baseline file's text and where it came from."""

    text: bytes
    source: str
    detail: str
    file: str  # for messages
    notes: tuple[str, ...] = ()
    # The file of answers that lies beside it, when it is asked for; None: there is none. Raises
    # GateError.
    answers: Callable[[], bytes | None] = field(default=lambda: None, repr=False, compare=False)
