"""The commit status that stands in for a refused check run."""

from __future__ import annotations

import pytest

from gate.github.api import Api
from gate.github.checks import CheckResult, Conclusion, post_status
from tests.support.github_server import HEAD, GitHub


@pytest.mark.parametrize(
    ("conclusion", "judged", "state"),
    [
        ("success", True, "success"),
        ("neutral", True, "success"),
        ("failure", True, "failure"),
        ("failure", False, "error"),
    ],
)
def test_states(
    api: Api, github: GitHub, conclusion: Conclusion, state: str, *, judged: bool
) -> None:
    ended = CheckResult(conclusion=conclusion, title="x\n" * 200, summary="", judged=judged)
    url = "https://example.test/run"
    done = post_status(api, ended, head_sha=HEAD, context="Agent Gate: gate", run_url=url)
    assert done.action == "created"
    (sent,) = github.statuses
    assert (sent["sha"], sent["state"], sent["target_url"]) == (HEAD, state, url)
    assert sent["context"] == "Agent Gate: gate"
    assert len(sent["description"]) == 140
    assert "\n" not in sent["description"]


def test_a_refusal_names_the_permission(api: Api, github: GitHub) -> None:
    github.read_only = True
    ended = CheckResult(conclusion="success", title="t", summary="")
    done = post_status(api, ended, head_sha=HEAD, context="c", run_url=None)
    assert done.action == "failed"
    assert "permissions: statuses: write" in done.reason
