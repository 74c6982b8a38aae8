"""Comment, check run and contents against a GitHub that others wrote, behind GitHub's description.

The server and the validating proxy come from GATE_TOOLS/github_api.sh; it needs node and npm.
"""

from __future__ import annotations

import base64
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from gate.errors import Place
from gate.github import checks
from gate.github.api import Api, Time
from gate.github.checks import post_status
from gate.github.comments import Marker, RetryPace, publish
from gate.github.context import Job
from gate.github.pull_requests import PullRequestComments, find_pull_request
from gate.github.remote_repository import GitHubForge
from gate.records import CaseChange, CaseChanges, Report
from tests.support.github_peer import Peer, github_peer
from tests.support.small_report import report

REPOSITORY, TOKEN = "octocat/demo", "test_token_admin"
TEXT = b'{"schema_version": 1}\n'


@pytest.fixture(scope="module")
def server(gate_tools: Path) -> Iterator[Peer]:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed: github_api.sh needs it")
    with github_peer(gate_tools) as found:
        yield found


@pytest.fixture
def violations(server: Peer) -> Callable[[], str]:
    """What broke GitHub's description since this test began; other tests mean to."""
    before = server.violations()
    return lambda: server.violations().removeprefix(before)


def make(server: Peer, method: str, path: str, **body: Any) -> Any:
    answer = requests.request(
        method,
        f"{server.direct}/repos/{REPOSITORY}/{path}",
        json=body or None,
        headers={"Authorization": f"Bearer {TOKEN}"},
        timeout=30,
    )
    assert answer.ok, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def pull(server: Peer) -> dict[str, Any]:
    """A pull request that forges the baseline file which main has."""
    content = base64.b64encode(TEXT).decode()
    path = "contents/baselines/analytics.json"
    made = make(server, "PUT", path, message="baseline", content=content, branch="main")
    sha = make(server, "GET", "git/ref/heads/main")["object"]["sha"]
    make(server, "POST", "git/refs", ref="refs/heads/topic", sha=sha)
    forged = base64.b64encode(b"forged").decode()
    old = made["content"]["sha"]
    make(server, "PUT", path, message="forge", content=forged, branch="topic", sha=old)
    return dict(make(server, "POST", "pulls", title="t", head="topic", base="main"))


@contextmanager
def client(url: str) -> Iterator[Api]:
    api = Api(url, TOKEN, REPOSITORY, clock=Time(sleep=lambda seconds: None))
    try:
        yield api
    finally:
        api.close()


@pytest.fixture
def api(server: Peer) -> Iterator[Api]:
    with client(server.checked) as made:
        yield made


def test_the_sticky_comment_and_its_pages(
    server: Peer, pull: dict[str, Any], api: Api, violations: Callable[[], str]
) -> None:
    number, sha = pull["number"], pull["head"]["sha"]
    quick = RetryPace(sleep=lambda seconds: None)
    for index in range(120):
        make(server, "POST", f"issues/{number}/comments", body=f"talk {index}")
    first = publish(
        PullRequestComments(api, number), Marker(id="gate", sha=sha, run=1), "one\n", pace=quick
    )
    second = publish(
        PullRequestComments(api, number), Marker(id="gate", sha=sha, run=2), "two\n", pace=quick
    )
    old = publish(
        PullRequestComments(api, number),
        Marker(id="gate", sha="b" * 40, run=9),
        "old\n",
        pace=quick,
    )
    assert (first.action, second.action, old.action) == ("created", "updated", "skipped")
    bodies = [comment["body"] for comment in api.pages(f"issues/{number}/comments", {})]
    assert len(bodies) == 121
    assert bodies[-1] == f"<!-- agent-gate id=gate sha={sha} run=2.1 v=1 -->\ntwo\n"
    assert violations() == ""


def test_a_check_run(
    server: Peer, pull: dict[str, Any], api: Api, violations: Callable[[], str]
) -> None:
    """The emulator's own answers lack a field, so the proxy refuses them; our requests are
    right.
    """
    head = pull["head"]["sha"]
    ended = checks.verdict(placed(60), lambda limit: "text", lambda text: text)
    refused = begun(head, "refused", server.checked).finish(api, ended)
    assert "answered 500" in refused.reason
    assert violations() == ""
    with client(server.direct) as direct:
        done = begun(head, "gate", server.direct).finish(direct, ended)
    assert done.action == "created"
    stored = make(server, "GET", f"commits/{head}/check-runs?check_name=gate")["check_runs"]
    (made,) = [run for run in stored if run["name"] == "gate"]
    assert (made["status"], made["conclusion"]) == ("completed", "failure")


def test_a_commit_status(
    server: Peer, pull: dict[str, Any], api: Api, violations: Callable[[], str]
) -> None:
    """The emulator has no statuses; that the request is right says the proxy before it."""
    head = pull["head"]["sha"]
    ended = checks.CheckResult(conclusion="failure", title="fail: why", summary="")
    url = "https://example.test/run"
    done = post_status(api, ended, head_sha=head, context="Agent Gate: gate", run_url=url)
    assert "answered 404" in done.reason
    assert violations() == ""


def begun(head: str, name: str, url: str) -> checks.CheckRun:
    clock = Time(sleep=lambda seconds: None)
    identity = checks.CheckIdentity(head_sha=head, name=name)
    check = checks.CheckRun(identity, lambda: Api(url, TOKEN, REPOSITORY, clock=clock))
    check.begin()
    return check


def placed(number: int) -> Report:
    failing = tuple(
        CaseChange(suite="s", case_id=f"c{n}", place=Place("d.jsonl", n)) for n in range(1, number)
    )
    return report("fail", 1, CaseChanges(newly_failing=failing))


def test_files_of_the_base_and_the_pull_request_of_a_head(
    server: Peer, pull: dict[str, Any], api: Api, violations: Callable[[], str]
) -> None:
    forge = GitHubForge(api)
    assert forge.listing("baselines", "main") == ("analytics.json",)
    assert forge.read("baselines/analytics.json", "main") == TEXT
    assert forge.read("baselines/analytics.json", "topic") == b"forged"
    assert forge.read("baselines/none.json", "main") is None
    head = pull["head"]
    job = Job(head_sha=head["sha"], head_ref="topic", head_repo=REPOSITORY)
    assert find_pull_request(api, job) == pull["number"]
    assert violations() == ""


def test_the_proxy_notices_a_wrong_request(
    server: Peer, pull: dict[str, Any], api: Api, violations: Callable[[], str]
) -> None:
    path = f"issues/{pull['number']}/comments"
    with pytest.raises(Exception, match="422"):
        api.write("POST", path, {"bod": "x"}, needs="")
    assert violations() != ""
