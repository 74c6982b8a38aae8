"""The form of a release's evidence: the names of its files, its manifest and the rules in it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from gate.records import Config, Json, Outcome
from gate.records.codec import schema_of
from gate.records.settings import EVIDENCE

FOLDER = EVIDENCE  # in the session's folder
MANIFEST = "evidence.json"
CONFIG = "config.json"  # what provenance.config_digest is the hash of
RULES = "rules.json"  # RulesInEffect
ENVIRONMENT = "environment.json"
LABELS = "labels.jsonl"  # of the judge, where there are any
DATASETS, BASELINES = "datasets", "baselines"  # folders with a file a suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """One file as it was when the manifest was written."""

    sha256: str
    size: int  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """evidence.json: what was judged, what came out, and every other file of the folder."""

    tag: str | None
    commit: str | None
    repository: str | None
    run: str | None  # its address
    event: str
    session_id: str
    created_at: str  # ISO 8601, UTC
    tool_version: str
    outcome: Outcome
    exit_code: int
    files: Mapping[str, Sealed]  # path in the folder, with slashes; sorted
    build: str = ""  # sha256 of the source of Agent Gate; empty: an older version wrote it
    schema_version: Literal[1] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesInEffect:
    """rules.json: gate.yml with the options of the run and the defaults of a release. The agent's
    options are left out: they are no rule and may hold what is nobody's business.
    """

    config: Config
    elsewhere: tuple[str, ...] = ()  # metrics of suites that this run left out
    # Suite -> metric -> why it does not gate: what people's labels (LABELS) say of the judge.
    advisory: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def schema() -> dict[str, Json]:
    """JSON Schema of evidence.json."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "evidence.json of an Agent Gate release",
        **schema_of(Manifest),
    }


def dataset_file(suite: str, dataset: str) -> str:
    """Where the copy of a suite's dataset stands in the folder; `dataset`: its own path."""
    return f"{DATASETS}/{suite}{Path(dataset).suffix}"


def sha256_of(path: Path) -> str:
    """Read piece by piece: a file of trials may be large."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
