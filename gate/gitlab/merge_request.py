"""The merge request that a job of GitLab is about, and its notes.

Variables: GitLab's "Predefined CI/CD variables reference"; requests: its "Notes API".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gate.errors import UsageError
from gate.github.api import Api, Server
from gate.github.comments import Comment
from gate.github.payload import id_of, number, text
from gate.github.retry import Refusal
from gate.records import Json

TOKEN = "GITLAB_TOKEN"  # noqa: S105 - the variable's name
_NEEDS = f"; {TOKEN} needs the scope `api` and at least the role Reporter in this project"
# Name of a variable -> what to do where it is missing.
_WANTED = {
    "CI_API_V4_URL": "run it in a job of GitLab",
    "CI_PROJECT_ID": "run it in a job of GitLab",
    "CI_COMMIT_SHA": "run it in a job of GitLab",
    "CI_MERGE_REQUEST_IID": (
        "give the job `rules: [{if: '$CI_PIPELINE_SOURCE == \"merge_request_event\"'}]`"
    ),
    TOKEN: (
        "make a project access token with the scope `api` and store it as a masked CI/CD variable "
        "(the job's own token may not write notes)"
    ),
}


def _hint(refusal: Refusal, needs: str) -> str:
    if refusal.rate_limited:
        return "; the rate limit is used up: run the job again later"
    if refusal.status == 401:
        return f"; {TOKEN} is wrong or has expired"
    return _NEEDS if refusal.status in (403, 404) else ""


GITLAB = Server(
    name="GitLab",
    folder="/projects/",
    headers={"Accept": "application/json"},
    hint=_hint,
    variable="CI_API_V4_URL",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeRequest:
    """Shas are of commits: `commit` is checked out, `head` is the newest of the source branch; they
    differ where GitLab checks out the merged result.
    """

    api_url: str
    project: str
    number: int
    commit: str
    head: str
    pipeline: str
    job: str
    url: str | None  # of the job, whose page has log and artifacts
    token: str = field(repr=False)


def is_job(env: Mapping[str, str]) -> bool:
    """Whether this process is part of a job of GitLab."""
    return env.get("GITLAB_CI") == "true"


def read_merge_request(env: Mapping[str, str]) -> MergeRequest:
    """Raises UsageError with a line for each variable that is missing."""
    missing = [f"{name}: is not set; {todo}" for name, todo in _WANTED.items() if not env.get(name)]
    if missing:
        raise UsageError("\n".join(f"gate comment: {line}" for line in missing))
    if not env["CI_MERGE_REQUEST_IID"].isdecimal():
        raise UsageError("gate comment: CI_MERGE_REQUEST_IID: is not a number")
    return MergeRequest(
        api_url=env["CI_API_V4_URL"],
        project=env["CI_PROJECT_ID"],
        number=int(env["CI_MERGE_REQUEST_IID"]),
        commit=env["CI_COMMIT_SHA"],
        head=env.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or env["CI_COMMIT_SHA"],
        pipeline=env.get("CI_PIPELINE_ID", ""),
        job=env.get("CI_JOB_ID", ""),
        url=env.get("CI_JOB_URL") or env.get("CI_PIPELINE_URL") or None,
        token=env[TOKEN],
    )


class MergeRequestNotes:
    """The notes of a merge request, as the upsert of the one comment wants them."""

    def __init__(self, api: Api, merge_request: int) -> None:
        self._api = api
        self._path = f"merge_requests/{merge_request}"
        self._author: int | None = None
        self._page = ""  # of the merge request in a browser

    def wait(self) -> None:
        self._api.wait_to_write()

    def head(self) -> str | None:
        found = self._api.get(self._path)
        self._page = (text(found, "web_url") or "") if isinstance(found, dict) else ""
        return text(found, "sha") if isinstance(found, dict) else None

    def read(self) -> Iterator[Comment]:
        if self._author is None:
            me = self._api.get("/user")
            self._author = number(me, "id") if isinstance(me, dict) else None
        query = {"sort": "asc", "order_by": "created_at"}
        for note in self._api.pages(f"{self._path}/notes", query):
            if note.get("system") is not True:
                yield self._comment(note)

    def create(self, body: str) -> Comment | None:
        return self._write("POST", f"{self._path}/notes", body)

    def update(self, identifier: int, body: str) -> Comment | None:
        return self._write("PUT", f"{self._path}/notes/{identifier}", body)

    def delete(self, identifier: int) -> None:
        self._api.write("DELETE", f"{self._path}/notes/{identifier}", needs="")

    def _write(self, method: str, path: str, body: str) -> Comment | None:
        found = self._api.write(method, path, {"body": body}, needs="")
        return self._comment(found) if isinstance(found, dict) else None

    def _comment(self, note: Mapping[str, Json]) -> Comment:
        body, identifier = note.get("body"), id_of(note)
        return Comment(
            id=identifier,
            body=body if isinstance(body, str) else "",
            url=f"{self._page}#note_{identifier}" if self._page else "",
            is_own=self._author is not None and number(note, "author.id") == self._author,
        )
