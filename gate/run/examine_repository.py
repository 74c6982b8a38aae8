"""What `gate doctor` finds in the repository: branch, files that start the gate, token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from gate.errors import GateError
from gate.files.plain import plain
from gate.files.yaml import parse
from gate.github.api import Api
from gate.github.context import is_ci, token
from gate.github.git import GitForge, open_repository
from gate.records import Json
from gate.run.finding import Finding

_WORKFLOWS = ".github/workflows"
_GITHUB = "https://api.github.com"
ACTION = "agent-gate/agent-gate"
_OURS = (ACTION, "gate run", "gate action")
# What the job of a pull request must be allowed, and why.
_PERMISSIONS = {"contents": "read", "pull-requests": "write", "actions": "read"}


def examine_repository(folder: Path) -> Iterator[Finding]:
    opened = open_repository(folder)
    if not isinstance(opened, GitForge):
        todo = "run `git init`, if pull requests are to be gated"
        yield Finding(name="git", text="this is no git repository", advice=todo, warns=True)
        return
    head = opened.head()
    text = f"default branch {opened.default_branch()}, at {head[:7] if head else 'no commit'}"
    yield Finding(name="git", text=text)
    yield from _workflows(opened.top)


def _workflows(top: Path) -> Iterator[Finding]:
    """The files that start the gate, and what their jobs may do."""
    found = []
    for path in sorted((top / _WORKFLOWS).glob("*.y*ml")):
        try:
            content = plain(path).read_bytes()
            data = parse(content, path.name).data
        except (GateError, OSError) as error:
            yield _unreadable(path.name, error)
            continue
        if any(word.encode() in content for word in _OURS) and isinstance(data, dict):
            found.append((path.name, data))
    if not found:
        todo = "`gate init` writes three"
        text = f"no file in {_WORKFLOWS} starts the gate"
        yield Finding(name="workflows", text=text, advice=todo, warns=True)
        return
    yield Finding(name="workflows", text=", ".join(name for name, _ in found))
    events = {event for _, data in found for event in _events(data.get("on"))}
    if not events & {"pull_request", "pull_request_target", "workflow_run"}:
        todo = "`gate init` shows one that does"
        yield Finding(name="workflows", text="none runs on pull requests", advice=todo, warns=True)
    if not events & {"push", "schedule"}:
        todo = "without one nobody measures the baseline; `gate init` shows it"
        text = "none runs on pushes to the base branch, or on a schedule"
        yield Finding(name="workflows", text=text, advice=todo, warns=True)
    for name, data in found:
        if "pull_request" in _events(data.get("on")):
            yield from _permissions(name, data)


def _unreadable(name: str, error: Exception) -> Finding:
    why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    todo = "mend the file: GitHub does not start it as it is"
    return Finding(name="workflows", text=f"{name} cannot be read: {why}", advice=todo, warns=True)


def _events(on: Json) -> set[str]:
    named = [on] if isinstance(on, str) else on
    return set(map(str, named)) if isinstance(named, (list, dict)) else set()


def _permissions(name: str, workflow: Mapping[str, Json]) -> Iterator[Finding]:
    """A job that lists its permissions has only these."""
    jobs = workflow.get("jobs")
    for job, content in jobs.items() if isinstance(jobs, dict) else ():
        if not isinstance(content, dict) or not _uses_action(content.get("steps")):
            continue
        given = content.get("permissions", workflow.get("permissions"))
        if not isinstance(given, dict):
            continue
        order = ("none", "read", "write")
        lacking = [
            f"{what}: {least}"
            for what, least in _PERMISSIONS.items()
            if order.index(least) > order.index(_level(given.get(what)))
        ]
        if lacking:
            todo = f"add `permissions: {{{', '.join(lacking)}}}` to the job"
            text = f"{name}: the job {job} may not do all that the gate does on a pull request"
            yield Finding(name="workflows", text=text, advice=todo, warns=True)


def _uses_action(steps: Json) -> bool:
    listed = steps if isinstance(steps, list) else []
    named = [step.get("uses") for step in listed if isinstance(step, dict)]
    return any(isinstance(name, str) and ACTION in name for name in named)


def _level(given: Json) -> str:
    return str(given) if given in ("read", "write") else "none"


def examine_token(env: Mapping[str, str]) -> Iterator[Finding]:
    """A token is needed in CI alone: for the comment, and for a baseline that is an artifact."""
    given = token(env)
    if given and env.get("GITHUB_REPOSITORY"):
        yield _ask_github(env, given)
    elif given:
        text = "there is one, not tried: GITHUB_REPOSITORY does not say for which repository it is"
        yield Finding(name="token", text=text)
    elif is_ci(env):
        todo = "give the step `env: GITHUB_TOKEN: ${{ github.token }}`"
        yield Finding(name="token", text="there is none", advice=todo)
    else:
        yield Finding(name="token", text="there is none; on a laptop none is needed")


def _ask_github(env: Mapping[str, str], given: str) -> Finding:
    """What GitHub says that the token may do in the repository."""
    todo = "check the token, and the `permissions` of the job"
    api = Api(env.get("GITHUB_API_URL") or _GITHUB, given, env["GITHUB_REPOSITORY"])
    try:
        found = api.get(f"/repos/{api.repository}")
    except GateError as error:
        text = f"there is one, but nobody knows what it may do: {error}"
        return Finding(name="token", text=text, advice=todo, warns=True)
    finally:
        api.close()
    told = found.get("permissions") if isinstance(found, dict) else None
    if not isinstance(told, dict):
        text = f"it reads {api.repository}; GitHub does not say what else it may do"
        return Finding(name="token", text=text)
    allowed = ", ".join(name for name, given in told.items() if given is True) or "nothing"
    return Finding(name="token", text=f"in {api.repository} it may: {allowed}")
