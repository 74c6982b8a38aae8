"""The table of docs/events.md, a test a row: which event means which job.

The payloads are GitHub's own examples, checked against its schemas (tests/support/events.py).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gate.errors import UsageError
from gate.github.context import Job, current_job, job, token
from gate.github.payload import read_event
from gate.records import Config, PluginSpec, ReportOptions
from gate.run.rules_for_event import shows_answers
from tests.support.events import payload, schedule
from tests.support.paths import ROOT

SHA = "f" * 40
ZEROS = "0" * 40
HEAD = "ec26c3e57ca3a959ca5aad62de7213c562f8c821"  # of the examples
BASE = "f95f852bd8fca8fcc58a9a2d6c842781e32a215e"
ENV = {
    "GITHUB_REPOSITORY_ID": "42",
    "GITHUB_SERVER_URL": "https://ghes.example.test/",
    "GITHUB_API_URL": "https://ghes.example.test/api/v3/",
    "GITHUB_RUN_ID": "8123",
    "GITHUB_RUN_ATTEMPT": "2",
    "GITHUB_SHA": SHA,
    "GITHUB_ACTOR": "octocat",
    "GITHUB_REF_NAME": "master",
    "GITHUB_REF_TYPE": "branch",
}
COMMENT = {"pull_request": dict.fromkeys(("url", "html_url", "diff_url", "patch_url"), "https://x")}


def made(name: str, event: dict[str, Any], **env: str) -> Job:
    repository = event.get("repository", {}).get("full_name", "octo/demo")
    return job({**ENV, "GITHUB_REPOSITORY": repository, "GITHUB_EVENT_NAME": name, **env}, event)


def test_a_laptop() -> None:
    found = job({}, None)
    assert (found.mode, found.event, found.notes, found.api_url) == ("laptop", "laptop", (), "")
    assert found.may_save_baseline
    assert found.sample_key is None
    assert not found.untrusted_head


# ----------------------------------------------------------------------------------- pull requests


def test_a_pull_request_takes_the_head_not_the_test_merge() -> None:
    found = made("pull_request", payload("pull_request"))
    assert (found.mode, found.head_sha, found.base_sha) == ("pull_request", HEAD, BASE)
    assert (found.protect_ref, found.base_ref, found.pull_request) == (BASE, "master", 2)
    assert (found.is_fork, found.can_write, found.may_save_baseline) == (False, True, False)
    assert (found.sample_key, found.untrusted_head) == ("pull_request", False)
    assert (found.run_id, found.run_attempt, found.repository_id) == ("8123", "2", 42)
    assert found.run_url == "https://ghes.example.test/Codertocat/Hello-World/actions/runs/8123"
    assert found.api_url == "https://ghes.example.test/api/v3"
    assert (found.unsupported, found.hints, found.notes) == ("", (), ())


def fork(name: str | None) -> dict[str, Any]:
    """Of a fork, or of one that was deleted since."""
    event = payload("pull_request")
    repository = name and {**event["pull_request"]["head"]["repo"], "full_name": name, "fork": True}
    return payload("pull_request", pull_request__head__repo=repository)


@pytest.mark.parametrize("name", ["mallory/Hello-World", None])
def test_a_fork_only_reads_and_has_no_secrets(name: str | None) -> None:
    found = made("pull_request", fork(name))
    assert (found.is_fork, found.can_write, found.head_repo) == (True, False, name)
    assert (found.head_sha, found.protect_ref, found.untrusted_head) == (HEAD, BASE, False)
    assert "no secrets" in found.hints[0]


@pytest.mark.parametrize("name", ["pull_request", "push"])
def test_dependabot_only_reads_and_has_other_secrets(name: str) -> None:
    found = made(name, payload(name), GITHUB_ACTOR="dependabot[bot]")
    assert not found.can_write
    assert "Dependabot secrets" in found.hints[0]
    target = made("pull_request_target", payload("pull_request"), GITHUB_ACTOR="dependabot[bot]")
    assert target.can_write
    assert target.hints == ()


def test_a_draft_is_judged_and_a_label_makes_no_difference() -> None:
    draft = made("pull_request", payload("pull_request", pull_request__draft=True))
    assert draft.unsupported == ""
    label = payload("pull_request")["pull_request"]["labels"][0]
    changes = {"action": "labeled", "label": label, "before": ..., "after": ...}
    labelled = made("pull_request", payload("pull_request", **changes))
    assert labelled == made("pull_request", payload("pull_request"))


def test_a_closed_pull_request_is_not_judged() -> None:
    now = "2026-11-20T12:00:00Z"
    closed = {"pull_request__state": "closed", "pull_request__closed_at": now}
    event = payload("pull_request", action="closed", before=..., after=..., **closed)
    found = made("pull_request", event)
    assert found.unsupported == "the pull request is closed: there is nothing to judge"


@pytest.mark.parametrize("name", ["mallory/Hello-World", "Codertocat/Hello-World"])
def test_pull_request_target_has_the_bases_secrets_beside_anybodys_head(name: str) -> None:
    found = made("pull_request_target", fork(name))
    assert (found.head_sha, found.protect_ref, found.pull_request) == (HEAD, BASE, 2)
    assert (found.untrusted_head, found.can_write, found.may_save_baseline) == (True, True, False)
    assert found.sample_key == "pull_request"


def test_a_review_is_of_its_pull_request() -> None:
    found = made("pull_request_review", payload("pull_request"))
    assert (found.mode, found.pull_request, found.head_sha) == ("pull_request", 2, HEAD)


def test_a_merge_group() -> None:
    event = payload("merge_group")
    found = made("merge_group", event, GITHUB_BASE_REF="")
    group = event["merge_group"]
    assert (found.mode, found.head_sha) == ("pull_request", group["head_sha"])
    assert (found.base_sha, found.protect_ref) == (group["base_sha"], group["base_sha"])
    assert (found.base_ref, found.pull_request, found.may_save_baseline) == ("main", None, False)
    assert found.head_ref == group["head_ref"].removeprefix("refs/heads/")
    assert (found.sample_key, found.can_write) == ("merge_group", True)


# -------------------------------------------------------------------------------- pushes, releases


@pytest.mark.parametrize(
    ("ref", "before", "base", "protect"),
    [
        ("refs/heads/master", BASE, BASE, None),
        ("refs/heads/master", ZEROS, None, None),
        ("refs/heads/topic", BASE, BASE, "master"),
        ("refs/heads/topic", ZEROS, None, "master"),
        ("refs/heads/feature/v1", BASE, BASE, "master"),
    ],
)
@pytest.mark.parametrize("forced", [False, True])
def test_a_push_is_compared_with_what_was_there_before(
    ref: str, before: str, base: str | None, protect: str | None, *, forced: bool
) -> None:
    event = payload("push", ref=ref, before=before, created=before == ZEROS, forced=forced)
    found = made("push", event)
    assert (found.mode, found.base_sha, found.protect_ref) == ("branch", base, protect)
    assert (found.head_sha, found.may_save_baseline, found.sample_key) == (SHA, True, "push")
    assert (found.base_ref, found.head_ref) == ("master", ref.removeprefix("refs/heads/"))
    assert (found.unsupported, found.pull_request) == ("", None)


@pytest.mark.parametrize("ref", ["refs/heads/topic", "refs/tags/v1.2.3"])
def test_what_was_deleted_is_not_judged(ref: str) -> None:
    event = payload("push", ref=ref, before=BASE, after=ZEROS, deleted=True, created=False)
    found = made("push", {**event, "head_commit": None})
    assert found.unsupported == f"{ref} was deleted: there is nothing to judge"
    assert not found.may_save_baseline


def releases() -> list[tuple[str, dict[str, Any], dict[str, str]]]:
    tag = {"GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v1.2.3"}
    return [
        ("push", payload("push", ref="refs/tags/v1.2.3", before=ZEROS, created=True), tag),
        ("release", payload("release", release__tag_name="v1.2.3"), tag),
        ("workflow_dispatch", payload("workflow_dispatch", ref="refs/tags/v1.2.3"), tag),
    ]


@pytest.mark.parametrize(("name", "event", "env"), releases())
def test_a_release_is_judged_by_its_own_rules_against_the_one_before(
    name: str, event: dict[str, Any], env: dict[str, str]
) -> None:
    found = made(name, event, **env)
    assert (found.mode, found.head_ref, found.head_sha) == ("release", "v1.2.3", SHA)
    assert (found.protect_ref, found.base_sha, found.previous_release) == (None, None, True)
    assert (found.sample_key, found.may_save_baseline) == ("release", False)
    assert (found.base_ref, found.unsupported) == ("master", "")


def test_a_release_says_when_it_was_and_whether_it_is_a_prerelease() -> None:
    found = made("release", payload("release"))
    assert (found.head_ref, found.released_at) == ("0.0.1", "2019-05-15T15:20:53Z")
    assert not found.prerelease
    assert made("release", payload("release", release__prerelease=True)).prerelease


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"action": "created", "release__draft": True, "release__published_at": None}, "draft"),
        ({"action": "deleted"}, "withdrawn"),
        ({"action": "unpublished", "release__published_at": None}, "withdrawn"),
    ],
)
def test_a_release_that_is_not_there_is_not_judged(changes: dict[str, Any], why: str) -> None:
    assert why in made("release", payload("release", **changes)).unsupported


# ------------------------------------------------------------------------------------ other events


@pytest.mark.parametrize(
    ("first", "repository", "mode", "trusted"),
    [
        ("push", "octo-org/octo-repo", "branch", True),
        ("push", "mallory/octo-repo", "pull_request", False),
        ("pull_request", "octo-org/octo-repo", "pull_request", False),
        ("pull_request", "mallory/octo-repo", "pull_request", False),
        ("pull_request_target", "octo-org/octo-repo", "pull_request", False),
    ],
)
def test_a_second_workflow(first: str, repository: str, mode: str, *, trusted: bool) -> None:
    head = payload("workflow_run")["workflow_run"]["head_repository"]
    event = payload(
        "workflow_run",
        workflow_run__event=first,
        workflow_run__head_repository={**head, "full_name": repository},
        workflow_run__head_branch="topic",
        workflow_run__pull_requests=[],
    )
    found = made("workflow_run", event)
    assert (found.mode, found.head_sha) == (mode, event["workflow_run"]["head_sha"])
    assert (found.untrusted_head, found.may_save_baseline) == (not trusted, trusted)
    assert (found.head_ref, found.head_repo) == ("topic", repository)
    assert found.is_fork == (repository != "octo-org/octo-repo")
    assert found.protect_ref == ("master" if trusted else SHA), "a name could be the checkout's own"
    assert found.sample_key == ("workflow_run" if trusted else "pull_request")
    assert (found.pull_request, found.can_write) == (None, True)


def test_a_second_workflow_of_the_default_branch_is_judged_by_its_own_rules() -> None:
    event = payload("workflow_run", workflow_run__event="push", workflow_run__head_branch="master")
    assert made("workflow_run", event).protect_ref is None


@pytest.mark.parametrize(
    ("changes", "pull"),
    [
        ({"comment__body": "/gate accept shorter answers"}, 1),
        ({"comment__body": "nice"}, 1),
        ({"action": "edited", "changes": {"body": {"from": "x"}}}, 1),
        ({"issue": None}, None),
    ],
)
def test_a_comment_measures_nothing(changes: dict[str, Any], pull: int | None) -> None:
    issue = payload("issue_comment")["issue"]
    changes = {"issue": {**issue, **COMMENT}, **changes}
    found = made(
        "issue_comment", payload("issue_comment", **{**changes, "issue": changes["issue"] or issue})
    )
    assert "does not start a measurement" in found.unsupported
    assert (found.pull_request, found.may_save_baseline) == (pull, False)


def test_a_schedule_measures_the_default_branch() -> None:
    found = made("schedule", schedule(payload("push")["repository"]))
    assert (found.mode, found.sample_key, found.protect_ref) == ("schedule", "schedule", None)
    assert (found.base_sha, found.may_save_baseline, found.head_sha) == (None, True, SHA)


@pytest.mark.parametrize(("branch", "protect"), [("master", None), ("topic", "master")])
def test_a_dispatch_judges_the_branch_it_was_started_on(branch: str, protect: str | None) -> None:
    event = payload("workflow_dispatch", ref=f"refs/heads/{branch}")
    found = made("workflow_dispatch", event, GITHUB_REF_NAME=branch)
    assert (found.mode, found.protect_ref, found.head_ref) == ("branch", protect, branch)
    assert (found.may_save_baseline, found.sample_key) == (True, "workflow_dispatch")


def test_an_event_without_a_rule_is_a_branch_with_a_note() -> None:
    found = made("repository_dispatch", payload("repository_dispatch"))
    assert (found.mode, found.may_save_baseline, found.protect_ref) == ("branch", False, None)
    assert "repository_dispatch" in found.notes[0]


# ------------------------------------------------------------------------------ payloads, the table


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"pull_request": None},
        {"pull_request": []},
        {"pull_request": {"head": "x", "number": "7", "draft": "yes", "base": {"sha": 5}}},
        {"repository": {}, "pull_request": {"head": {"repo": {"full_name": {}}}, "number": True}},
        {"deleted": "true", "release": {"draft": 1, "tag_name": []}, "workflow_run": 3},
    ],
)
def test_a_payload_of_another_shape_breaks_nothing(event: dict[str, Any]) -> None:
    names = ["pull_request", "push", "merge_group", "release", "schedule", "workflow_run"]
    for name in (*names, "issue_comment", "pull_request_target", "x"):
        found = made(name, event)
        assert found.head_sha in (None, SHA)
        assert found.pull_request is None


def test_a_payload_that_cannot_be_read_is_laptop_mode_with_a_note_and_no_job(
    tmp_path: Path,
) -> None:
    env = {**ENV, "GITHUB_EVENT_NAME": "pull_request", "GITHUB_REPOSITORY": "octo/demo"}
    for content in (None, b"", b"[1]", b"{", b"\xff", b"[" * 100_000):
        path = tmp_path / "event.json"
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)
        found = current_job({**env, "GITHUB_EVENT_PATH": str(path)})
        assert (found.mode, found.event, len(found.notes)) == ("laptop", "laptop", 1)
        assert "cannot be read" in found.notes[0]
        assert found.repository == "octo/demo"
        with pytest.raises(UsageError, match="payload of event 'pull_request' cannot be read"):
            current_job({**env, "GITHUB_EVENT_PATH": str(path), "GITHUB_ACTIONS": "true"})
    path.write_text(json.dumps(payload("pull_request")))
    assert current_job({**env, "GITHUB_EVENT_PATH": str(path)}).pull_request == 2
    assert read_event({}) is None


def test_the_input_wins_over_the_variable() -> None:
    assert token({"INPUT_GITHUB-TOKEN": "a", "GITHUB_TOKEN": "b"}) == "a"
    assert token({"INPUT_GITHUB-TOKEN": "", "GITHUB_TOKEN": "b"}) == "b"
    assert token({}) == ""


def test_the_table_of_the_documentation_has_every_event_with_a_rule() -> None:
    told = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")
    source = (ROOT / "gate" / "github" / "context.py").read_text(encoding="utf-8")
    ruled = re.findall(r'^    "(\w+)": _\w+,$', source, re.MULTILINE)
    assert len(ruled) == 10
    assert not [name for name in ruled if f"`{name}`" not in told]


@pytest.mark.parametrize(
    ("ci", "other"), [("true", True), ("1", True), ("", False), ("false", False)]
)
def test_another_ci_is_no_laptop(ci: str, other: bool) -> None:
    assert job({"CI": ci}, None).other_ci is other
    assert job({"CI": ci, "GITHUB_EVENT_NAME": "push"}, None).other_ci is other


@pytest.mark.parametrize(
    ("private", "of_fork", "shown"),
    [(False, True, True), (True, True, False), (None, True, False), (True, False, True)],
)
def test_a_fork_of_what_is_not_public_is_shown_no_expectations(
    private: bool | None, of_fork: bool, shown: bool
) -> None:
    event = fork("mallory/Hello-World") if of_fork else payload("pull_request")
    event["repository"] = {**event["repository"], "private": private}
    found = made("pull_request", event)
    assert found.is_fork is of_fork
    for answers in (True, False):
        config = Config(
            agent=PluginSpec(name="sample"), suites=(), report=ReportOptions(answers=answers)
        )
        assert shows_answers(config, found) is (shown and answers)
