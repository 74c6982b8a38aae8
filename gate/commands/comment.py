"""`gate comment SESSION`: publishes a stored session, as the second workflow for forks does. The
folder may come from a fork: only meta.json and summary.json are read, within limits, and the
comment is rendered again. Pull request, commit and run are taken from the event alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace

from gate.commands.options.records import find_stored
from gate.errors import InfrastructureError, UsageError
from gate.github.api import Api
from gate.github.comments import LIMITS, Published, decide, find_pull_request, marker, publish
from gate.github.context import Job, current_job, token
from gate.github.delivery import Means
from gate.github.payload import number, read_event
from gate.github.remote_repository import connect
from gate.records import Report
from gate.report.formats.comment import step_summary
from gate.store.foreign_report import MOST_BYTES, Origin, origin_of, strip_report
from gate.store.session import Session, load_session, refuse_debugging
from gate.text.escaping import plain
from gate.text.redaction import Redactor
from gate.text.secret_names import secrets_of

FORK = (
    "> [!NOTE]\n> Measured by a run of a fork, and published without checks: the fork's "
    "author could have changed the numbers.\n\n"
)


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Publishes the comment; returns 6 if GitHub refuses it, else 0. `options`: session,
    comment_id, title, when.
    """
    job = current_job(env)
    api = connect(job, token(env))
    if api is None:
        raise UsageError(
            "gate comment: GITHUB_TOKEN, GITHUB_API_URL and GITHUB_REPOSITORY must be set; on a "
            "runner give the step `env: GITHUB_TOKEN: ${{ github.token }}`"
        )
    try:
        session = load_session(find_stored(options.session), most=MOST_BYTES)
        refuse_debugging(session)
        origin = _origin(job, env)
        means = Means(redact=Redactor(secrets_of(env, ())))
        done = comment(session, job, api, options, origin, means)
    finally:
        api.close()
    print(plain(f"comment {done.action}: {done.url or done.reason}"))
    if done.action == "failed":
        raise InfrastructureError(f"the comment was not written: {done.reason}")
    return 0


def comment(
    session: Session,
    job: Job,
    api: Api,
    options: argparse.Namespace,
    origin: Origin | None,
    means: Means,
) -> Published:
    """Publishes the comment of a session. Raises UsageError if the session is not of the event's
    commit.
    """
    report = _report(session)
    _check_commit(session, report, job)
    provenance = session.meta.provenance
    pull_request = find_pull_request(api, job) if job.event != "laptop" else provenance.pull_request
    if pull_request is None:
        reason = "no open pull request has this commit as its head"
        return Published(action="skipped", reason=reason)
    action = decide(options.when, report)
    if action == "nothing":
        return Published(action="skipped", reason="--when never")
    origin = origin or origin_of(report)
    comment_id = options.comment_id or report.comment_id
    mark = marker(comment_id, origin.commit, origin.run_id, origin.run_attempt)
    safe = replace(
        strip_report(report, origin, shows_answers=not job.is_fork or job.is_public),
        comment_id=comment_id,
    )
    note = FORK if job.is_fork else ""

    def render(limit: int) -> str:
        room, title = limit - len(note), options.title or ""
        return means.redact(note + step_summary(safe, lambda: iter(()), room, title=title))

    body = render(LIMITS[0] - len(str(mark)) - 1)
    return publish(
        api,
        pull_request,
        mark,
        body,
        shorter=render,
        create=action == "write",
        unwanted=f"--when {options.when}, and the outcome is {report.outcome}",
        pace=means.pace,
    )


def _report(session: Session) -> Report:
    if session.report is None:
        raise UsageError(
            f"{session.folder}: the run did not finish; continue it with `gate run --resume "
            f"{session.folder}`"
        )
    return session.report


def _check_commit(session: Session, report: Report, job: Job) -> None:
    if job.event == "laptop" or not job.head_sha:
        return
    for commit in (session.meta.provenance.commit, report.provenance.commit):
        if commit != job.head_sha:
            raise UsageError(
                f"{session.folder}: measured {(commit or 'no commit')[:12]}, but this "
                f"event is for {job.head_sha[:12]}; download the artifact of the run that "
                "started this one"
            )


def _origin(job: Job, env: Mapping[str, str]) -> Origin | None:
    """The run that measured, as the event has it; None where the event is no end of a run."""
    event = read_event(env) if job.event == "workflow_run" else None
    if event is None:
        return None
    run_id, attempt = number(event, "workflow_run.id"), number(event, "workflow_run.run_attempt")
    return Origin(
        commit=job.head_sha,
        run_id=str(run_id) if run_id else None,
        run_attempt=str(attempt) if attempt else None,
        run_url=f"{job.server_url}/{job.repository}/actions/runs/{run_id}" if run_id else None,
    )
