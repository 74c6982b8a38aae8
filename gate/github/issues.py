"""The one issue that says that main has got worse: opened, kept up to date and closed.

GitHub has no compare-and-set for issues, so of several open ones the oldest is kept; the workflow's
`concurrency` makes that rare.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from gate.github.api import Api
from gate.github.payload import id_of, text
from gate.github.sessions import DEFAULT_ID
from gate.records import Json

LABEL = "agent-gate"
MARKER = "<!-- agent-gate main v=1 -->"
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]|-(?=-)")
NEEDS = "issues: write"
LISTED = 300  # open issues with the label
MENDED = "Main is as good as its anchor again."


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueNews:
    """What became of the issue; `none`: there was nothing to say."""

    action: Literal["opened", "updated", "unchanged", "closed", "none"]
    url: str = ""


def tell_issue(api: Api, *, title: str, body: str, job: str = DEFAULT_ID) -> IssueNews:
    """Opens the issue, or brings the open one up to date. `job`: its `comment-id`; each has an
    issue of its own. Raises ApiError, which names the permission.
    """
    mark = _mark(job)
    content: dict[str, Json] = {"title": title, "body": f"{mark}\n{body}"}
    known = _open_issues(api, mark)
    if not known:
        made = api.write("POST", "issues", {**content, "labels": [LABEL]}, needs=NEEDS)
        return IssueNews(action="opened", url=text(made, "html_url") or "")
    first, *doubles = known
    for double in doubles:
        _close(api, double, f"The same as #{first['number']}.")
    url = text(first, "html_url") or ""
    if {key: first.get(key) for key in content} == content:
        return IssueNews(action="unchanged", url=url)
    api.write("PATCH", f"issues/{first['number']}", content, needs=NEEDS)
    return IssueNews(action="updated", url=url)


def close_issue(api: Api, *, run_url: str, job: str = DEFAULT_ID) -> IssueNews:
    """Closes what is open of the job, with a word on the run that showed it. Raises ApiError."""
    known = _open_issues(api, _mark(job))
    for issue in known:
        _close(api, issue, f"{MENDED} {run_url}".rstrip())
    if not known:
        return IssueNews(action="none")
    return IssueNews(action="closed", url=text(known[0], "html_url") or "")


def _mark(job: str) -> str:
    if job == DEFAULT_ID:
        return MARKER
    return MARKER.replace(" v=1", f" id={_NO_NAME.sub('', job)} v=1")


def _open_issues(api: Api, mark: str) -> list[Mapping[str, Json]]:
    """Oldest first. The label takes a right to triage, so that nobody else's text counts."""
    return sorted(_with_marker(api, mark), key=id_of)


def _with_marker(api: Api, mark: str) -> Iterator[Mapping[str, Json]]:
    query = {"state": "open", "labels": LABEL}
    for issue in islice(api.pages("issues", query, needs=NEEDS), LISTED):
        if "pull_request" not in issue and (text(issue, "body") or "").startswith(mark):
            yield issue


def _close(api: Api, issue: Mapping[str, Json], why: str) -> None:
    path = f"issues/{issue['number']}"
    api.write("POST", f"{path}/comments", {"body": why}, needs=NEEDS)
    api.write("PATCH", path, {"state": "closed", "state_reason": "completed"}, needs=NEEDS)
