"""A pull request: which one a commit belongs to, and its comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gate.github import payload
from gate.github.api import Api, ApiError
from gate.github.comments import Comment
from gate.github.context import Job
from gate.github.payload import number, text
from gate.records import Json

FIND_NEEDS = "pull-requests: read"
NEEDS = "pull-requests: write"


class PullRequestComments:
    """The comments of a pull request, as the upsert of the one comment wants them."""

    def __init__(self, api: Api, pull_request: int) -> None:
        self._api = api
        self._number = pull_request
        self._author: str | None = None
        self._asked = False  # who the author is

    def wait(self) -> None:
        self._api.wait_to_write()

    def head(self) -> str | None:
        pull = self._api.get(f"pulls/{self._number}", needs=FIND_NEEDS)
        return text(pull, "head.sha") if isinstance(pull, dict) else None

    def read(self) -> Iterator[Comment]:
        if not self._asked:
            self._author, self._asked = login_of(self._api), True
        for comment in self._api.pages(f"issues/{self._number}/comments", {}, needs=NEEDS):
            yield self._comment(comment)

    def create(self, body: str) -> Comment | None:
        path = f"issues/{self._number}/comments"
        return self._written(self._api.write("POST", path, {"body": body}, needs=NEEDS))

    def update(self, identifier: int, body: str) -> Comment | None:
        path = f"issues/comments/{identifier}"
        return self._written(self._api.write("PATCH", path, {"body": body}, needs=NEEDS))

    def delete(self, identifier: int) -> None:
        self._api.write("DELETE", f"issues/comments/{identifier}", needs=NEEDS)

    def _comment(self, found: Mapping[str, Json]) -> Comment:
        body, url, user = found.get("body"), found.get("html_url"), found.get("user")
        account = user if isinstance(user, dict) else {}
        # A workflow's token cannot ask who it is: then only an app's comment can be ours.
        is_own = (
            account.get("login") == self._author if self._author else account.get("type") == "Bot"
        )
        return Comment(
            id=payload.id_of(found),
            body=body if isinstance(body, str) else "",
            url=url if isinstance(url, str) else "",
            is_own=is_own,
        )

    def _written(self, found: Json) -> Comment | None:
        """Once written, GitHub has told who we are: no other app's comment counts from here on."""
        if not isinstance(found, dict):
            return None
        self._author = self._author or text(found, "user.login")
        return self._comment(found)


def login_of(api: Api) -> str | None:
    """The login of the token's user; None for a workflow's or an app's token, which may not ask."""
    if api.acts_as_app:
        return None
    try:
        return payload.text(api.get("/user"), "login")
    except ApiError as error:
        if error.status not in (403, 404):
            raise
        return None


def find_pull_request(api: Api, job: Job) -> int | None:
    """The open pull request whose head is the job's commit in the job's head repository.

    Only the event is asked, never a session or artifact: those come from the pull request itself.
    Raises ApiError.
    """
    if job.pull_request is not None:
        return job.pull_request
    if not (job.head_sha and job.head_ref and job.head_repo):
        return None
    owner = job.head_repo.split("/", 1)[0]
    query = {"state": "open", "head": f"{owner}:{job.head_ref}"}
    for pull in api.pages("pulls", query, needs=FIND_NEEDS):
        same_repository = text(pull, "head.repo.full_name") == job.head_repo
        if same_repository and text(pull, "head.sha") == job.head_sha:
            return number(pull, "number")
    return None
