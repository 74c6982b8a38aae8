"""Which changes somebody accepted before this run (docs/semantics.md 7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gate.github.context import Job
from gate.records import AcceptedChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The changes, and what their reader should know."""

    changes: tuple[AcceptedChange, ...] = ()
    notes: tuple[str, ...] = ()


def find_accepted_changes(job: Job, token: str, metrics: Iterable[str]) -> Accepted:
    """The changes that `/gate accept` comments on GitHub accept for what `job` judges; empty
    without a token. `metrics`: the names that a reason may single out.
    """
    if not (job.api_url and job.repository and token):
        return Accepted()
    from gate.github.acceptance import find_accepted
    from gate.github.remote_repository import connect

    api = connect(job, token)
    if api is None:
        return Accepted()
    try:
        answer = find_accepted(api, job, metrics)
        return Accepted(changes=answer.changes, notes=answer.notes)
    finally:
        api.close()
