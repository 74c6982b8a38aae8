"""The session that an earlier run at the same head commit left as an artifact, to be gone on with.

A re-run adds rounds to it: fresh ones until one is green would turn every verdict into a pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from gate.errors import InfrastructureError, UsageError
from gate.files.json_values import as_object
from gate.github.api import Api
from gate.github.artifact_list import NEEDS, ArtifactList
from gate.github.artifacts import Run, fetch_from_run, from_here
from gate.github.context import Job
from gate.github.payload import id_of
from gate.github.unpack import unpack
from gate.records.forge import StoredSession
from gate.store.session import CONTROL, EVENTS, META

RUNS_LISTED = 100
DEFAULT_ID = "gate"  # the `comment-id` of a job that gives none
OWN = (META, EVENTS)
BESIDE = tuple(f"{CONTROL}/{name}" for name in OWN)  # of a control that was asked, too
_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")


def artifact_name(head_sha: str, shard: str = "", comment_id: str = DEFAULT_ID) -> str:
    """The name of the artifact with a commit's session; `shard` is I/N, with its stage. Jobs that
    ask different agents have a `comment_id` each, so that none goes on with the answers of another.
    """
    suffix = "" if comment_id == DEFAULT_ID else f"-{comment_id}"
    part = f"-{shard.replace('/', '-of-')}" if shard else ""
    return f"gate-session-{head_sha}{suffix}{part}"


def restore(api: Api | None, job: Job, out: Path, comment_id: str = DEFAULT_ID) -> StoredSession:
    """Puts the session of an earlier run at this head commit into `out`. That there is none, or
    that nobody may look, is told where somebody re-runs and expects it.
    """
    if api is None or job.head_sha is None or not (job.run_id or "").isdecimal():
        return StoredSession()
    name = artifact_name(job.head_sha, comment_id=comment_id)
    expected = job.run_attempt not in (None, "1")
    try:
        files = _files(api, job, name)
        if files is not None:
            folder = write_session(files, out)
            return StoredSession(folder=folder, note=f"continues the stored session {folder.name}")
        why = f"there is no artifact `{name}`"
    except UsageError as error:
        why, expected = str(error), True
    except InfrastructureError as error:
        why = str(error)
    return StoredSession(note=f"every trial was run again: {why}" if expected else "")


def _files(api: Api, job: Job, name: str) -> dict[str, bytes] | None:
    """meta.json and events.jsonl, the control's too, of the newest artifact of that name."""
    shelf = ArtifactList(api, name)
    found_files = (files_of(api, run, shelf, name) for run in _runs(api, job, shelf))
    return next((files for files in found_files if files is not None), None)


def files_of(api: Api, run: Run, shelf: ArtifactList, name: str) -> dict[str, bytes] | None:
    """The same of one run; None where it has no such artifact. Raises ApiError, UsageError."""
    fetched = fetch_from_run(api, run, shelf, "the same head commit")
    if fetched is None:
        return None
    return unpack(fetched.download.content, (*OWN, *BESIDE), source=f"artifact '{name}'")


def _runs(api: Api, job: Job, shelf: ArtifactList) -> Iterator[Run]:
    """This very run, whose attempts before made the artifact, then runs of the same workflow and
    event for the same commit, newest first. A fork's other runs are not trusted: its workflow may
    be another one under the same name.
    """
    number = int(job.run_id or 0)
    yield {"id": number}
    if not set(shelf.runs()) - {number}:
        return  # nobody else has one, so nobody need be looked at
    query = {"head_sha": str(job.head_sha)}
    listed = api.pages("actions/runs", query, key="workflow_runs", needs=NEEDS)
    runs = list(islice(listed, RUNS_LISTED))
    own_run = next((run for run in runs if run.get("id") == number), None)
    if own_run is None:
        return
    kind = [own_run.get(key) for key in ("workflow_id", "event", "head_sha")]
    for run in sorted(runs, key=id_of, reverse=True):
        alike = [run.get(key) for key in ("workflow_id", "event", "head_sha")] == kind
        if alike and run is not own_run and from_here(run, job.repository_id):
            yield run


def write_session(files: Mapping[str, bytes], out: Path) -> Path:
    """The session's folder, in which nothing was before. Raises UsageError."""
    try:
        session_id = str(as_object(json.loads(files.get(META, b"")))["session_id"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageError("the stored session cannot be read") from error
    half = sum(name in files for name in BESIDE) == 1
    if not _ID.fullmatch(session_id) or EVENTS not in files or half:
        raise UsageError("the stored session was not written by `gate run`")
    folder = out / f"session-{session_id}"
    try:
        folder.mkdir(parents=True)
        for name, content in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(content)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror}") from error
    return folder
