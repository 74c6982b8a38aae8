"""A small stateful GitLab on loopback: one project with one merge request, and its notes. Each
request is held against what GitLab's documentation says of the Notes API, the Merge requests API
and pagination.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.support.loopback import listening

PROJECT, NUMBER, HEAD = "42", "3", "a" * 40
TOKEN = "glpat-notToBeTold123"
ME = {"id": 7, "username": "project_42_bot"}
# Query of the list of notes: name -> the values that are allowed; None: any number.
LIST: dict[str, tuple[str, ...] | None] = {
    "sort": ("asc", "desc"),
    "order_by": ("created_at", "updated_at"),
    "page": None,
    "per_page": None,
}


@dataclass
class GitLab:
    """The state; `refuse` is (status, answer) for every write."""

    head: str = HEAD
    notes: list[dict[str, Any]] = field(default_factory=list)
    seen: list[tuple[str, str, Any]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    refuse: tuple[int, Any] | None = None
    url: str = ""

    def add(self, body: str, author: int = ME["id"], **more: Any) -> dict[str, Any]:
        made = {"id": 900 + len(self.notes), "body": body, "author": {"id": author}}
        self.notes.append({**made, "system": False, **more})
        return self.notes[-1]

    def variables(self, **more: str) -> dict[str, str]:
        """What a job of the merge request's pipeline is given, and the token."""
        return {
            "CI": "true",
            "GITLAB_CI": "true",
            "CI_API_V4_URL": f"{self.url}/api/v4",
            "CI_PROJECT_ID": PROJECT,
            "CI_MERGE_REQUEST_IID": NUMBER,
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
            "CI_COMMIT_SHA": self.head,
            "CI_PIPELINE_ID": "81",
            "CI_JOB_URL": "https://gitlab.example/octo/demo/-/jobs/812",
            "CI_JOB_ID": "812",
            "GITLAB_TOKEN": TOKEN,
            **more,
        }

    def answer(
        self, method: str, path: str, query: dict[str, str], token: str, body: Any
    ) -> tuple[int, Any, dict[str, str]]:
        self.seen.append((method, path, body))
        if token != f"Bearer {TOKEN}":
            return 401, {"message": "401 Unauthorized"}, {}
        if path == "/api/v4/user":
            return 200, ME, {}
        base = f"/api/v4/projects/{PROJECT}/merge_requests/{NUMBER}"
        if method == "GET" and path == base:
            page = f"https://gitlab.example/octo/demo/-/merge_requests/{NUMBER}"
            return 200, {"iid": int(NUMBER), "sha": self.head, "web_url": page}, {}
        if method == "GET" and path == f"{base}/notes":
            return self._list(path, query)
        if method != "GET" and self.refuse:
            return *self.refuse, {}
        if method in ("POST", "PUT"):
            if not isinstance(body, dict) or set(body) != {"body"} or not body["body"]:
                self.violations.append(f"{method} {path}: {body!r}")
                return 400, {"error": "body is missing"}, {}
            if method == "POST" and path == f"{base}/notes":
                return 201, self.add(body["body"]), {}
        found = next((n for n in self.notes if path == f"{base}/notes/{n['id']}"), None)
        if found is None:
            return 404, {"message": "404 Not found"}, {}
        if method == "DELETE":
            self.notes.remove(found)
            return 204, None, {}
        found["body"] = body["body"]
        return 200, found, {}

    def _list(self, path: str, query: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        for name, value in query.items():
            allowed = LIST.get(name, ())
            if not (value.isdecimal() if allowed is None else value in allowed):
                self.violations.append(f"{path}: {name}={value}")
        size, page = min(int(query.get("per_page", 20)), 100), int(query.get("page", 1))
        newest_first = query.get("sort", "desc") == "desc"
        items = sorted(self.notes, key=lambda note: note["id"], reverse=newest_first)
        headers = {}
        if page * size < len(items):
            following = urlencode({**query, "page": page + 1})
            headers["Link"] = f'<{self.url}{path}?{following}>; rel="next"'
        return 200, items[(page - 1) * size : page * size], headers


@contextmanager
def serving(gitlab: GitLab) -> Iterator[GitLab]:
    """`gitlab.url` answers while the block runs; an AssertionError tells what broke the rules."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_all(self) -> None:
            parts = urlsplit(self.path)
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            token = self.headers.get("Authorization", "")
            query = dict(parse_qsl(parts.query))
            body = json.loads(raw) if raw else None
            status, said, headers = gitlab.answer(self.command, parts.path, query, token, body)
            data = b"" if said is None else json.dumps(said).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_DELETE = handle_all

        def log_message(self, *_: object) -> None:
            return

    with listening(Handler) as gitlab.url:
        yield gitlab
        assert gitlab.violations == []
