"""What the newest release measured, for the anchor that main is compared with.

Trusted for who made it: a run of a release of this very repository, whose commit main has.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from urllib.parse import quote

from gate.github.api import Api, ApiError
from gate.github.artifact_list import NEEDS, ArtifactList
from gate.github.artifacts import Fetched, Run, fetch_from_run, from_here
from gate.github.payload import moment, text
from gate.records.forge import RELEASE_ANCHOR, BaselineRequest

RUNS_ASKED = 10  # each costs a question or two
EVENTS = ("release", "push", "workflow_dispatch")


def fetch_release_anchor(
    api: Api, request: BaselineRequest, *, repository_id: int | None, newer_than: str
) -> Fetched | None:
    """The newest one, if it was made after `newer_than` (ISO 8601); None when there is none.

    Raises ApiError, and UsageError when what was downloaded is not what GitHub stored.
    """
    shelf = ArtifactList(api, RELEASE_ANCHOR)
    for run in _runs(api, shelf):
        made, known = moment(run, "created_at"), moment({"at": newer_than}, "at")
        if made is None or (known is not None and made <= known):
            return None
        if run.get("event") not in EVENTS or not from_here(run, repository_id):
            continue
        if _is_on(api, request.branch, str(run.get("head_sha") or "")):
            name = text(run, "head_branch") or "a release"
            return fetch_from_run(
                api, run, shelf, f"the newest release on {request.branch}: {name}"
            )
    return None


def _runs(api: Api, shelf: ArtifactList) -> Iterator[Run]:
    """Newest first; a run that was deleted meanwhile is left out."""
    for run in islice(shelf.runs(), RUNS_ASKED):
        try:
            answer = api.get(f"actions/runs/{run}", needs=NEEDS)
        except ApiError as error:
            if error.status != 404:
                raise
            continue
        if isinstance(answer, dict):
            yield answer


def _is_on(api: Api, branch: str, sha: str) -> bool:
    """Whether the branch has the commit: a tag may stand on any other."""
    if not sha:
        return False
    try:
        answer = api.get(f"compare/{quote(branch, safe='')}...{sha}", needs="contents: read")
    except ApiError as error:
        if error.status == 404:
            return False
        raise
    return isinstance(answer, dict) and answer.get("status") in ("behind", "identical")
