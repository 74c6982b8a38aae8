"""Runs of a workflow on the GitHub of a test, with a session as their artifact."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

from tests.support.github_server import HEAD, REPOSITORY_ID, Answer, GitHub
from tests.support.stored_session import store

NAME = f"gate-session-{HEAD}"
TREE = "7" * 40  # of HEAD
ZIP = {"Content-Type": "application/zip"}


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def files_of_session(tmp_path: Path, number: int = 1, commit: str = HEAD) -> dict[str, bytes]:
    """The files of a session, as they are in an artifact."""
    folder = store(tmp_path / f"made{number}", {"a": [True]}, number=number, commit=commit)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def add_run(github: GitHub, number: int, files: dict[str, bytes] | None, **changes: Any) -> None:
    run = {
        "id": number,
        "workflow_id": 5,
        "head_sha": HEAD,
        "event": "pull_request",
        "head_branch": "topic",
        "conclusion": "success",
        "pull_requests": [{"number": 3}],
        "head_commit": {"id": HEAD, "tree_id": TREE},
        "repository": {"id": REPOSITORY_ID},
        "head_repository": {"id": REPOSITORY_ID},
        **changes,
    }
    github.runs.append(run)
    if files is not None:
        name = f"gate-session-{run['head_sha']}"
        made = {"id": 100 + number, "name": name, "expired": False, "created_at": "2026-11-20"}
        github.artifacts[number] = [made]
        github.blobs[100 + number] = Answer(200, zipped(files), ZIP)
