"""What a GitHub event means for a run: which commit, which base, which rules, what may be written.

docs/events.md is this module as a table. `job` is a pure function of the environment and the
event's payload.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from gate.errors import UsageError
from gate.github.payload import Event, branch_of, has, is_false, is_true, number, read_event, text
from gate.records import Mode

ZERO_SHA = "0" * 40
DEPENDABOT = "dependabot[bot]"
NO_TOKEN = "there is no token; set `github-token: ${{ github.token }}`"  # noqa: S105 - a message
_OTHER_CI = "CI without a GitHub event: judged by the rules of the base branch"
NO_SECRETS = (
    "GitHub gives a run from a fork no secrets and a read-only token; use two workflows "
    "and recorded answers (docs/github.md, Pull requests from forks)"
)
DEPENDABOTS_SECRETS = (
    "GitHub gives a run that Dependabot started the repository's Dependabot secrets, not "
    "its Actions secrets, and a read-only token; store the agent's key as a Dependabot "
    "secret too"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What this run is about. Shas are of commits; None is unknown or does not apply."""

    event: str = "laptop"
    mode: Mode = "laptop"
    head_sha: str | None = None
    head_ref: str | None = None  # branch or tag name, without refs/
    base_sha: str | None = None  # the commit to compare with
    base_name: str | None = None  # the tag of base_sha, at a release
    no_base: str = ""  # why there is nothing to compare a release with
    base_ref: str | None = None  # the branch that the change goes to
    default_branch: str | None = None
    pull_request: int | None = None
    head_repo: str | None = None  # owner/name; None when a fork was deleted
    is_fork: bool = False
    can_write: bool = False  # a guess: only the API knows
    sample_key: str | None = None  # the key of suites[].sample; None: all cases
    protect_ref: str | None = None  # whose rules judge; None: the own ones
    untrusted_head: bool = False  # the base's secrets beside a head that may be anybody's
    previous_release: bool = False  # compared with that, which only the API knows
    prerelease: bool = False
    released_at: str | None = None  # when a release was published
    may_save_baseline: bool = True
    run_id: str | None = None
    run_attempt: str | None = None
    run_url: str | None = None
    repository: str | None = None
    repository_id: int | None = None
    is_public: bool = False  # the repository, as the event says; False: private, or unknown
    actor: str | None = None
    api_url: str = ""
    server_url: str = ""
    reason: str = "no GitHub event: judged as a local run"
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()  # for the log, and beside an error
    other_ci: bool = False  # no laptop, and no event of GitHub's
    unsupported: str = ""  # why this event runs nothing; empty: it runs


def token(env: Mapping[str, str]) -> str:
    """The token that a workflow gave: as an input of the action, or as GITHUB_TOKEN."""
    return env.get("INPUT_GITHUB-TOKEN") or env.get("GITHUB_TOKEN") or env.get("GH_TOKEN") or ""


def is_ci(env: Mapping[str, str]) -> bool:
    """Whether this is a job of some CI, by the variable that all of them set."""
    return env.get("CI", "").lower() not in ("", "0", "false")


def current_job(env: Mapping[str, str]) -> Job:
    """The job that this process is part of. Raises UsageError: without its payload nobody knows
    whose rules judge, nor whether secrets are beside a stranger's head.
    """
    event, name = read_event(env), env.get("GITHUB_EVENT_NAME", "")
    if event is None and name and env.get("GITHUB_ACTIONS") == "true":
        raise UsageError(
            f"GITHUB_EVENT_PATH: the payload of event '{name}' cannot be read there, and "
            "it decides whose rules apply; run the step where the runner's files can be "
            "read"
        )
    return job(env, event)


def job(env: Mapping[str, str], event: Event | None) -> Job:
    """What `event` (the payload of env's GITHUB_EVENT_NAME) asks for; never raises."""
    name, ci = env.get("GITHUB_EVENT_NAME", ""), is_ci(env)
    if not name:
        return Job(other_ci=True, reason=_OTHER_CI) if ci else Job()
    if event is None:
        note = f"the payload of event '{name}' (GITHUB_EVENT_PATH) cannot be read: laptop mode"
        return replace(_where(env), other_ci=ci, notes=(note,), reason=note)
    # What Dependabot starts only reads, but for pull_request_target, which is of the base.
    bot = env.get("GITHUB_ACTOR") == DEPENDABOT and name != "pull_request_target"
    start = replace(
        _where(env),
        event=name,
        default_branch=text(event, "repository.default_branch"),
        is_public=is_false(event, "repository.private"),
        can_write=not bot,
        hints=(DEPENDABOTS_SECRETS,) if bot else (),
    )
    return _EVENTS.get(name, _other)(start, env, event)


def _where(env: Mapping[str, str]) -> Job:
    server, repository = env.get("GITHUB_SERVER_URL", "").rstrip("/"), env.get("GITHUB_REPOSITORY")
    run_id, identifier = env.get("GITHUB_RUN_ID"), env.get("GITHUB_REPOSITORY_ID", "")
    is_complete = server and repository and run_id
    return Job(
        run_id=run_id,
        run_attempt=env.get("GITHUB_RUN_ATTEMPT"),
        run_url=f"{server}/{repository}/actions/runs/{run_id}" if is_complete else None,
        repository=repository,
        repository_id=int(identifier) if identifier.isdecimal() else None,
        actor=env.get("GITHUB_ACTOR"),
        api_url=env.get("GITHUB_API_URL", "").rstrip("/"),
        server_url=server,
    )


def _pull_request(start: Job, env: Mapping[str, str], event: Event) -> Job:
    # GITHUB_SHA is the test-merge commit here, so the head comes from the payload.
    head, base = text(event, "pull_request.head.sha"), text(event, "pull_request.base.sha")
    head_repo = text(event, "pull_request.head.repo.full_name")
    fork = head_repo is None or head_repo != start.repository
    pull = number(event, "pull_request.number")
    of_base = start.event == "pull_request_target"  # runs with the base's secrets and token
    closed = text(event, "action") == "closed"
    return replace(
        start,
        mode="pull_request",
        head_sha=head,
        head_ref=text(event, "pull_request.head.ref"),
        base_sha=base,
        base_ref=text(event, "pull_request.base.ref") or env.get("GITHUB_BASE_REF") or None,
        pull_request=pull,
        head_repo=head_repo,
        is_fork=fork,
        can_write=start.can_write and (of_base or not fork),
        hints=start.hints or ((NO_SECRETS,) if fork and not of_base else ()),
        sample_key="pull_request",
        protect_ref=base,
        untrusted_head=of_base,
        may_save_baseline=False,
        reason=f"pull request #{pull}, compared with its base",
        unsupported="the pull request is closed: there is nothing to judge" if closed else "",
    )


def _merge_group(start: Job, env: Mapping[str, str], event: Event) -> Job:
    base = text(event, "merge_group.base_sha")
    return replace(
        start,
        mode="pull_request",
        head_sha=text(event, "merge_group.head_sha") or env.get("GITHUB_SHA"),
        head_ref=branch_of(text(event, "merge_group.head_ref")),
        base_sha=base,
        base_ref=branch_of(text(event, "merge_group.base_ref")),
        head_repo=start.repository,
        sample_key="merge_group",
        protect_ref=base,
        may_save_baseline=False,
        reason="merge queue, compared with the group's base",
    )


def _push(start: Job, env: Mapping[str, str], event: Event) -> Job:
    ref = text(event, "ref") or env.get("GITHUB_REF", "")
    gone = ""
    if is_true(event, "deleted"):  # then GITHUB_SHA is the default branch's, which nobody pushed
        gone = f"{ref} was deleted: there is nothing to judge"
    if ref.startswith("refs/tags/"):
        job = _release_job(start, env, ref.removeprefix("refs/tags/"))
        return replace(job, unsupported=gone)
    before = text(event, "before")
    known_before = before if before != ZERO_SHA else None  # zeros: the branch is new
    job = _on_branch(start, env, branch_of(ref))
    return replace(
        job,
        base_sha=known_before,
        may_save_baseline=job.may_save_baseline and not gone,
        unsupported=gone,
    )


def _release(start: Job, env: Mapping[str, str], event: Event) -> Job:
    gone = ""
    if is_true(event, "release.draft"):
        gone = "the release is a draft: it is judged when it is published"
    if text(event, "action") in ("deleted", "unpublished"):
        gone = "the release was withdrawn: there is nothing to judge"
    return replace(
        _release_job(start, env, text(event, "release.tag_name")),
        prerelease=is_true(event, "release.prerelease"),
        released_at=text(event, "release.published_at"),
        unsupported=gone,
    )


def _release_job(start: Job, env: Mapping[str, str], tag: str | None) -> Job:
    return replace(
        start,
        mode="release",
        head_sha=env.get("GITHUB_SHA"),
        head_ref=tag,
        base_ref=start.default_branch,
        head_repo=start.repository,
        sample_key="release",
        previous_release=True,
        may_save_baseline=False,
        reason=f"release {tag or '(no tag name)'}",
    )


def _schedule(start: Job, env: Mapping[str, str], event: Event) -> Job:
    return replace(_on_branch(start, env, env.get("GITHUB_REF_NAME")), mode="schedule")


def _dispatch(start: Job, env: Mapping[str, str], event: Event) -> Job:
    if env.get("GITHUB_REF_TYPE") == "tag":
        return _release_job(start, env, env.get("GITHUB_REF_NAME"))
    return _on_branch(start, env, env.get("GITHUB_REF_NAME"))


def _workflow_run(start: Job, env: Mapping[str, str], event: Event) -> Job:
    """After another workflow, with the default branch's secrets. A pull request is known by its
    head alone: `pull_requests` is empty for forks.
    """
    head_repo = text(event, "workflow_run.head_repository.full_name")
    first = text(event, "workflow_run.event") or ""
    ours = not first.startswith("pull_request") and head_repo == start.repository
    branch = text(event, "workflow_run.head_branch")
    done = replace(
        _on_branch(start, env, branch),
        head_sha=text(event, "workflow_run.head_sha"),
        head_repo=head_repo,
        is_fork=head_repo != start.repository,
        base_ref=start.default_branch,
        reason=f"after the workflow run that '{first or 'an unknown event'}' started",
    )
    if ours:
        return done
    tip = env.get("GITHUB_SHA") or start.default_branch  # a name could be one of the checkout's
    return replace(
        done,
        mode="pull_request",
        base_sha=tip,
        protect_ref=tip,
        untrusted_head=True,
        sample_key="pull_request",
        may_save_baseline=False,
    )


def _issue_comment(start: Job, env: Mapping[str, str], event: Event) -> Job:
    """Nothing is measured: an acceptance runs the pull request's own run again."""
    pull = number(event, "issue.number") if has(event, "issue.pull_request") else None
    why = "a comment does not start a measurement; `/gate accept <reason>` runs the gate again"
    return replace(start, pull_request=pull, may_save_baseline=False, reason=why, unsupported=why)


def _other(start: Job, env: Mapping[str, str], event: Event) -> Job:
    note = f"event '{start.event}' is not handled specially: judged like a push to a branch"
    branch = _on_branch(start, env, env.get("GITHUB_REF_NAME"))
    return replace(branch, may_save_baseline=False, notes=(note,))


def _on_branch(start: Job, env: Mapping[str, str], branch: str | None) -> Job:
    """A run of a branch itself; the default branch is judged by its own rules."""
    is_default = branch is not None and branch == start.default_branch
    return replace(
        start,
        mode="branch",
        head_sha=env.get("GITHUB_SHA"),
        head_ref=branch,
        base_ref=start.default_branch or branch,
        head_repo=start.repository,
        sample_key=start.event,
        protect_ref=None if is_default else start.default_branch,
        reason=f"{start.event} on branch {branch or '(no name)'}",
    )


_Rule = Callable[[Job, Mapping[str, str], Event], Job]
_EVENTS: Mapping[str, _Rule] = {
    "pull_request": _pull_request,
    "pull_request_target": _pull_request,
    "pull_request_review": _pull_request,
    "merge_group": _merge_group,
    "push": _push,
    "release": _release,
    "schedule": _schedule,
    "workflow_dispatch": _dispatch,
    "workflow_run": _workflow_run,
    "issue_comment": _issue_comment,
}
