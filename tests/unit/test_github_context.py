"""Which event means which job: head, base, rules, what may be written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.github.context import Job, current_job, job, read_event, token

ENV = {
    "GITHUB_REPOSITORY": "octo/demo",
    "GITHUB_REPOSITORY_ID": "42",
    "GITHUB_SERVER_URL": "https://ghes.example.test/",
    "GITHUB_API_URL": "https://ghes.example.test/api/v3/",
    "GITHUB_RUN_ID": "8123",
    "GITHUB_RUN_ATTEMPT": "2",
    "GITHUB_SHA": "f" * 40,
    "GITHUB_ACTOR": "octocat",
}
REPO = {"default_branch": "main"}
HEAD, BASE = "a" * 40, "b" * 40


def pull(full_name: str | None = "octo/demo", **more: Any) -> dict[str, Any]:
    head = {"sha": HEAD, "ref": "topic", "repo": full_name and {"full_name": full_name}}
    base = {"sha": BASE, "ref": "main"}
    return {
        "repository": REPO,
        "pull_request": {"number": 7, "head": head, "base": base, "draft": False, **more},
    }


def made(name: str, event: dict[str, Any] | None, **env: str) -> Job:
    return job({**ENV, "GITHUB_EVENT_NAME": name, **env}, event)


def test_a_laptop() -> None:
    found = job({}, None)
    assert (found.mode, found.event, found.notes, found.api_url) == ("laptop", "laptop", (), "")
    assert found.may_save_baseline
    assert found.sample_key is None


def test_a_pull_request_takes_the_head_not_the_test_merge() -> None:
    found = made("pull_request", pull())
    assert (found.mode, found.head_sha, found.base_sha) == ("pull_request", HEAD, BASE)
    assert (found.protect_ref, found.base_ref, found.pull_request) == (BASE, "main", 7)
    assert (found.is_fork, found.can_write, found.may_save_baseline) == (False, True, False)
    assert found.sample_key == "pull_request"
    assert (found.run_id, found.run_attempt, found.repository_id) == ("8123", "2", 42)
    assert found.run_url == "https://ghes.example.test/octo/demo/actions/runs/8123"
    assert found.api_url == "https://ghes.example.test/api/v3"


@pytest.mark.parametrize("name", ["mallory/demo", None])
def test_a_fork_only_reads(name: str | None) -> None:
    found = made("pull_request", pull(name, draft=True))
    assert (found.is_fork, found.can_write, found.head_repo, found.draft) == (
        True,
        False,
        name,
        True,
    )


def test_dependabot_only_reads() -> None:
    assert not made("pull_request", pull(), GITHUB_ACTOR="dependabot[bot]").can_write


def test_pull_request_target_may_write_but_not_save() -> None:
    found = made("pull_request_target", pull("mallory/demo"))
    assert (found.can_write, found.may_save_baseline, found.sample_key) == (
        True,
        False,
        "pull_request",
    )


def test_a_merge_group() -> None:
    group = {
        "head_sha": HEAD,
        "head_ref": "refs/heads/gh-readonly-queue/main/pr-7",
        "base_sha": BASE,
        "base_ref": "refs/heads/main",
    }
    found = made("merge_group", {"repository": REPO, "merge_group": group}, GITHUB_BASE_REF="")
    assert (found.mode, found.head_sha, found.base_sha, found.protect_ref) == (
        "pull_request",
        HEAD,
        BASE,
        BASE,
    )
    assert (found.base_ref, found.pull_request, found.may_save_baseline) == ("main", None, False)


@pytest.mark.parametrize(
    ("ref", "before", "base", "protect"),
    [
        ("refs/heads/main", BASE, BASE, None),
        ("refs/heads/main", "0" * 40, None, None),
        ("refs/heads/topic", BASE, BASE, "main"),
    ],
)
def test_a_push(ref: str, before: str, base: str | None, protect: str | None) -> None:
    found = made("push", {"repository": REPO, "ref": ref, "before": before})
    assert (found.mode, found.base_sha, found.protect_ref) == ("branch", base, protect)
    assert (found.head_sha, found.may_save_baseline, found.sample_key) == ("f" * 40, True, "push")


@pytest.mark.parametrize(
    ("name", "event", "env"),
    [
        ("push", {"ref": "refs/tags/v1"}, {}),
        ("release", {"release": {"tag_name": "v1"}}, {}),
        ("workflow_dispatch", {}, {"GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v1"}),
    ],
)
def test_releases(name: str, event: dict[str, Any], env: dict[str, str]) -> None:
    found = made(name, {"repository": REPO, **event}, **env)
    assert (found.mode, found.head_ref, found.sample_key) == ("release", "v1", "release")
    assert (found.protect_ref, found.may_save_baseline, found.base_ref) == (None, False, "main")


@pytest.mark.parametrize(
    ("name", "mode"), [("schedule", "schedule"), ("workflow_dispatch", "branch")]
)
def test_schedule_and_dispatch(name: str, mode: str) -> None:
    found = made(name, {"repository": REPO}, GITHUB_REF_NAME="main", GITHUB_REF_TYPE="branch")
    assert (found.mode, found.sample_key, found.protect_ref) == (mode, name, None)
    assert found.may_save_baseline


@pytest.mark.parametrize(
    ("first", "repository", "mode", "may_save"),
    [
        ("push", "octo/demo", "branch", True),
        ("push", "mallory/demo", "pull_request", False),
        ("pull_request", "octo/demo", "pull_request", False),
        ("pull_request", "mallory/demo", "pull_request", False),
    ],
)
def test_a_second_workflow(first: str, repository: str, mode: str, *, may_save: bool) -> None:
    run = {
        "event": first,
        "head_sha": HEAD,
        "head_branch": "main",
        "head_repository": {"full_name": repository},
        "pull_requests": [],
    }
    found = made("workflow_run", {"repository": REPO, "workflow_run": run})
    assert (found.mode, found.head_sha, found.may_save_baseline) == (mode, HEAD, may_save)
    assert found.is_fork == (repository != "octo/demo")
    assert found.head_repo == repository


def test_a_comment_runs_nothing_and_says_so() -> None:
    found = made("issue_comment", {"issue": {"number": 7, "pull_request": {"url": "x"}}})
    assert "not in this version" in found.unsupported
    assert found.pull_request == 7
    assert not found.may_save_baseline


def test_an_unknown_event_is_a_branch_with_a_note() -> None:
    found = made("deployment", {"repository": REPO})
    assert (found.mode, found.may_save_baseline) == ("branch", False)
    assert "deployment" in found.notes[0]


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"pull_request": None},
        {"pull_request": []},
        {"pull_request": {"head": "x", "number": "7", "draft": "yes", "base": {"sha": 5}}},
        {"repository": [], "pull_request": {"head": {"repo": {"full_name": {}}}, "number": True}},
    ],
)
def test_a_payload_of_another_shape_breaks_nothing(event: dict[str, Any]) -> None:
    names = [
        "pull_request",
        "push",
        "merge_group",
        "release",
        "schedule",
        "workflow_run",
        "issue_comment",
        "x",
    ]
    for name in names:
        found = made(name, event)
        assert found.head_sha in (None, "f" * 40)
        assert found.pull_request is None
        assert not found.draft


def test_a_payload_that_cannot_be_read_is_laptop_mode_with_a_note(tmp_path: Path) -> None:
    env = {**ENV, "GITHUB_EVENT_NAME": "pull_request"}
    for content in (None, b"", b"[1]", b"{", b"\xff", b"[" * 100_000):
        path = tmp_path / "event.json"
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)
        found = current_job({**env, "GITHUB_EVENT_PATH": str(path)})
        assert (found.mode, found.event, len(found.notes)) == ("laptop", "laptop", 1)
        assert "cannot be read" in found.notes[0]
        assert found.repository == "octo/demo"
    path.write_text(json.dumps(pull()))
    assert current_job({**env, "GITHUB_EVENT_PATH": str(path)}).pull_request == 7
    assert read_event({}) is None


def test_the_input_wins_over_the_variable() -> None:
    assert token({"INPUT_GITHUB-TOKEN": "a", "GITHUB_TOKEN": "b"}) == "a"
    assert token({"INPUT_GITHUB-TOKEN": "", "GITHUB_TOKEN": "b"}) == "b"
    assert token({}) == ""
