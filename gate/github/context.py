"""What a GitHub event means for a run: which commit, which base, which rules, what may be written.

`job` is a pure function of the environment and the event's payload. This module and the command
line are the only ones that read `os.environ`; payload fields are hostile text and are type-checked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gate.records import Json, Mode

ZERO_SHA = "0" * 40
MAX_EVENT_BYTES = 32 * 1024 * 1024  # GitHub caps a payload at 25 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What this run is about. Shas are of commits; None is unknown or does not apply."""

    event: str = "laptop"
    mode: Mode = "laptop"
    head_sha: str | None = None
    head_ref: str | None = None  # branch or tag name, without refs/
    base_sha: str | None = None  # the commit to compare with
    base_ref: str | None = None  # the branch that the change goes to
    default_branch: str | None = None
    pull_request: int | None = None
    head_repo: str | None = None  # owner/name; None when a fork was deleted
    is_fork: bool = False
    can_write: bool = False  # a guess: only the API knows
    draft: bool = False
    sample_key: str | None = None  # the key of suites[].sample; None: all cases
    protect_ref: str | None = None  # whose rules judge; None: the own ones
    may_save_baseline: bool = True
    run_id: str | None = None
    run_attempt: str | None = None
    run_url: str | None = None
    repository: str | None = None
    repository_id: int | None = None
    actor: str | None = None
    api_url: str = ""
    server_url: str = ""
    reason: str = "no GitHub event: judged as on a laptop"
    notes: tuple[str, ...] = ()
    unsupported: str = ""  # why this event runs nothing; empty: it runs


def environment() -> Mapping[str, str]:
    """The process's environment, as a plain mapping to hand down."""
    return dict(os.environ)


def read_event(env: Mapping[str, str]) -> Mapping[str, Json] | None:
    """The payload that GITHUB_EVENT_PATH names; None when it is absent or is no JSON object."""
    name = env.get("GITHUB_EVENT_PATH")
    if not name:
        return None
    try:
        with Path(name).open("rb") as file:
            data = json.loads(file.read(MAX_EVENT_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def token(env: Mapping[str, str]) -> str:
    """The token that a workflow gave: as an input of the action, or as GITHUB_TOKEN."""
    return env.get("INPUT_GITHUB-TOKEN") or env.get("GITHUB_TOKEN") or env.get("GH_TOKEN") or ""


def current_job(env: Mapping[str, str]) -> Job:
    """The job that this process is part of."""
    return job(env, read_event(env))


def job(env: Mapping[str, str], event: Mapping[str, Json] | None) -> Job:
    """What `event` (the payload of env's GITHUB_EVENT_NAME) asks for; never raises."""
    name = env.get("GITHUB_EVENT_NAME", "")
    if not name:
        return Job()
    if event is None:
        note = f"the payload of event '{name}' (GITHUB_EVENT_PATH) cannot be read: laptop mode"
        return replace(_where(env), notes=(note,), reason=note)
    start = replace(
        _where(env),
        event=name,
        default_branch=_text(event, "repository.default_branch"),
        can_write=env.get("GITHUB_ACTOR") != "dependabot[bot]",
    )
    return _EVENTS.get(name, _other)(start, env, event)


def _where(env: Mapping[str, str]) -> Job:
    server, repository = env.get("GITHUB_SERVER_URL", "").rstrip("/"), env.get("GITHUB_REPOSITORY")
    run_id, identifier = env.get("GITHUB_RUN_ID"), env.get("GITHUB_REPOSITORY_ID", "")
    whole = server and repository and run_id
    return Job(
        run_id=run_id,
        run_attempt=env.get("GITHUB_RUN_ATTEMPT"),
        run_url=f"{server}/{repository}/actions/runs/{run_id}" if whole else None,
        repository=repository,
        repository_id=int(identifier) if identifier.isdecimal() else None,
        actor=env.get("GITHUB_ACTOR"),
        api_url=env.get("GITHUB_API_URL", "").rstrip("/"),
        server_url=server,
    )


def _pull_request(start: Job, env: Mapping[str, str], event: Mapping[str, Json]) -> Job:
    # GITHUB_SHA is the test-merge commit here, so the head comes from the payload.
    head, base = _text(event, "pull_request.head.sha"), _text(event, "pull_request.base.sha")
    head_repo = _text(event, "pull_request.head.repo.full_name")
    fork = head_repo is None or head_repo != start.repository
    number = _number(event, "pull_request.number")
    untrusted = start.event == "pull_request" and fork
    return replace(
        start,
        mode="pull_request",
        head_sha=head,
        head_ref=_text(event, "pull_request.head.ref"),
        base_sha=base,
        base_ref=_text(event, "pull_request.base.ref") or env.get("GITHUB_BASE_REF") or None,
        pull_request=number,
        head_repo=head_repo,
        is_fork=fork,
        can_write=start.can_write and not untrusted,
        draft=_at(event, "pull_request.draft") is True,
        sample_key="pull_request",
        protect_ref=base,
        may_save_baseline=False,
        reason=f"pull request #{number}, compared with its base",
    )


def _merge_group(start: Job, env: Mapping[str, str], event: Mapping[str, Json]) -> Job:
    base = _text(event, "merge_group.base_sha")
    return replace(
        start,
        mode="pull_request",
        head_sha=_text(event, "merge_group.head_sha") or env.get("GITHUB_SHA"),
        head_ref=_branch(_text(event, "merge_group.head_ref")),
        base_sha=base,
        base_ref=_branch(_text(event, "merge_group.base_ref")),
        head_repo=start.repository,
        sample_key="merge_group",
        protect_ref=base,
        may_save_baseline=False,
        reason="merge queue, compared with the group's base",
    )


def _push(start: Job, env: Mapping[str, str], event: Mapping[str, Json]) -> Job:
    ref = _text(event, "ref") or env.get("GITHUB_REF", "")
    if ref.startswith("refs/tags/"):
        return _released(start, env, ref.removeprefix("refs/tags/"))
    before = _text(event, "before")
    known = before if before != ZERO_SHA else None  # zeros: the branch is new
    return replace(_on_branch(start, env, _branch(ref)), base_sha=known)


def _release(start: Job, env: Mapping[str, str], event: Mapping[str, Json]) -> Job:
    return _released(start, env, _text(event, "release.tag_name"))


def _released(start: Job, env: Mapping[str, str], tag: str | None) -> Job:
    return replace(
        start,
        mode="release",
        head_sha=env.get("GITHUB_SHA"),
        head_ref=tag,
        base_ref=start.default_branch,
        head_repo=start.repository,
        sample_key="release",
        may_save_baseline=False,
        reason=f"release {tag or '(no tag name)'}",
    )


def _schedule(start: Job, env: Mapping[str, str], event: Mapping[str, Json]) -> Job:
    return replace(_on_branch(start, env, env.get("GITHUB_REF_NAME")), mode="schedule")


def _dispatch(start: Job, env: Mapping[str, str], event: Mapping[str, Json]) -> Job:
    if env.get("GITHUB_REF_TYPE") == "tag":
        return _released(start, env, env.get("GITHUB_REF_NAME"))
    return _on_branch(start, env, env.get("GITHUB_REF_NAME"))


def _workflow_run(start: Job, env: Mapping[str, str], event: Mapping[str, Json]) -> Job:
    """The second workflow of a pull request: pull_requests is empty for forks, so only the head
    counts.
    """
    head_repo = _text(event, "workflow_run.head_repository.full_name")
    first = _text(event, "workflow_run.event") or ""
    ours = not first.startswith("pull_request") and head_repo == start.repository
    branch = _text(event, "workflow_run.head_branch")
    return replace(
        _on_branch(start, env, branch),
        mode="branch" if ours else "pull_request",
        head_sha=_text(event, "workflow_run.head_sha"),
        head_repo=head_repo,
        is_fork=head_repo != start.repository,
        base_ref=start.default_branch,
        protect_ref=None if ours and branch == start.default_branch else start.default_branch,
        may_save_baseline=ours,
        reason=f"after the workflow run that '{first or 'an unknown event'}' started",
    )


def _issue_comment(start: Job, env: Mapping[str, str], event: Mapping[str, Json]) -> Job:
    number = _number(event, "issue.number") if _at(event, "issue.pull_request") else None
    why = (
        "comments on a pull request (/gate accept) are not in this version: nothing was run; "
        "merge it and run `gate baseline accept --reason TEXT` on the base branch"
    )
    return replace(start, pull_request=number, may_save_baseline=False, reason=why, unsupported=why)


def _other(start: Job, env: Mapping[str, str], event: Mapping[str, Json]) -> Job:
    note = f"event '{start.event}' has no rule of its own: judged as a branch"
    branch = _on_branch(start, env, env.get("GITHUB_REF_NAME"))
    return replace(branch, may_save_baseline=False, notes=(note,))


def _on_branch(start: Job, env: Mapping[str, str], branch: str | None) -> Job:
    """A run of a branch itself; the default branch is judged by its own rules."""
    own = branch is not None and branch == start.default_branch
    return replace(
        start,
        mode="branch",
        head_sha=env.get("GITHUB_SHA"),
        head_ref=branch,
        base_ref=start.default_branch or branch,
        head_repo=start.repository,
        sample_key=start.event,
        protect_ref=None if own else start.default_branch,
        reason=f"{start.event} on branch {branch or '(no name)'}",
    )


_Rule = Callable[[Job, Mapping[str, str], Mapping[str, Json]], Job]
_EVENTS: Mapping[str, _Rule] = {
    "pull_request": _pull_request,
    "pull_request_target": _pull_request,
    "merge_group": _merge_group,
    "push": _push,
    "release": _release,
    "schedule": _schedule,
    "workflow_dispatch": _dispatch,
    "workflow_run": _workflow_run,
    "issue_comment": _issue_comment,
}


def _at(event: Mapping[str, Json], path: str) -> Json:
    found: Json = event
    for key in path.split("."):
        if not isinstance(found, Mapping):
            return None
        found = found.get(key)
    return found


def _text(event: Mapping[str, Json], path: str) -> str | None:
    found = _at(event, path)
    return found if isinstance(found, str) and found else None


def _number(event: Mapping[str, Json], path: str) -> int | None:
    found = _at(event, path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _branch(ref: str | None) -> str | None:
    return ref.removeprefix("refs/heads/") if ref else None
