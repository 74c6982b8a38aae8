"""The pull request of a second workflow: by head commit and head repository, nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.github.api import Api, Time
from gate.github.context import Job
from gate.github.pull_requests import find_pull_request
from tests.support.github_server import REPOSITORY, GitHub

HEAD, OTHER = "a" * 40, "b" * 40
JOB = Job(event="workflow_run", head_sha=HEAD, head_ref="topic", head_repo="mallory/demo")


def pull(number: int, sha: str = HEAD, repository: str | None = "mallory/demo") -> dict[str, Any]:
    repo = repository and {"full_name": repository}
    return {"number": number, "label": "mallory:topic", "head": {"sha": sha, "repo": repo}}


def find(github: GitHub, job: Job, *pulls: dict[str, Any]) -> int | None:
    github.pulls = list(pulls)
    api = Api(github.url, "token", REPOSITORY, clock=Time(sleep=lambda seconds: None))
    try:
        return find_pull_request(api, job)
    finally:
        api.close()


def test_it_is_the_open_one_with_that_head_in_that_repository(github: GitHub) -> None:
    other, gone = pull(5, repository="mallory/fork-of-fork"), pull(6, repository=None)
    assert find(github, JOB, other, gone, pull(7)) == 7
    assert github.seen[0].query["state"] == "open", "a closed one is not asked for"
    assert github.seen[0].query["head"] == "mallory:topic"


def test_of_several_with_one_head_it_is_the_newest(github: GitHub) -> None:
    assert find(github, JOB, pull(9), pull(7)) == 9


def test_a_head_that_has_moved_on_is_not_commented_on(github: GitHub) -> None:
    assert find(github, JOB, pull(7, sha=OTHER)) is None


@pytest.mark.parametrize("missing", ["head_sha", "head_ref", "head_repo"])
def test_a_fork_that_is_gone_has_no_pull_request(github: GitHub, missing: str) -> None:
    assert find(github, replace(JOB, **{missing: None}), pull(7)) is None
    assert github.seen == []


def test_an_event_that_names_it_asks_nobody(github: GitHub) -> None:
    assert find(github, replace(JOB, pull_request=3), pull(7)) == 3
    assert github.seen == []
