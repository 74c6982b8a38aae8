"""`gate action`: what the container runs. INPUT_* and GITHUB_* in; comment, summary, outputs out.

Publishing never changes the verdict.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from gate.errors import GateError
from gate.github.api import Api
from gate.github.checks import create_check
from gate.github.comments import Pace, Published, decide, marker, publish
from gate.github.context import Job, current_job, token
from gate.github.forge import connect
from gate.github.inputs import Plan, flag, read_inputs
from gate.github.outputs import (
    error_outputs,
    report_outputs,
    shorten,
    stop_commands,
    write_outputs,
    write_summary,
)
from gate.records import Report
from gate.text import command

FORGIVEN = (1, 3, 4, 5, 6)  # exit codes that `fail: false` turns into 0
NO_TOKEN = "there is no token; set `github-token: ${{ github.token }}`"  # noqa: S105 - a message
FORK = (
    "a fork's or Dependabot's token only reads: publish with `gate comment` in a workflow that "
    "workflow_run starts"
)


class Finished(Protocol):
    """What a run or merge came to."""

    @property
    def report(self) -> Report: ...

    @property
    def session_dir(self) -> Path: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """What the action needs of the other commands and of the terminal, handed in by the caller.

    `execute(argv, settings, env)` runs or merges and prints as `gate run` does; `annotations` gives
    finished workflow commands, a line each.
    """

    execute: Callable[[Sequence[str], Mapping[str, str], Mapping[str, str]], Finished]
    annotations: Callable[[Report], Sequence[str]] = lambda report: ()
    redact: Callable[[str], str] = lambda text: text
    connect: Callable[[Job, str], Api | None] = connect
    echo: Callable[[str], None] = print
    pace: Pace = field(default_factory=Pace)


def run(options: argparse.Namespace, env: Mapping[str, str], hooks: Hooks) -> int:
    """The step's exit code; the outputs are written also when a GateError ends the run."""
    job = current_job(env)
    for note in job.notes:
        hooks.echo(command("notice", note, {"title": "Agent Gate"}))
    if job.unsupported:
        hooks.echo(command("notice", job.unsupported, {"title": "Agent Gate"}))
        return 0
    try:
        wanted = read_inputs(env)
        finished = _execute(wanted, hooks)
    except GateError as error:
        message = hooks.redact(str(error))
        write_outputs(env.get("GITHUB_OUTPUT"), error_outputs(message, error.exit_code))
        hooks.echo(command("error", message, {"title": "Agent Gate"}))
        if error.exit_code in FORGIVEN and flag(env, "fail") is False:
            return 0
        raise
    outputs = _publish(wanted, finished, job, env, hooks)
    write_outputs(env.get("GITHUB_OUTPUT"), outputs)
    code = finished.report.exit_code
    return 0 if code in FORGIVEN and not wanted.fail else code


def _execute(wanted: Plan, hooks: Hooks) -> Finished:
    """Whatever the run prints is text of agents and datasets: the runner must not obey it."""
    before, after = stop_commands()
    hooks.echo(before)
    try:
        return hooks.execute(wanted.argv, wanted.settings, wanted.env)
    finally:
        hooks.echo(after)


def _publish(
    wanted: Plan, finished: Finished, job: Job, env: Mapping[str, str], hooks: Hooks
) -> dict[str, str]:
    report, folder = finished.report, finished.session_dir
    workspace = Path(env.get("GITHUB_WORKSPACE") or Path.cwd())
    outputs = report_outputs(report, folder, workspace)
    if wanted.annotations:
        for line in hooks.annotations(report):
            hooks.echo(line)
    body, whole = (_read(folder / name) for name in ("comment.md", "report.md"))
    if wanted.summary:
        write_summary(env.get("GITHUB_STEP_SUMMARY"), [whole or body, body])
    if wanted.shard:  # a part of the cases decides nothing; the merging job speaks
        return outputs
    api = hooks.connect(job, token(env))
    try:
        comment = _comment(wanted, report, body, job, api, hooks)
        outputs["comment-url"] = comment.url
        _tell("comment", comment, folder, hooks)
        if wanted.check_run:
            check = _check(report, body, wanted.comment_id, job, api)
            outputs["check-run-url"] = check.url
            _tell("check run", check, folder, hooks)
    finally:
        if api is not None:
            api.close()
    return {name: hooks.redact(value) for name, value in outputs.items()}


def _comment(
    wanted: Plan, report: Report, body: str, job: Job, api: Api | None, hooks: Hooks
) -> Published:
    todo = decide(wanted.comment, report)
    if todo == "nothing" or job.pull_request is None:
        reason = "comment: never" if todo == "nothing" else "this event has no pull request"
        return Published(action="skipped", reason=reason)
    if api is None:
        return Published(action="failed", reason=NO_TOKEN)
    text = hooks.redact(body)
    done = publish(
        api,
        job.pull_request,
        marker(wanted.comment_id, job.head_sha, job.run_id, job.run_attempt),
        text,
        shorter=lambda limit: shorten(text, limit),
        create=todo == "write",
        pace=hooks.pace,
    )
    if done.action == "failed" and not job.can_write:
        return Published(action="failed", reason=f"{done.reason}; {FORK}")
    return done


def _check(report: Report, body: str, name: str, job: Job, api: Api | None) -> Published:
    if api is None or job.head_sha is None:
        return Published(action="failed", reason=NO_TOKEN)
    return create_check(
        api, report, head_sha=job.head_sha, name=f"Agent Gate: {name}", summary=body
    )


def _tell(what: str, done: Published, folder: Path, hooks: Hooks) -> None:
    if done.action == "failed":
        message = f"The {what} was not written: {done.reason}. It is in {folder / 'comment.md'}."
        hooks.echo(command("warning", hooks.redact(message), {"title": "Agent Gate"}))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
