"""`/gate accept <reason>` on a pull request: who said it, whether they may, and what it covers
(docs/semantics.md 7).

An acceptance counts for one head commit: it must be newer than the run that judged that commit.
The moment is GitHub's own (when that run was made), because a commit's date is its author's to
choose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from urllib.parse import quote

from gate.analysis.metric_names import DIMENSIONS, current_names, describe_renamed
from gate.errors import InfrastructureError
from gate.github.api import Api, ApiError
from gate.github.comments import parse_marker
from gate.github.context import Job
from gate.github.payload import moment, number, text
from gate.github.pull_requests import login_of
from gate.records import AcceptedChange, Json
from gate.report.wording.headline import icon
from gate.text.shortening import shorten
from gate.text.suggestions import did_you_mean

COMMAND = "/gate accept"
NEEDS = "pull-requests: read"
MAY = ("admin", "maintain", "write")
ASKED = 10  # people whose permission is asked, and changes that are kept
REASON = 500  # characters
_LINE = re.compile(r"/gate[ \t]+accept(?:[ \t]+(?P<reason>\S[^\r\n]*))?[ \t]*(?:\r?\n|$)")
_NAME = re.compile(r"(?<![A-Za-z0-9_])(?P<dimension>[A-Za-z_]+)\.(?P<what>[A-Za-z0-9_^@-]+)")
_METRICS_OWN = re.compile(r"_|[@^]\d+$")  # what other words with a dot seldom have
_QUEUE = re.compile(r"/pr-(\d+)-[0-9a-f]+$")  # the branch that GitHub makes for a merge group


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was accepted; `notes` tell what looked like it and did not count."""

    changes: tuple[AcceptedChange, ...] = ()
    notes: tuple[str, ...] = ()


def reason_of(body: str) -> str | None:
    """The reason of a comment whose first line is the command, "" when it gives none; None for any
    other comment.
    """
    match = _LINE.match(body)
    return None if match is None else shorten(match["reason"] or "", REASON)


def may_write(api: Api, login: str) -> bool:
    """Whether the person has write permission on the repository. Raises ApiError."""
    path = f"collaborators/{quote(login, safe='')}/permission"
    try:
        answer = api.get(path, needs="metadata: read")
    except ApiError as error:
        if error.status == 404:  # no such person any more
            return False
        raise
    return isinstance(answer, dict) and answer.get("permission") in MAY


def comments_of(api: Api, number: int) -> Iterator[Mapping[str, Json]]:
    """Every comment of a pull request, oldest first. Raises ApiError."""
    return api.pages(f"issues/{number}/comments", {}, needs=NEEDS)


def find_accepted(api: Api, job: Job, metrics: Iterable[str]) -> Found:
    """The changes that were accepted for what `job` judges: on its pull request, on that of its
    merge group, or on the one that the base branch's commit was merged from. `metrics`: names that
    a reason may single out. Never raises for what GitHub refuses: a note says so.
    """
    try:
        where = _where(api, job)
        if where is None:
            return Found()
        return _on(api, where, tuple(metrics))
    except InfrastructureError as error:
        return Found(notes=(f"whether a change was accepted is not known: {error}",))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Where:
    """A pull request; `run` judged its head commit, None: the one that its own comment names."""

    number: int
    head_sha: str | None
    run: str | None = None


def _where(api: Api, job: Job) -> _Where | None:
    if job.pull_request is not None and job.run_id is not None:
        if job.run_attempt == "1":
            # A push may come while somebody writes: nobody has seen what this commit does.
            return None
        return _Where(number=job.pull_request, head_sha=job.head_sha, run=job.run_id)
    queued = _QUEUE.search(job.head_ref or "") if job.event == "merge_group" else None
    if queued:
        return _Where(number=int(queued[1]), head_sha=None)
    if job.mode in ("branch", "schedule") and job.head_sha and job.protect_ref is None:
        return _find_merged_pull_request(api, job.head_sha)
    return None


def _find_merged_pull_request(api: Api, sha: str) -> _Where | None:
    """The merged pull request that a commit of the base branch came from."""
    for pull in api.pages(f"commits/{sha}/pulls", {}, needs=NEEDS):
        pull_number = number(pull, "number")
        if pull.get("merged_at") and pull_number is not None:
            return _Where(number=pull_number, head_sha=text(pull, "head.sha"))
    return None


def _on(api: Api, where: _Where, metrics: Sequence[str]) -> Found:
    comments = list(comments_of(api, where.number))
    candidates = [comment for comment in comments if _candidate(comment)]
    if not candidates:
        return Found()
    judged = _find_run_time(api, where, comments)
    if judged is None:
        why = f"no run of the gate on the head commit of #{where.number} is known"
        return Found(notes=(f"`{COMMAND}` was not accepted: {why}",))
    changes: list[AcceptedChange] = []
    notes: list[str] = []
    allowed: dict[str, bool] = {}
    for comment in islice(reversed(candidates), ASKED):
        change, note = _read_comment(api, comment, judged, metrics, allowed)
        changes += [change] if change else []
        notes += [note] if note else []
    if changes:
        notes = [note for change in changes for note in _tell_old_names(change)]
    return Found(changes=tuple(changes), notes=tuple(dict.fromkeys(notes)))


def _candidate(comment: Mapping[str, Json]) -> bool:
    """A person's comment with the command; a bot's never counts."""
    person = text(comment, "user.type") == "User"
    return person and reason_of(text(comment, "body") or "") is not None


def _find_run_time(
    api: Api, where: _Where, comments: Sequence[Mapping[str, Json]]
) -> datetime | None:
    """When the run was made that judged the head commit; None when there is none."""
    head, run = where.head_sha, where.run
    if head is None:
        head = text(api.get(f"pulls/{where.number}", needs=NEEDS), "head.sha")
    if run is None:
        run = next(map(str, list_gate_runs(api, comments, head)), None)
    if run is None:
        return None
    workflow_run = api.get(f"actions/runs/{run}", needs="actions: read")
    # Under pull_request_target and on a branch a run's head_sha is the base's; then only the
    # marker, which is the gate's own, ties the run to the commit.
    return moment(workflow_run, "created_at")


def list_gate_runs(
    api: Api, comments: Iterable[Mapping[str, Json]], head_sha: str | None
) -> Mapping[int, bool]:
    """The runs that the gate's own comments name for `head_sha`, newest first, one for each job
    with a comment of its own; and whether all of a run's comments say that it failed. The gate's
    are a bot's, or the user's whose token `api` has.
    """
    login, run_ids = login_of(api), dict[int, bool]()
    for comment in comments:
        body = text(comment, "body") or ""
        ours = text(comment, "user.type") == "Bot" or (
            login and text(comment, "user.login") == login
        )
        mark = parse_marker(body) if ours else None
        if mark is not None and mark.sha == head_sha and mark.run:
            failed = body.partition("\n")[2].startswith(f"## {icon('fail')}")
            run_ids[mark.run] = run_ids.get(mark.run, True) and failed
    return dict(sorted(run_ids.items(), reverse=True))


def _read_comment(
    api: Api,
    comment: Mapping[str, Json],
    judged: datetime,
    metrics: Sequence[str],
    allowed: dict[str, bool],
) -> tuple[AcceptedChange | None, str]:
    """The change that a comment accepts, or why it accepts none."""
    who, when = text(comment, "user.login") or "", text(comment, "created_at") or ""
    commented_at, reason = moment(comment, "created_at"), reason_of(text(comment, "body") or "")
    if commented_at is None or commented_at <= judged:
        return None, f"`{COMMAND}` by {who} is older than the run on the head commit: comment again"
    if not reason:
        return None, f"`{COMMAND}` by {who} gives no reason: write `{COMMAND} <reason>`"
    if who not in allowed:
        allowed[who] = may_write(api, who)
    if not allowed[who]:
        return None, f"`{COMMAND}` by {who} does not count: it needs write permission"
    named, wrong = parse_metric_names(reason, metrics)
    if wrong:
        return None, f"`{COMMAND}` by {who} was not accepted: {wrong}"
    url = text(comment, "html_url") or ""
    return AcceptedChange(who=who, when=when, why=reason, metrics=named, url=url), ""


def parse_metric_names(reason: str, known_metrics: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Metrics that a reason names, and what is wrong with one that looks like a metric and is
    none here, as that of another job: it would else be accepted as "everything".
    """
    dimensions = DIMENSIONS | {name.split(".", 1)[0] for name in known_metrics}
    alike = [
        match[0]
        for match in _NAME.finditer(reason)
        if match["dimension"].lower() in dimensions or _METRICS_OWN.search(match["what"])
    ]
    named: list[str] = []
    for word in alike:
        names = current_names(word, known_metrics)
        if not set(names) <= set(known_metrics):
            return (), f"no suite measures `{word}`{did_you_mean(word, tuple(known_metrics))}"
        named += names
    return tuple(dict.fromkeys(named)), ""


def _tell_old_names(change: AcceptedChange) -> Iterator[str]:
    """What somebody who accepts a metric by its old name should write the next time."""
    for match in _NAME.finditer(change.why):
        for name in current_names(match[0], ()):
            if name != match[0] and name in change.metrics:
                yield f"`{COMMAND}` by {change.who}: {describe_renamed(match[0], name)}"
