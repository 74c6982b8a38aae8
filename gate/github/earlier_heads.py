"""The session of an earlier head of the same pull request whose files are the same ones.

Fresh answers for each commit that changes nothing would, push by push, turn every verdict into a
pass: such a commit goes on with what was answered before (docs/semantics.md 9).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from gate.errors import InfrastructureError, UsageError
from gate.github.api import Api, ApiError
from gate.github.artifact_list import NEEDS, ArtifactList
from gate.github.artifacts import Run, from_here
from gate.github.context import Job
from gate.github.payload import id_of, number, text
from gate.github.sessions import artifact_name, files_of, write_session
from gate.github.trees import Trees
from gate.records import Json
from gate.records.forge import StoredSession

RUNS_LISTED = 100  # of this workflow and branch, newest first
LOOKED_AT = 20  # runs whose files are listed, where not every file counts
ENDED = ("success", "failure")  # how a run ends that told a verdict
GONE = "every trial was run again"


def earlier_head(
    api: Api | None, job: Job, out: Path, comment_id: str, paths: Sequence[str] = ()
) -> StoredSession:
    """Puts the newest session of an earlier head with the same files into `out`; `paths`, from the
    top of the repository, say which files count. That it is gone, or cannot be looked for, is told.
    """
    if api is None or job.pull_request is None or not (job.run_id or "").isdecimal():
        return StoredSession()
    try:
        return _find_stored(api, job, out, comment_id, paths)
    except UsageError as error:
        return StoredSession(note=f"{GONE}: {error}")
    except InfrastructureError as error:
        if isinstance(error, ApiError) and error.status == 404:
            return StoredSession()
        return StoredSession(
            note=f"whether an earlier head had the same files is not known: {error}"
        )


def _find_stored(
    api: Api, job: Job, out: Path, comment_id: str, paths: Sequence[str]
) -> StoredSession:
    own_run = api.get(f"actions/runs/{job.run_id}", needs=NEEDS)
    heads = list(islice(_earlier(api, job, own_run), LOOKED_AT if paths else RUNS_LISTED))
    if not heads:
        return StoredSession()
    trees = Trees(api, paths)
    wanted = trees.files(_tree(own_run))
    gone, shelves = "", dict[str, ArtifactList]()
    for run in heads:
        if trees.files(_tree(run)) != wanted:
            continue
        head = str(run["head_sha"])
        name = artifact_name(head, comment_id=comment_id)
        files = files_of(api, run, shelves.setdefault(name, ArtifactList(api, name)), name)
        if files is not None:
            return StoredSession(folder=write_session(files, out), head=head, note=trees.note)
        if not gone and run.get("conclusion") in ENDED:
            gone = (
                f"{GONE}: `{head[:7]}` has the same files, but its session is gone (no artifact "
                f"`{name}`, or it expired)"
            )
    return StoredSession(note=gone or trees.note)


def _earlier(api: Api, job: Job, own_run: Json) -> Iterator[Run]:
    """Runs of the same workflow, event, branch and pull request for other commits, newest first. A
    fork's are not trusted: its workflow may be another one under the same name.
    """
    workflow = number(own_run, "workflow_id")
    head_known = job.head_sha is not None and text(own_run, "head_sha") == job.head_sha
    if not head_known or workflow is None or not (job.head_ref and _tree(own_run)):
        return
    if not isinstance(own_run, dict) or not from_here(own_run, job.repository_id):
        return
    query = {"branch": job.head_ref, "event": job.event}
    path = f"actions/workflows/{workflow}/runs"
    listed = api.pages(path, query, key="workflow_runs", needs=NEEDS)
    kind = [own_run.get(key) for key in ("workflow_id", "event", "head_branch")]
    for run in sorted(islice(listed, RUNS_LISTED), key=id_of, reverse=True):
        alike = [run.get(key) for key in ("workflow_id", "event", "head_branch")] == kind
        trusted = alike and from_here(run, job.repository_id) and _is_of(run, job)
        if trusted and _tree(run) and text(run, "head_sha") not in (None, job.head_sha):
            yield run


def _is_of(run: Run, job: Job) -> bool:
    """Whether the run is of this pull request; GitHub names none of one that was closed."""
    named = run.get("pull_requests")
    numbers = [number(one, "number") for one in named] if isinstance(named, list) else []
    return not numbers or job.pull_request in numbers


def _tree(run: Json) -> str:
    return text(run, "head_commit.tree_id") or ""
