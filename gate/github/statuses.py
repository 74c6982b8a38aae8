"""A commit status: how a verdict is shown on the head commit where check runs are refused."""

from __future__ import annotations

from gate.github.api import Api, ApiError
from gate.github.checks import CheckResult
from gate.github.comments import Published
from gate.records import Json
from gate.text.escaping import one_line

NEEDS = "statuses: write"
DESCRIPTION = 140  # characters that GitHub takes


def post_status(
    api: Api, ended: CheckResult, *, head_sha: str, context: str, run_url: str | None
) -> Published:
    """Replaces the status of the same `context`; never raises for what GitHub refuses."""
    body: dict[str, Json] = {
        "state": _state(ended),
        "context": context,
        "description": one_line(ended.title, DESCRIPTION),
    }
    if run_url:
        body["target_url"] = run_url
    try:
        api.write("POST", f"statuses/{head_sha}", body, needs=NEEDS)
    except ApiError as error:
        return Published(action="failed", reason=str(error))
    return Published(action="created")


def _state(ended: CheckResult) -> str:
    """A status has no neutral: what the policy lets through is a success."""
    if not ended.judged:
        return "error"
    return "failure" if ended.conclusion == "failure" else "success"
