"""`gate comment`: a stored session on the pull request that the event, not the session, names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gate.commands import comment
from gate.errors import InfrastructureError, UsageError
from gate.options import parse
from tests.github_server import HEAD, REPOSITORY, GitHub, serving
from tests.stored_session import store


@pytest.fixture
def github() -> Iterator[GitHub]:
    with serving(GitHub()) as server:
        head = {"sha": HEAD, "repo": {"full_name": "mallory/demo"}}
        server.pulls = [{"number": 3, "label": "mallory:topic", "head": head}]
        yield server
        assert server.violations == []


@pytest.fixture
def session(tmp_path: Path) -> Path:
    facts: dict[str, Any] = {"commit": HEAD, "run_id": "7", "run_attempt": "2", "pull_request": 99}
    return store(tmp_path, {"a": [True]}, **facts)


def second_workflow(github: GitHub, tmp_path: Path, head: str = HEAD) -> dict[str, str]:
    run = {
        "event": "pull_request",
        "head_sha": head,
        "head_branch": "topic",
        "head_repository": {"full_name": "mallory/demo"},
        "pull_requests": [],
    }
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"workflow_run": run}), encoding="utf-8")
    return {
        "GITHUB_EVENT_NAME": "workflow_run",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_API_URL": github.url,
        "GITHUB_TOKEN": "token",
    }


def gate(session: Path, env: dict[str, str], *more: str) -> int:
    return comment.run(parse(["comment", str(session), *more]), env)


def test_a_forks_session_is_published_and_marked(
    github: GitHub, session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate(session, second_workflow(github, tmp_path)) == 0
    body = github.comments[0]["body"]
    assert body.startswith(f"<!-- agent-gate id=gate sha={HEAD} run=7.2 v=1 -->\n> [!NOTE]\n")
    assert "Measured by a run of a fork" in body
    assert body.endswith("## Pass\n\nas measured\n")
    assert "comment created: https://example.test/c/" in capsys.readouterr().out
    paths = [seen.path for seen in github.seen]
    assert not any("/99" in path for path in paths)


def test_too_long_is_rendered_again(github: GitHub, session: Path, tmp_path: Path) -> None:
    (session / "comment.md").write_text("x" * 70_000)
    assert gate(session, second_workflow(github, tmp_path), "--comment-id", "other") == 0
    body = github.comments[0]["body"]
    assert "id=other" in body
    assert "xxx" not in body
    assert "Measured by a run of a fork" in body


def test_a_session_of_another_commit_is_refused(
    github: GitHub, session: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="measured aaaaaaaaaaaa, but this event is about cccc"):
        gate(session, second_workflow(github, tmp_path, "c" * 40))
    assert github.comments == []


def test_no_pull_request_and_never_are_skipped(
    github: GitHub, session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate(session, second_workflow(github, tmp_path), "--when", "never") == 0
    github.pulls = []
    assert gate(session, second_workflow(github, tmp_path)) == 0
    assert "comment skipped: no open pull request" in capsys.readouterr().out
    assert github.comments == []


def test_refusals(github: GitHub, session: Path, tmp_path: Path) -> None:
    env = second_workflow(github, tmp_path)
    with pytest.raises(UsageError, match="GITHUB_TOKEN"):
        gate(session, {**env, "GITHUB_TOKEN": ""})
    github.read_only = True
    with pytest.raises(InfrastructureError, match="permissions: pull-requests: write"):
        gate(session, env)
    (session / "comment.md").unlink()
    with pytest.raises(UsageError, match="gate report"):
        gate(session, env)
    (session / "summary.json").unlink()
    with pytest.raises(UsageError, match="never ended"):
        gate(session, env)
