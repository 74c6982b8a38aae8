"""The answer to a comment on a pull request: `/gate accept <reason>` runs the gate again, which
then finds the comment itself (gate/github/acceptance.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gate.errors import InfrastructureError, UsageError
from gate.github.acceptance import COMMAND, comments_of, list_gate_runs, may_write, reason_of
from gate.github.api import Api
from gate.github.payload import has, number, text
from gate.records import Json

RUN_NEEDS = "actions: write"
SAY_NEEDS = "pull-requests: write"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptComment:
    """A comment on a pull request, as the event tells it."""

    pull_request: int
    comment: int
    who: str
    body: str


def parse_accept_comment(event: Mapping[str, Json] | None) -> AcceptComment | None:
    """The new comment of a person on a pull request; None for everything else."""
    if text(event, "action") != "created" or not has(event, "issue.pull_request"):
        return None
    issue, comment = number(event, "issue.number"), number(event, "comment.id")
    who, body = text(event, "comment.user.login"), text(event, "comment.body")
    if text(event, "comment.user.type") != "User" or issue is None or comment is None:
        return None
    return (
        AcceptComment(pull_request=issue, comment=comment, who=who, body=body)
        if who and body
        else None
    )


def answer(event: Mapping[str, Json] | None, api: Api | None, echo: Callable[[str], None]) -> int:
    """Runs the gate again where an acceptance asks for it; what keeps it from that is told to who
    may write, others get a thumb down: nobody can make it talk.

    Raises UsageError without a token, InfrastructureError when GitHub refuses to run it again.
    """
    comment = parse_accept_comment(event)
    reason = reason_of(comment.body) if comment is not None else None
    if comment is None or reason is None:
        echo(f"no new comment of a person that starts with `{COMMAND}`: nothing to do")
        return 0
    if api is None:
        raise UsageError("gate action: a comment needs a token; set `github-token`")
    if not may_write(api, comment.who):
        _react(api, comment, "-1")
        echo(f"{COMMAND}: not accepted: it needs write permission on this repository")
        return 0
    why = _again(api, comment, reason)
    if why:
        _say(api, comment, f"`{COMMAND}` was not accepted: {why}.")
        echo(f"{COMMAND}: not accepted: {why}")
        return 0
    _react(api, comment, "+1")
    echo(f"{COMMAND}: the gate runs again on #{comment.pull_request}")
    return 0


def _again(api: Api, comment: AcceptComment, reason: str) -> str:
    """Runs again what judged the head commit, every job with a comment of its own; or says why
    not.
    """
    if not reason:
        return f"add a reason for the change: `{COMMAND} <reason>`"
    head = text(api.get(f"pulls/{comment.pull_request}", needs="pull-requests: read"), "head.sha")
    judged = list_gate_runs(api, comments_of(api, comment.pull_request), head)
    if not judged:
        return (
            "the gate has not commented on the head commit yet, and a run in progress may "
            "have started before your comment; wait for its comment, then repeat yours"
        )
    runs = {run: api.get(f"actions/runs/{run}", needs=RUN_NEEDS) for run in judged}
    if any(text(run, "status") != "completed" for run in runs.values()):
        return "the gate is running; wait for its comment, then repeat yours"
    for identifier, run in runs.items():
        # The gate's job is among the failed ones only where its comment says so.
        failed = judged[identifier] and text(run, "conclusion") == "failure"
        jobs = "rerun-failed-jobs" if failed else "rerun"
        api.write("POST", f"actions/runs/{identifier}/{jobs}", needs=RUN_NEEDS)
    return ""


def _react(api: Api, comment: AcceptComment, content: str) -> None:
    try:
        path = f"issues/comments/{comment.comment}/reactions"
        api.write("POST", path, {"content": content}, needs=SAY_NEEDS)
    except InfrastructureError:
        return  # the log and the gate's own comment tell as well


def _say(api: Api, comment: AcceptComment, body: str) -> None:
    api.write("POST", f"issues/{comment.pull_request}/comments", {"body": body}, needs=SAY_NEEDS)
