"""The baseline artifact of the base branch: which run is trusted, and its bytes, checked.

An artifact is trusted for who made it: a push, schedule or manual run of this very repository's
branch, whatever its conclusion: the run is red where main has got worse, and pull requests are
compared with what it measured all the same. Forks share branch and artifact names, so ids are
compared. One that is not what its run stored ends the command: an older one in its place would hide
that somebody meddled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice, takewhile
from posixpath import basename
from urllib.parse import quote

from gate.errors import UsageError
from gate.github.api import Api, ApiError, Download
from gate.github.artifact_list import NEEDS, ArtifactList
from gate.github.payload import id_of, moment, number
from gate.github.unpack import DEFAULT_LIMITS, unpack
from gate.records import Json
from gate.records.forge import Artifact, BaselineRequest

EVENTS = ("push", "schedule", "workflow_dispatch")
RUNS_LISTED = 200
ZIP_TYPES = ("application/zip", "application/x-zip-compressed")

Run = Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A downloaded artifact before its files are taken out, and which rule chose its run."""

    download: Download
    name: str
    commit: str
    created_at: str
    url: str
    chosen_by: str

    def files(self, request: BaselineRequest) -> Artifact:
        """The suite's baseline file and the answers beside it only, under their plain names; raises
        UsageError on a bad zip.
        """
        return Artifact(
            files=self._contents((f"{request.suite}.json", request.answers_file), request),
            commit=self.commit,
            created_at=self.created_at,
            url=self.url,
            chosen_by=self.chosen_by,
        )

    def _contents(self, files: tuple[str, ...], request: BaselineRequest) -> dict[str, bytes]:
        content, kind = self.download.content, self.download.content_type
        if kind in ZIP_TYPES or content.startswith(b"PK"):
            folder = request.path.strip("/")
            nested = {f"{folder}/{file}": file for file in files}
            members = unpack(content, (*nested, *files), source=f"artifact '{self.name}'")
            return {nested.get(name, name): data for name, data in members.items()}
        # Newer uploads may store one file as it is; then its own name says which suite's.
        return {files[0]: content} if self.download.filename in (None, files[0]) else {}


def fetch(api: Api, request: BaselineRequest, *, repository_id: int | None) -> Fetched | None:
    """The best run's artifact, downloaded and compared with its digest; None when there is none.

    Raises ApiError, and UsageError when what was downloaded is not what GitHub stored.
    """
    runs = [run for run in _runs(api, request) if _is_trusted(run, request, repository_id)]
    shelf = ArtifactList(api, request.artifact)
    for run, rule in _order_runs(runs, request, api):
        fetched = fetch_from_run(api, run, shelf, rule)
        if fetched is not None:
            return fetched
    return None


def fetch_from_run(api: Api, run: Run, shelf: ArtifactList, rule: str) -> Fetched | None:
    """The run's newest artifact of the list; errors as of `fetch`."""
    for artifact in shelf.artifacts_of(id_of(run)):
        try:
            return _download(api, run, artifact, rule)
        except ApiError as error:
            if error.status != 410:  # expired since it was listed
                raise
    return None


def _runs(api: Api, request: BaselineRequest) -> Iterator[Run]:
    """Newest first, up to the first one that is too old."""
    query = {"branch": request.branch, "exclude_pull_requests": "true"}
    path = "actions/runs"
    if request.workflow:
        path = f"actions/workflows/{quote(basename(request.workflow), safe='')}/runs"
    listed = api.pages(path, query, key="workflow_runs", needs=NEEDS)
    return takewhile(lambda run: not _too_old(run, request), islice(listed, RUNS_LISTED))


def _is_trusted(run: Run, request: BaselineRequest, repository_id: int | None) -> bool:
    """A run of this repository's own branch, by a trusted event."""
    return (
        run.get("event") in EVENTS
        and run.get("head_branch") == request.branch
        and from_here(run, repository_id)
    )


def from_here(run: Run, repository_id: int | None) -> bool:
    """Whether the run's commit is of this repository: forks share branch and artifact names."""
    head, own_id = number(run, "head_repository.id"), number(run, "repository.id")
    return head is not None and head == (repository_id if repository_id is not None else own_id)


def _too_old(run: Run, request: BaselineRequest) -> bool:
    created = moment(run, "created_at")
    return created is None or request.now - created > timedelta(days=request.max_age_days)


def _order_runs(
    runs: Sequence[Run], request: BaselineRequest, api: Api
) -> Iterator[tuple[Run, str]]:
    """Runs of the base commit first, then of its ancestors, nearest first, then the newest ones."""
    given: set[int] = set()
    name = request.base_name
    exact, base = (f"the commit of {name}", name) if name else ("the base commit", "the base")
    for place, sha in enumerate(_line(runs, request, api)):
        for run in runs:
            if run.get("head_sha") == sha:
                given.add(id_of(run))
                yield run, f"{place} commits before {base}" if place else exact
    for run in runs:  # of a release it could be the very commit that is released
        if id_of(run) not in given and name is None:
            yield run, f"the newest run of {request.branch}"


def _line(runs: Sequence[Run], request: BaselineRequest, api: Api) -> Iterator[str]:
    """The base commit and up to 100 of its ancestors; asked only when the base itself has none."""
    if request.base_sha is None or not runs:
        return
    yield request.base_sha
    query = {"sha": request.base_sha}
    try:
        commits = list(islice(api.pages("commits", query, needs="contents: read"), 100))
    except ApiError as error:
        if error.status not in (404, 409, 422):  # the commit is gone: then the newest run it is
            raise
        return
    yield from (str(commit.get("sha")) for commit in commits[1:])


def _download(api: Api, run: Run, artifact: Mapping[str, Json], rule: str) -> Fetched:
    path = f"actions/artifacts/{artifact['id']}/zip"
    download = api.download(path, limit=DEFAULT_LIMITS.compressed, needs=NEEDS)
    digest = artifact.get("digest")
    if isinstance(digest, str) and digest.startswith("sha256:"):
        got = hashlib.sha256(download.content).hexdigest()
        if got != digest.removeprefix("sha256:").lower():
            raise UsageError(
                f"artifact '{artifact['name']}' of run {run['id']}: the download differs "
                "from what was stored (sha256); run the job again, and if that does not "
                "help, delete the artifact"
            )
    return Fetched(
        download=download,
        name=str(artifact["name"]),
        commit=str(run.get("head_sha") or ""),
        created_at=str(artifact.get("created_at") or run.get("created_at")),
        url=str(run.get("html_url") or ""),
        chosen_by=rule,
    )
