"""What GitHub's runner tells a step about a pull request: its environment and its files."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.github_server import HEAD, REPOSITORY, REPOSITORY_ID, GitHub

BASE = "b" * 40


def on_a_pull_request(
    folder: Path, github: GitHub, *, head_sha: str = HEAD, **more: str
) -> dict[str, str]:
    """Of the run that judges pull request 3, from HEAD into BASE of main; its payload is written
    into `folder`, the workspace.
    """
    repository = {"full_name": REPOSITORY, "id": REPOSITORY_ID}
    head = {"sha": head_sha, "ref": "topic", "repo": repository}
    pull = {"number": 3, "head": head, "base": {"sha": BASE, "ref": "main"}}
    event = {"pull_request": pull, "repository": repository}
    (folder / "event.json").write_text(json.dumps(event), encoding="utf-8")
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_ENV": str(folder / "env"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_WORKSPACE": str(folder),
        "GITHUB_API_URL": github.url,
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_REPOSITORY_ID": str(REPOSITORY_ID),
        "GITHUB_RUN_ID": "7",
        "GITHUB_RUN_ATTEMPT": "1",
        "INPUT_GITHUB-TOKEN": "ghs_token",
        **more,
    }
