"""The repository as GitHub's API shows it, for baseline sources and for the base branch's rules."""

from __future__ import annotations

import base64
import posixpath
from pathlib import Path
from urllib.parse import quote

from gate.errors import UsageError
from gate.github import artifacts
from gate.github.api import Api, ApiError
from gate.github.context import Job
from gate.github.local_repository import Opened, open_local
from gate.records import Json
from gate.records.forge import Artifact, BaselineRequest

NEEDS = "contents: read"


class GitHubForge:
    """`folder` is the folder of gate.yml in the repository; paths are relative to it."""

    def __init__(self, api: Api, *, folder: str = "", repository_id: int | None = None) -> None:
        self._api = api
        self._folder = folder
        self._repository_id = repository_id
        # Several suites share one artifact: it is downloaded once.
        self._fetched: dict[tuple[str, str, str | None], artifacts.Fetched | None] = {}

    def read(self, path: str, ref: str) -> bytes | None:
        """A file's bytes, up to GitHub's 100 MB; raises ApiError, and UsageError for a link that
        does not lead to a file of the repository (GitHub follows the others).
        """
        contents = self._contents(path, ref)
        if isinstance(contents, dict) and contents.get("type") == "symlink":
            why = "a symbolic link that does not point to a file in the repository"
            raise UsageError(f"{path} at {ref[:7]}: {why}; commit the file itself")
        if not isinstance(contents, dict) or contents.get("type") != "file":
            return None
        if contents.get("encoding") == "base64":
            return base64.b64decode(contents["content"])
        # Above 1 MB GitHub gives the content as it is, or not at all.
        return self._api.raw(self._address(path), {"ref": ref}, needs=NEEDS)

    def listing(self, folder: str, ref: str) -> tuple[str, ...]:
        contents = self._contents(folder, ref)
        entries = contents if isinstance(contents, list) else []
        return tuple(sorted(entry["name"] for entry in entries if entry.get("type") == "file"))

    @property
    def has_artifacts(self) -> bool:
        return True

    def artifact(self, request: BaselineRequest) -> Artifact | None:
        key = (request.branch, request.artifact, request.workflow)
        if key not in self._fetched:
            self._fetched[key] = artifacts.fetch(
                self._api, request, repository_id=self._repository_id
            )
        fetched = self._fetched[key]
        return fetched.files(request) if fetched is not None else None

    def release_anchor(self, request: BaselineRequest, newer_than: str) -> Artifact | None:
        from gate.github.release_anchor import fetch_release_anchor

        fetched = fetch_release_anchor(
            self._api, request, repository_id=self._repository_id, newer_than=newer_than
        )
        return fetched.files(request) if fetched is not None else None

    def _contents(self, path: str, ref: str) -> Json:
        """What GitHub says of a file or folder; None when it is not there."""
        address = self._address(path)
        if not address:
            return None
        try:
            return self._api.get(address, {"ref": ref}, needs=NEEDS)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def _address(self, path: str) -> str:
        """The API's path; empty when `path` leads out of the repository."""
        full_path = posixpath.normpath(posixpath.join(self._folder, path.replace("\\", "/")))
        if full_path.startswith(("../", "/")) or full_path == "..":
            return ""
        # One parameter of GitHub's description, so its slashes are encoded, as octokit does.
        return "contents/" + quote("" if full_path == "." else full_path, safe="")


def connect(job: Job, token: str) -> Api | None:
    """The API of the job's repository; None without a token or outside GitHub."""
    if not (job.api_url and job.repository and token):
        return None
    return Api(job.api_url, token, job.repository)


def open_forge(job: Job, api: Api | None, root: Path) -> Opened:
    """Through git where there is a work tree, and through the API for what git does not have.

    `root` is the folder of gate.yml in the workspace.
    """
    if api is None:
        return open_local(root)
    return open_local(
        root, lambda folder: GitHubForge(api, folder=folder, repository_id=job.repository_id)
    )
