"""`gate comment SESSION`: publishes a stored session, as the second workflow of a fork does.

Which pull request it is says the event alone, never the session: that may come from the fork.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from gate.archive import Session, load_session
from gate.errors import InfrastructureError, UsageError
from gate.github.api import Api
from gate.github.comments import Pace, Published, decide, marker, publish
from gate.github.context import Job, current_job, token
from gate.github.forge import connect
from gate.github.pulls import find_pull_request
from gate.records import Report
from gate.reporters.comment import render_limited
from gate.text import plain

FORK = (
    "> [!NOTE]\n> Measured by a run of a fork, whose files this workflow only passes on: its "
    "author could have changed the numbers.\n\n"
)


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """`options`: session, comment_id, when. Exit 6 when GitHub refuses the comment."""
    job = current_job(env)
    api = connect(job, token(env))
    if api is None:
        raise UsageError(
            "gate comment: GITHUB_TOKEN, GITHUB_API_URL and GITHUB_REPOSITORY must be set; on a "
            "runner give the step `env: GITHUB_TOKEN: ${{ github.token }}`"
        )
    try:
        done = comment(load_session(Path(options.session)), job, api, options)
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
    pace: Pace | None = None,
) -> Published:
    """Raises UsageError when the session is not about the event's commit."""
    report = _report(session)
    made = session.meta.provenance
    if job.event != "laptop" and job.head_sha and made.commit != job.head_sha:
        raise UsageError(
            f"{session.folder}: measured {(made.commit or 'no commit')[:12]}, but this event is "
            f"about {job.head_sha[:12]}; download the artifact of the run that started this one"
        )
    number = find_pull_request(api, job) if job.event != "laptop" else made.pull_request
    if number is None:
        return Published(
            action="skipped", reason="no open pull request has this commit as its head"
        )
    wanted = decide(options.when, report)
    if wanted == "nothing":
        return Published(action="skipped", reason="--when never")
    note = FORK if job.is_fork else ""
    mark = marker(
        options.comment_id or report.comment_id, made.commit, made.run_id, made.run_attempt
    )
    return publish(
        api,
        number,
        mark,
        note + _body(session),
        shorter=lambda limit: note + render_limited(report, session.rows, limit - len(note)),
        create=wanted == "write",
        pace=pace,
    )


def _report(session: Session) -> Report:
    if session.report is None:
        raise UsageError(
            f"{session.folder}: the run never ended; go on with `gate run --resume "
            f"{session.folder}`"
        )
    return session.report


def _body(session: Session) -> str:
    path = session.folder / "comment.md"
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(
            f"{path}: {error.strerror}; `gate report {session.folder}` renders it"
        ) from error
