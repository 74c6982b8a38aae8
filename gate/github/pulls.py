"""Finds the pull request of a commit: the event of a second workflow does not say it for forks."""

from __future__ import annotations

from gate.github.api import Api
from gate.github.context import Job
from gate.github.payload import number, text

NEEDS = "pull-requests: read"


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
    for pull in api.pages("pulls", query, needs=NEEDS):
        same_repository = text(pull, "head.repo.full_name") == job.head_repo
        if same_repository and text(pull, "head.sha") == job.head_sha:
            return number(pull, "number")
    return None
