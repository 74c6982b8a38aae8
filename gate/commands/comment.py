"""`gate comment SESSION`: publishes a stored session, as the second workflow for forks does, and in
a job of GitLab as the note on the merge request. The folder may come from a fork: only meta.json
and summary.json are read, within limits, and the comment is rendered again. Pull request, commit
and run are taken from the event alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace

from gate.commands.options.records import find_stored
from gate.errors import InfrastructureError, UsageError
from gate.github.api import Api
from gate.github.comments import (
    LIMITS,
    CommentStore,
    Published,
    RetryPace,
    decide,
    marker,
    publish,
)
from gate.github.context import Job, current_job, token
from gate.github.delivery import Means
from gate.github.payload import number, read_event
from gate.github.pull_requests import PullRequestComments, find_pull_request
from gate.github.remote_repository import connect
from gate.gitlab.inert import make_inert
from gate.gitlab.merge_request import GITLAB, MergeRequestNotes, is_job, read_merge_request
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
    """Publishes the comment; returns 6 if the server refuses it, else 0. `options`: session,
    comment_id, title, when.
    """
    means = Means(redact=Redactor(secrets_of(env, ())).redact)
    done = (_comment_on_gitlab if is_job(env) else _comment_on_github)(options, env, means)
    print(plain(f"comment {done.action}: {done.url or done.reason}"))
    if done.action == "failed":
        raise InfrastructureError(f"the comment was not written: {done.reason}")
    return 0


def _comment_on_github(
    options: argparse.Namespace, env: Mapping[str, str], means: Means
) -> Published:
    job = current_job(env)
    api = connect(job, token(env))
    if api is None:
        raise UsageError(
            "gate comment: GITHUB_TOKEN, GITHUB_API_URL and GITHUB_REPOSITORY must be set; on a "
            "runner give the step `env: GITHUB_TOKEN: ${{ github.token }}`"
        )
    try:
        return comment(_load(options), job, api, options, _origin(job, env), means)
    finally:
        api.close()


def _comment_on_gitlab(
    options: argparse.Namespace, env: Mapping[str, str], means: Means
) -> Published:
    """The note on the merge request. Its session is of the same project: GitLab runs the pipeline
    of a fork in the fork, without this project's token.
    """
    change = read_merge_request(env)
    session = _load(options)
    report = _report(session)
    _check_session(session, report, change.commit)
    origin = Origin(
        commit=change.head,
        run_id=change.pipeline,
        run_attempt=change.job,
        run_url=change.url,
    )
    api = Api(change.api_url, change.token, change.project, server=GITLAB)
    try:
        return _publish(
            strip_report(report, origin, shows_answers=True),
            origin,
            options,
            MergeRequestNotes(api, change.number),
            lambda text: make_inert(means.redact(text)),
            means.pace,
        )
    finally:
        api.close()


def comment(
    session: Session,
    job: Job,
    api: Api,
    options: argparse.Namespace,
    origin: Origin | None,
    means: Means,
) -> Published:
    """Publishes the comment of a session on GitHub. Raises UsageError if the session is not of the
    event's commit.
    """
    report = _report(session)
    if job.event != "laptop" and job.head_sha:
        _check_session(session, report, job.head_sha)
    provenance = session.meta.provenance
    pull_request = find_pull_request(api, job) if job.event != "laptop" else provenance.pull_request
    if pull_request is None:
        reason = "no open pull request has this commit as its head"
        return Published(action="skipped", reason=reason)
    origin = origin or origin_of(report)
    note = FORK if job.is_fork else ""
    return _publish(
        strip_report(report, origin, shows_answers=not job.is_fork or job.is_public),
        origin,
        options,
        PullRequestComments(api, pull_request),
        means.redact,
        means.pace,
        note=note,
    )


def _publish(
    report: Report,
    origin: Origin,
    options: argparse.Namespace,
    store: CommentStore,
    clean: Callable[[str], str],
    pace: RetryPace,
    *,
    note: str = "",
) -> Published:
    """Writes the report, which has nothing in it that a stranger may not say."""
    action = decide(options.when, report)
    if action == "nothing":
        return Published(action="skipped", reason="--when never")
    comment_id = options.comment_id or report.comment_id
    mark = marker(comment_id, origin.commit, origin.run_id, origin.run_attempt)
    shown = replace(report, comment_id=comment_id)

    def render(limit: int) -> str:
        room, title = limit - len(note), options.title or ""
        return clean(note + step_summary(shown, lambda: iter(()), room, title=title))

    return publish(
        store,
        mark,
        render(LIMITS[0] - len(str(mark)) - 1),
        shorter=render,
        create=action == "write",
        unwanted=f"--when {options.when}, and the outcome is {report.outcome}",
        pace=pace,
    )


def _load(options: argparse.Namespace) -> Session:
    session = load_session(find_stored(options.session), most=MOST_BYTES)
    refuse_debugging(session)
    return session


def _report(session: Session) -> Report:
    if session.report is None:
        raise UsageError(
            f"{session.folder}: the run did not finish; continue it with `gate run --resume "
            f"{session.folder}`"
        )
    return session.report


def _check_session(session: Session, report: Report, head: str) -> None:
    """Raises UsageError if the session is of another commit than this job's."""
    for commit in (session.meta.provenance.commit, report.provenance.commit):
        if commit != head:
            raise UsageError(
                f"{session.folder}: measured {(commit or 'no commit')[:12]}, but this "
                f"event is for {head[:12]}; download the artifact of the run that "
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
