"""Which changes somebody accepted before this run (docs/semantics.md 7)."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass

from gate.github.context import Job
from gate.records import AcceptedChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    changes: tuple[AcceptedChange, ...] = ()
    notes: tuple[str, ...] = ()


def accepted(job: Job, token: str, metrics: Iterable[str]) -> Accepted:
    """What `/gate accept` said on GitHub about what `job` judges; nothing without a token.

    `metrics`: the names that a reason may single out.
    """
    if not (job.api_url and job.repository and token):
        return Accepted()
    # The API's client costs 0.1 s to import: only where there is a token to use it with.
    acceptance = importlib.import_module("gate.github.acceptance")
    api = importlib.import_module("gate.github.remote_repository").connect(job, token)
    try:
        found = acceptance.find_accepted(api, job, metrics)
        return Accepted(changes=found.changes, notes=found.notes)
    finally:
        api.close()
