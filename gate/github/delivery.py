"""Shows a run's end wherever GitHub has room for it; what GitHub refuses never changes the verdict.

The ladder: comment, job summary, check run (else commit status), file. One warning says which rung
was refused, why, and where the text is now.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

from gate.errors import GateError, InfrastructureError, Interrupted, InvalidInput, UsageError
from gate.files.plain_file import no_such_name
from gate.github.api import Api
from gate.github.checks import (
    SUMMARY_LIMIT,
    TITLE,
    CheckIdentity,
    CheckResult,
    CheckRun,
    post_status,
    verdict,
)
from gate.github.comments import LIMITS, Published, RetryPace, decide, marker, publish
from gate.github.context import NO_TOKEN, Job, token
from gate.github.inputs import ActionInputs
from gate.github.outputs import error_outputs, report_outputs, write_outputs, write_summary
from gate.github.pull_requests import PullRequestComments
from gate.github.remote_repository import connect
from gate.records import Report
from gate.report.formats.comment import step_summary
from gate.report.wording.no_verdict import no_verdict
from gate.report.wording.notes import render_annotations
from gate.store.session import load_session
from gate.system.shortage import shortage
from gate.text.escaping import command, one_line

NO_COMMIT = "the event names no commit"
FORK = (
    "A run from a fork or by Dependabot has a read-only token: publish with `gate "
    "comment` in a workflow that "
    "workflow_run starts."
)
BUG = (
    "this is a bug of Agent Gate, not of your agent: please report it with the traceback from "
    "the log"
)
USAGE = "an input is not valid: see the log of this step"
ADD = re.compile(r"; add `permissions: [^`]*` to the job")  # which does not help a fork
PART = "this run has a part of the cases; the job that joins the parts writes it"
CHECK_NAME = 100  # characters
ANNOTATED = 10  # mistakes: GitHub shows as many annotations of a step
LEFT_ALONE = "No comment was written: the run was cancelled; a newer one writes it."
CANCELLED = "the job was cancelled or ran out of time before there was a verdict; run it again"


class FinishedRun(Protocol):
    """What a run or merge came to."""

    @property
    def report(self) -> Report: ...

    @property
    def session_dir(self) -> Path: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What is used to say something: tests hand in others."""

    redact: Callable[[str], str] = lambda text: text
    connect: Callable[[Job, str], Api | None] = connect
    echo: Callable[[str], None] = print
    pace: RetryPace = field(default_factory=RetryPace)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    """What is to be shown. `text(limit)`: at most so many bytes of Markdown, without secrets.
    `decides`: not a part of a run, which another job concludes.
    """

    text: Callable[[int], str]
    ended: CheckResult
    comment: Literal["write", "update", "nothing"]
    where: str  # it is in any case
    decides: bool = True
    unwanted: str = ""  # why it is no new comment; empty: it is one


class Delivery:
    """All that one step shows. `begin`, then one of `verdict` and `no_verdict`."""

    def __init__(
        self, wanted: ActionInputs, job: Job, env: Mapping[str, str], means: Means
    ) -> None:
        self._wanted = wanted
        self._job = job
        self._env = env
        self._means = means
        self._name = one_line(wanted.check_name, CHECK_NAME)
        # A part of the cases decides nothing: the merging job speaks.
        self._check = None if wanted.shard or not wanted.check_run else self._new_check()

    def begin(self) -> None:
        """The check run in progress, made while the run sets itself up."""
        if self._check is not None:
            self._check.begin()

    def verdict(self, finished: FinishedRun) -> None:
        """A report: annotations, summary, comment, check and outputs."""
        report, session = finished.report, load_session(finished.session_dir)
        if self._wanted.annotations:
            for line in render_annotations(report):
                self._means.echo(self._means.redact(line))
        title, mode = self._wanted.comment_title, self._wanted.comment
        text = self._clean(lambda limit: step_summary(report, session.rows, limit, title=title))
        message = _Message(
            text=text,
            ended=verdict(report, text, self._means.redact),
            comment=decide(mode, report),
            where=f"{session.folder / 'comment.md'}",
            unwanted=f"`comment: {mode}`, and the outcome is {report.outcome}",
            decides=not (self._wanted.shard or report.open_suites),
        )
        urls = self._show(message)
        workspace = Path(self._env.get("GITHUB_WORKSPACE") or Path.cwd())
        try:
            self._write({**report_outputs(report, session.folder, workspace), **urls})
        except InfrastructureError as error:  # there is a verdict, and it was told
            warning = (
                "The outputs of this step could not be written, so later steps do not have "
                f"them: {error}. The verdict stands."
            )
            self._means.echo(
                command("warning", self._means.redact(warning), {"title": "Agent Gate"})
            )

    def no_verdict(self, error: BaseException) -> int:
        """Says why there is no verdict, everywhere; gives the exit code. A cancelled run leaves the
        comment alone: a newer one will write it.
        """
        code, reason = _code_and_words(error)
        reason = self._means.redact(reason)
        cancelled = isinstance(error, (Interrupted, KeyboardInterrupt))
        ended = CheckResult(
            conclusion="cancelled" if cancelled else "failure",
            title=one_line(reason if cancelled else f"error: {reason}", TITLE),
            summary=self._render_no_verdict(reason, code)(SUMMARY_LIMIT),
            judged=False,
        )
        if cancelled:
            self._cancel(ended)
        elif not self._wanted.shard:
            comment = self._wanted.comment
            message = _Message(
                text=self._render_no_verdict(reason, code),
                ended=ended,
                comment="nothing" if comment == "never" else "write",
                where="the log of this step",
                unwanted=f"`comment: {comment}`",
            )
            self._show(message)
        self._log(error, reason)
        with suppress(InfrastructureError):  # the error that is told already counts
            self._write(error_outputs(reason, code))
        return code

    def _log(self, error: BaseException, message: str) -> None:
        """In the log, and at the lines of the files where the mistakes are."""
        problems = error.problems if isinstance(error, InvalidInput) else ()
        if not 0 < len(problems) <= ANNOTATED or not self._wanted.annotations:
            self._means.echo(command("error", message, {"title": "Agent Gate"}))
            return
        for problem in problems:
            file, line = problem.place.file, problem.place.line
            where = {"file": file, "line": str(line)} if line is not None else {}
            text = self._means.redact(str(problem))
            self._means.echo(command("error", text, {**where, "title": "Agent Gate"}))

    def _show(self, message: _Message) -> dict[str, str]:
        """Each rung; gives the addresses of what was written."""
        check = comment = Published(action="skipped")
        summary = self._summary(message)
        if message.decides:
            api = self._means.connect(self._job, token(self._env))
            try:
                # The check first: it must not stay in progress, whatever happens to the comment.
                check = self._conclude(message.ended, api)
                comment = self._comment(message, api)
            finally:
                if api is not None:
                    api.close()
        if comment.action == "skipped":
            line = f"No comment was written: {comment.reason or PART}."
            self._means.echo(self._means.redact(line))
        self._warn({"comment": comment, "job summary": summary, "check run": check}, message.where)
        return {"comment-url": comment.url, "check-run-url": check.url}

    def _summary(self, message: _Message) -> Published:
        file = self._env.get("GITHUB_STEP_SUMMARY")
        if not self._wanted.summary:
            return Published(action="skipped")
        if not file:
            return Published(action="failed", reason="GITHUB_STEP_SUMMARY is not set")
        try:
            if write_summary(file, message.text):
                return Published(action="created")
        except InfrastructureError as error:
            return Published(action="failed", reason=str(error))
        return Published(action="failed", reason="it is full: GitHub allows 1 MiB per step")

    def _comment(self, message: _Message, api: Api | None) -> Published:
        number = self._job.pull_request
        if number is None:
            return Published(action="skipped", reason="this event is not about a pull request")
        if message.comment == "nothing":
            return Published(action="skipped", reason=message.unwanted)
        if api is None:
            return Published(action="failed", reason=NO_TOKEN)
        job = self._job
        mark = marker(self._wanted.comment_id, job.head_sha, job.run_id, job.run_attempt)
        return publish(
            PullRequestComments(api, number),
            mark,
            message.text(LIMITS[0] - len(str(mark)) - 1),
            shorter=message.text,
            create=message.comment == "write",
            unwanted=message.unwanted,
            pace=self._means.pace,
        )

    def _conclude(self, ended: CheckResult, api: Api | None) -> Published:
        if self._wanted.shard or not self._wanted.check_run:
            return Published(action="skipped")
        if self._check is None:
            return Published(action="failed", reason=NO_COMMIT)
        if api is None:
            return Published(action="failed", reason=NO_TOKEN)
        done = self._check.finish(api, ended)
        if not self._check.forbidden or self._job.head_sha is None:
            return done
        sha, url = self._job.head_sha, self._job.run_url
        instead = post_status(api, ended, head_sha=sha, context=self._name, run_url=url)
        if instead.action == "failed":
            return Published(action="failed", reason=f"{done.reason}; {instead.reason}")
        return Published(
            action="failed", reason=f"{done.reason}; a commit status was written instead"
        )

    def _cancel(self, ended: CheckResult) -> None:
        has_comment = self._job.pull_request is not None and self._wanted.comment != "never"
        if has_comment and not self._wanted.shard:
            self._means.echo(LEFT_ALONE)
        if self._check is None:
            return
        api = self._means.connect(self._job, token(self._env))
        if api is not None:
            self._check.cancel(api, ended)

    def _warn(self, rungs: Mapping[str, Published], file: str) -> None:
        failed = {name: done for name, done in rungs.items() if done.action == "failed"}
        if not failed:
            return
        reasons = "; ".join(f"the {name}: {done.reason}" for name, done in failed.items())
        written = [n for n, done in rungs.items() if done.action in ("created", "updated")]
        where = f"the {written[0]} {rungs[written[0]].url}".rstrip() if written else file
        fork = ""
        if not self._job.can_write:
            reasons, fork = ADD.sub("", reasons), f" {FORK}"
        text = f"Not written: {reasons}. Its content is in {where}.{fork}"
        self._means.echo(command("warning", self._means.redact(text), {"title": "Agent Gate"}))

    def _new_check(self) -> CheckRun | None:
        job = self._job
        if job.head_sha is None:
            return None
        attempt = job.run_attempt or ""
        identity = CheckIdentity(
            head_sha=job.head_sha,
            name=self._name,
            run=job.run_id or "0",
            attempt=int(attempt) if attempt.isdecimal() else 1,
            run_url=job.run_url,
        )
        return CheckRun(identity, lambda: self._means.connect(job, token(self._env)))

    def _clean(self, text: Callable[[int], str]) -> Callable[[int], str]:
        return lambda limit: self._means.redact(text(limit))

    def _render_no_verdict(self, message: str, code: int) -> Callable[[int], str]:
        job = self._job
        return self._clean(
            partial(
                no_verdict,
                message,
                exit_code=code,
                commit=job.head_sha,
                run_url=job.run_url,
                hints=job.hints,
                title=self._wanted.comment_title,
            )
        )

    def _write(self, outputs: Mapping[str, str]) -> None:
        redacted = {name: self._means.redact(value) for name, value in outputs.items()}
        write_outputs(self._env.get("GITHUB_OUTPUT"), redacted)


def _code_and_words(error: BaseException) -> tuple[int, str]:
    """Exit code and message, as the command line has them for the same error."""
    if isinstance(error, Interrupted):
        return error.exit_code, CANCELLED  # nobody can go on with the files of a runner
    if isinstance(error, KeyboardInterrupt):
        return 130, CANCELLED
    if isinstance(error, GateError):
        return error.exit_code, str(error)
    if (known_error := shortage(error) or no_such_name(error)) is not None:
        return known_error.exit_code, str(known_error)
    if isinstance(error, OSError):
        message = f"{error.filename or 'output'}: {error.strerror or type(error).__name__}"
        return InfrastructureError.exit_code, message
    if isinstance(error, SystemExit):
        return UsageError.exit_code, USAGE
    return GateError.exit_code, f"{type(error).__name__}: {BUG}"
