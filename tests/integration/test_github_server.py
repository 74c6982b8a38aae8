"""Comment, check run and contents against a GitHub that others wrote, behind GitHub's description.

The server and the validating proxy come from GATE_TOOLS/github_api.sh; it needs node and npm.
"""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from gate.github.api import Api, Time
from gate.github.checks import create_check
from gate.github.comments import Marker, Pace, publish
from gate.github.context import Job
from gate.github.forge import GitHubForge
from gate.github.pulls import find_pull_request
from tests.small_report import report

REPOSITORY, TOKEN = "octocat/demo", "test_token_admin"
PORTS = ("4201", "4211")
TEXT = b'{"schema_version": 1}\n'


@dataclass(frozen=True)
class Server:
    """`direct` is the emulator, `proxy` the validating way to it."""

    script: Path
    direct: str
    proxy: str

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        home = os.environ.get("GITHUB_PEER_HOME", "/tmp/gate-github")
        env = {**os.environ, "GITHUB_PEER_HOME": home}
        command = ["bash", str(self.script), *arguments]
        quiet = subprocess.DEVNULL
        return subprocess.run(
            command, env=env, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet, text=True,
            timeout=300, check=False,
        )  # fmt: skip

    def make(self, method: str, path: str, **body: Any) -> Any:
        answer = requests.request(
            method,
            f"{self.direct}/repos/{REPOSITORY}/{path}",
            json=body or None,
            headers={"Authorization": f"Bearer {TOKEN}"},
            timeout=30,
        )
        assert answer.ok, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def server(gate_tools: Path) -> Iterator[Server]:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed: github_api.sh needs it")
    direct, proxy = (f"http://127.0.0.1:{port}" for port in PORTS)
    found = Server(gate_tools / "github_api.sh", direct, proxy)
    log = found.call("start", "--port", PORTS[0], "--proxy", PORTS[1])
    try:
        assert log.returncode == 0, log.stdout
        yield found
    finally:
        found.call("stop")


@pytest.fixture(scope="module")
def pull(server: Server) -> dict[str, Any]:
    """A pull request that forges the baseline file which main has."""
    content = base64.b64encode(TEXT).decode()
    path = "contents/baselines/analytics.json"
    made = server.make("PUT", path, message="baseline", content=content, branch="main")
    sha = server.make("GET", "git/ref/heads/main")["object"]["sha"]
    server.make("POST", "git/refs", ref="refs/heads/topic", sha=sha)
    forged = base64.b64encode(b"forged").decode()
    old = made["content"]["sha"]
    server.make("PUT", path, message="forge", content=forged, branch="topic", sha=old)
    return dict(server.make("POST", "pulls", title="t", head="topic", base="main"))


@contextmanager
def client(url: str) -> Iterator[Api]:
    api = Api(url, TOKEN, REPOSITORY, clock=Time(sleep=lambda seconds: None))
    try:
        yield api
    finally:
        api.close()


@pytest.fixture
def api(server: Server) -> Iterator[Api]:
    with client(server.proxy) as made:
        yield made


def test_the_sticky_comment_and_its_pages(server: Server, pull: dict[str, Any], api: Api) -> None:
    number, sha = pull["number"], pull["head"]["sha"]
    quick = Pace(sleep=lambda seconds: None)
    for index in range(120):
        server.make("POST", f"issues/{number}/comments", body=f"talk {index}")
    first = publish(api, number, Marker(id="gate", sha=sha, run=1), "one\n", pace=quick)
    second = publish(api, number, Marker(id="gate", sha=sha, run=2), "two\n", pace=quick)
    old = publish(api, number, Marker(id="gate", sha="b" * 40, run=9), "old\n", pace=quick)
    assert (first.action, second.action, old.action) == ("created", "updated", "skipped")
    bodies = [comment["body"] for comment in api.pages(f"issues/{number}/comments", {})]
    assert len(bodies) == 121
    assert bodies[-1] == f"<!-- agent-gate id=gate sha={sha} run=2.1 v=1 -->\ntwo\n"
    assert server.call("violations").stdout == ""


def test_a_check_run(server: Server, pull: dict[str, Any], api: Api) -> None:
    """The emulator's own answer lacks a field, so the proxy refuses that; our request is right."""
    made, head = report("fail", 1), pull["head"]["sha"]
    refused = create_check(api, made, head_sha=head, name="gate", summary="text")
    assert "answered 500" in refused.reason
    assert server.call("violations").stdout == ""
    with client(server.direct) as direct:
        done = create_check(direct, made, head_sha=head, name="gate", summary="text")
    assert done.action == "created"
    stored = server.make("GET", f"commits/{head}/check-runs")["check_runs"][-1]
    assert (stored["name"], stored["conclusion"]) == ("gate", "failure")


def test_files_of_the_base_and_the_pull_request_of_a_head(
    server: Server, pull: dict[str, Any], api: Api
) -> None:
    forge = GitHubForge(api)
    assert forge.listing("baselines", "main") == ("analytics.json",)
    assert forge.read("baselines/analytics.json", "main") == TEXT
    assert forge.read("baselines/analytics.json", "topic") == b"forged"
    assert forge.read("baselines/none.json", "main") is None
    head = pull["head"]
    job = Job(head_sha=head["sha"], head_ref="topic", head_repo=REPOSITORY)
    assert find_pull_request(api, job) == pull["number"]
    assert server.call("violations").stdout == ""


def test_the_proxy_notices_a_wrong_request(server: Server, pull: dict[str, Any], api: Api) -> None:
    path = f"issues/{pull['number']}/comments"
    with pytest.raises(Exception, match="422"):
        api.write("POST", path, {"bod": "x"}, needs="")
    assert server.call("violations").stdout != ""
