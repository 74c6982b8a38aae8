"""`gate action`: what the container runs. INPUT_* and GITHUB_* in; comment, summary, outputs out.

Publishing never changes the verdict.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from gate.archive import Session, load_session
from gate.errors import GateError
from gate.execute import execute
from gate.github.api import Api
from gate.github.checks import SUMMARY_LIMIT, create_check
from gate.github.comments import LIMITS, Pace, Published, decide, marker, publish
from gate.github.context import Job, current_job, token
from gate.github.forge import connect
from gate.github.inputs import Plan, flag, read_inputs
from gate.github.outputs import (
    error_outputs,
    report_outputs,
    stop_commands,
    write_outputs,
    write_summary,
)
from gate.github.sessions import Stored, restore
from gate.merging import merge
from gate.options import parse
from gate.records import Report
from gate.redact import Redactor
from gate.reporters.annotations import render_annotations
from gate.reporters.comment import render_limited, step_summary
from gate.resuming import OtherSession
from gate.secret_names import secrets_of
from gate.stop import Stop
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

    `execute(argv, settings, env)` runs or merges, and prints as `gate run` does.
    """

    execute: Callable[[Sequence[str], Mapping[str, str], Mapping[str, str]], Finished]
    redact: Callable[[str], str] = lambda text: text
    connect: Callable[[Job, str], Api | None] = connect
    echo: Callable[[str], None] = print
    pace: Pace = field(default_factory=Pace)


def run(options: argparse.Namespace, env: Mapping[str, str], hooks: Hooks | None = None) -> int:
    """The step's exit code; the outputs are written also when a GateError ends the run."""
    if hooks is None:
        execute_here = partial(_run_or_merge, options.stop)
        hooks = Hooks(execute=execute_here, redact=Redactor(secrets_of(env, ())))
    job = current_job(env)
    for note in job.notes:
        hooks.echo(command("notice", note, {"title": "Agent Gate"}))
    if job.unsupported:
        hooks.echo(command("notice", job.unsupported, {"title": "Agent Gate"}))
        return 0
    try:
        wanted = read_inputs(env)
        finished = _execute(wanted, _stored(wanted, job, env, hooks), hooks)
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


def _run_or_merge(
    stop: Stop, argv: Sequence[str], settings: Mapping[str, str], env: Mapping[str, str]
) -> Finished:
    options = parse(argv)
    options.stop = stop
    work = merge if options.command == "merge" else execute
    outcome = work(options, env, settings)
    for line in outcome.words(options, env):
        print(line)
    return outcome


def _stored(wanted: Plan, job: Job, env: Mapping[str, str], hooks: Hooks) -> Stored:
    """What an earlier run at this head commit left; a shard's session is half of one."""
    if wanted.shard or wanted.argv[0] != "run" or job.mode not in ("pull_request", "branch"):
        return Stored()
    out = Path(env.get("INPUT_RESULTS-DIR", "").strip() or "results")
    api = hooks.connect(job, token(env))
    try:
        return restore(api, job, out)
    finally:
        if api is not None:
            api.close()


def _execute(wanted: Plan, stored: Stored, hooks: Hooks) -> Finished:
    """Whatever the run prints is text of agents and datasets: the runner must not obey it."""
    before, after = stop_commands()
    hooks.echo(before)
    try:
        if stored.folder is None:
            return hooks.execute(wanted.argv, _with(wanted, stored.note), wanted.env)
        argv = (*wanted.argv, f"--resume={stored.folder}")
        try:
            return hooks.execute(argv, _with(wanted, stored.note), wanted.env)
        except OtherSession as error:
            note = f"the stored session of this commit was left alone: {error}"
            return hooks.execute(wanted.argv, _with(wanted, note), wanted.env)
    finally:
        hooks.echo(after)


def _with(wanted: Plan, note: str) -> Mapping[str, str]:
    return {**wanted.settings, "note": note} if note else wanted.settings


def _publish(
    wanted: Plan, finished: Finished, job: Job, env: Mapping[str, str], hooks: Hooks
) -> dict[str, str]:
    """Everything that shows the verdict; gives the outputs."""
    session = load_session(finished.session_dir)
    report = finished.report
    outputs = report_outputs(
        report, session.folder, Path(env.get("GITHUB_WORKSPACE") or Path.cwd())
    )
    if wanted.annotations:
        for line in render_annotations(report):
            hooks.echo(line)
    if wanted.summary:
        file = env.get("GITHUB_STEP_SUMMARY")
        write_summary(file, lambda limit: step_summary(report, session.rows, limit))
    if not wanted.shard:  # a part of the cases decides nothing; the merging job speaks
        outputs |= _write_to_github(wanted, session, report, job, hooks, token(env))
    return {name: hooks.redact(value) for name, value in outputs.items()}


def _write_to_github(
    wanted: Plan, session: Session, report: Report, job: Job, hooks: Hooks, given: str
) -> dict[str, str]:
    api = hooks.connect(job, given)
    try:
        comment = _comment(wanted, session, report, job, api, hooks)
        _tell("comment", comment, session, hooks)
        check = _check(wanted, session, report, job, api)
        _tell("check run", check, session, hooks)
    finally:
        if api is not None:
            api.close()
    return {"comment-url": comment.url, "check-run-url": check.url}


def _comment(
    wanted: Plan, session: Session, report: Report, job: Job, api: Api | None, hooks: Hooks
) -> Published:
    todo = decide(wanted.comment, report)
    if todo == "nothing" or job.pull_request is None:
        return Published(action="skipped")
    if api is None:
        return Published(action="failed", reason=NO_TOKEN)

    def render(limit: int) -> str:
        return hooks.redact(render_limited(report, session.rows, limit))

    done = publish(
        api,
        job.pull_request,
        marker(wanted.comment_id, job.head_sha, job.run_id, job.run_attempt),
        render(LIMITS[0]),
        shorter=render,
        create=todo == "write",
        pace=hooks.pace,
    )
    if done.action == "failed" and not job.can_write:
        return Published(action="failed", reason=f"{done.reason}; {FORK}")
    return done


def _check(wanted: Plan, session: Session, report: Report, job: Job, api: Api | None) -> Published:
    if not wanted.check_run:
        return Published(action="skipped")
    if api is None or job.head_sha is None:
        return Published(action="failed", reason=NO_TOKEN)
    return create_check(
        api,
        report,
        head_sha=job.head_sha,
        name=f"Agent Gate: {wanted.comment_id}",
        summary=step_summary(report, session.rows, SUMMARY_LIMIT),
    )


def _tell(what: str, done: Published, session: Session, hooks: Hooks) -> None:
    if done.action == "failed":
        where = session.folder / "comment.md"
        message = f"The {what} was not written: {done.reason}. It is in {where}."
        hooks.echo(command("warning", hooks.redact(message), {"title": "Agent Gate"}))
