"""The answer to `/gate accept` below a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gate.errors import UsageError
from gate.github.accept_reply import answer
from gate.github.api import Api, ApiError, Time
from tests.support.github_server import BOT, HEAD, REPOSITORY, Answer, GitHub, serving


@pytest.fixture
def github() -> Iterator[GitHub]:
    with serving(GitHub(permissions={"ann": "write", "eve": "read"})) as server:
        server.runs += [
            {"id": 7, "status": "completed", "conclusion": "failure"},
            {"id": 8, "status": "completed", "conclusion": "success"},
        ]
        server.comment(f"<!-- agent-gate id=gate sha={HEAD} run=7.1 v=1 -->\n## ❌ Fail", user=BOT)
        yield server
        assert server.violations == []


def event(body: str = "/gate accept because", who: str = "ann", **changes: Any) -> dict[str, Any]:
    return {
        "action": "created",
        "issue": {"number": 3, "pull_request": {"url": "https://example.test"}},
        "comment": {"id": 55, "body": body, "user": {"login": who, "type": "User"}},
        **changes,
    }


def said(github: GitHub, payload: dict[str, Any] | None) -> list[str]:
    """What the step prints; it ends green."""
    printed: list[str] = []
    clock = Time(sleep=lambda seconds: None)
    api = Api(github.url, "token", REPOSITORY, clock=clock)
    try:
        assert answer(payload, api, printed.append) == 0
    finally:
        api.close()
    return printed


def test_a_writers_word_runs_the_failed_job_again(github: GitHub) -> None:
    (line,) = said(github, event())
    assert "runs again on #3" in line
    assert github.reruns == ["7/rerun-failed-jobs"]
    assert github.reactions == [(55, "+1")]
    assert len(github.comments) == 1


def test_a_run_that_was_green_is_run_again_whole(github: GitHub) -> None:
    github.comments[0]["body"] = github.comments[0]["body"].replace("run=7", "run=8")
    said(github, event())
    assert github.reruns == ["8/rerun"]


def test_a_gate_that_passed_beside_a_failed_job_is_run_again(github: GitHub) -> None:
    body = github.comments[0]["body"]
    github.comments[0]["body"] = body.replace("❌ Fail", "❔ Inconclusive")
    said(github, event())
    assert github.reruns == ["7/rerun"]


def test_every_job_that_commented_on_the_commit_runs_again(github: GitHub) -> None:
    github.comment(f"<!-- agent-gate id=other sha={HEAD} run=8.1 v=1 -->\n## Pass", user=BOT)
    said(github, event())
    assert github.reruns == ["8/rerun", "7/rerun-failed-jobs"]


def test_others_get_a_thumb_down_and_no_words(github: GitHub) -> None:
    (line,) = said(github, event(who="eve"))
    assert "write permission" in line
    assert (github.reruns, github.reactions) == ([], [(55, "-1")])
    assert len(github.comments) == 1


def test_a_missing_reason_is_told_below(github: GitHub) -> None:
    said(github, event("/gate accept"))
    assert github.reruns == []
    assert "`/gate accept <reason>`" in github.comments[-1]["body"]


def test_a_head_that_nobody_judged_yet_is_told(github: GitHub) -> None:
    github.heads[3] = "f" * 40
    said(github, event())
    assert github.reruns == []
    assert "has not commented on the head commit yet" in github.comments[-1]["body"]


def test_a_run_under_way_is_not_run_again(github: GitHub) -> None:
    github.runs[0]["status"] = "in_progress"
    said(github, event())
    assert github.reruns == []
    assert "is running" in github.comments[-1]["body"]


@pytest.mark.parametrize(
    "payload",
    [
        None,
        {},
        event("thanks"),
        event(action="edited"),
        event(issue={"number": 3}),
        event(comment={"id": 5, "body": "/gate accept x", "user": {"login": "b", "type": "Bot"}}),
        event(comment={"id": "5", "body": "/gate accept x", "user": {"login": "b"}}),
    ],
)
def test_everything_else_costs_no_request(github: GitHub, payload: dict[str, Any] | None) -> None:
    (line,) = said(github, payload)
    assert "nothing to do" in line
    assert github.seen == []


def test_a_refused_re_run_names_the_permission(github: GitHub) -> None:
    github.faults.append(("/rerun", Answer(403, {"message": "Resource not accessible"})))
    with pytest.raises(ApiError, match="actions: write"):
        said(github, event())


def test_a_refused_thumb_is_no_matter(github: GitHub) -> None:
    github.faults.append(("/reactions", Answer(403, {"message": "Resource not accessible"})))
    said(github, event())
    assert github.reruns == ["7/rerun-failed-jobs"]


def test_without_a_token_the_step_says_so() -> None:
    with pytest.raises(UsageError, match="github-token"):
        answer(event(), None, print)
