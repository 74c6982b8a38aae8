"""An optional check run on the head commit; off by default, since GitHub picks its suite."""

from __future__ import annotations

from typing import Literal

from gate.github.api import Api, ApiError
from gate.github.comments import Published
from gate.records import Json, Report

NEEDS = "checks: write"
SUMMARY_LIMIT = 65_535


def conclusion(report: Report) -> Literal["success", "failure", "neutral"]:
    """What a required check sees; neutral lets a merge through, so the policy decides that."""
    if not report.passed:
        return "failure"
    return "success" if report.outcome == "pass" else "neutral"


def create_check(api: Api, report: Report, *, head_sha: str, name: str, summary: str) -> Published:
    """One finished check run; never raises for what GitHub refuses.

    `summary` is Markdown of at most SUMMARY_LIMIT bytes.
    """
    body: dict[str, Json] = {
        "name": name,
        "head_sha": head_sha,
        "status": "completed",
        "conclusion": conclusion(report),
        "external_id": report.session_id,
        "output": {
            "title": f"{report.outcome}: {report.reason}"[:250],
            "summary": summary,
        },
    }
    if report.provenance.run_url:
        body["details_url"] = report.provenance.run_url
    try:
        made = api.write("POST", "check-runs", body, needs=NEEDS)
    except ApiError as error:
        return Published(action="failed", reason=str(error))
    url = made.get("html_url") if isinstance(made, dict) else None
    return Published(action="created", url=url if isinstance(url, str) else "")
