"""The optional check run, and finding the pull request of a commit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gate.github.api import Api, Time
from gate.github.checks import conclusion, create_check
from gate.github.context import Job
from gate.github.pulls import find_pull_request
from gate.records import Provenance
from tests.github_server import HEAD, REPOSITORY, GitHub, serving
from tests.small_report import report


@pytest.fixture
def github() -> Iterator[GitHub]:
    with serving(GitHub()) as server:
        yield server
        assert server.violations == []


@pytest.fixture
def api(github: GitHub) -> Iterator[Api]:
    client = Api(github.url, "token", REPOSITORY, clock=Time(sleep=lambda seconds: None))
    yield client
    client.close()


@pytest.mark.parametrize(
    ("outcome", "code", "wanted"),
    [
        ("pass", 0, "success"),
        ("fail", 1, "failure"),
        ("inconclusive", 0, "neutral"),
        ("inconclusive", 3, "failure"),
        ("no_baseline", 0, "neutral"),
        ("error", 6, "failure"),
    ],
)
def test_conclusions(outcome: str, code: int, wanted: str) -> None:
    assert conclusion(report(outcome, code)) == wanted


def test_a_check_run(api: Api, github: GitHub) -> None:
    made = report("fail", 1, provenance=Provenance(run_url="https://example.test/run"))
    done = create_check(api, made, head_sha=HEAD, name="gate", summary="text")
    assert (done.action, done.url) == ("created", "https://example.test/check/1")
    sent = github.checks[0]
    assert (sent["conclusion"], sent["head_sha"]) == ("failure", HEAD)
    assert sent["details_url"] == "https://example.test/run"
    assert sent["output"] == {"title": "fail: why", "summary": "text"}


def test_a_refused_check_run_is_a_result(api: Api, github: GitHub) -> None:
    github.read_only = True
    done = create_check(api, report(), head_sha=HEAD, name="gate", summary="")
    assert done.action == "failed"
    assert "permissions: checks: write" in done.reason


def pull(number: int, sha: str = HEAD, repository: str | None = "mallory/demo") -> dict[str, Any]:
    head = {"sha": sha, "repo": repository and {"full_name": repository}}
    return {"number": number, "label": "mallory:topic", "head": head}


def test_a_forks_pull_request_is_found_by_head(api: Api, github: GitHub) -> None:
    github.pulls = [pull(1, "c" * 40), pull(2, repository="eve/demo"), pull(3, repository=None)]
    job = Job(event="workflow_run", head_sha=HEAD, head_ref="topic", head_repo="mallory/demo")
    assert find_pull_request(api, job) is None
    github.pulls.append(pull(4))
    assert find_pull_request(api, job) == 4
    assert github.seen[-1].query["head"] == "mallory:topic"


def test_without_a_head_nothing_is_asked(api: Api, github: GitHub) -> None:
    assert find_pull_request(api, Job()) is None
    assert find_pull_request(api, Job(pull_request=9)) == 9
    assert github.seen == []
