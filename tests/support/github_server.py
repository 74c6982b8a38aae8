"""A small stateful GitHub on loopback; each request is checked against GitHub's description."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from openapi_core import OpenAPI
from openapi_core.datatypes import RequestParameters
from openapi_core.exceptions import OpenAPIError
from werkzeug.datastructures import Headers, ImmutableMultiDict

from tests.support.loopback import listening
from tests.support.paths import DATA

DESCRIPTION = DATA / "github_api.json"
REPOSITORY, REPOSITORY_ID = "octo/demo", 42
BOT = {"login": "github-actions[bot]", "type": "Bot"}
HEAD = "a" * 40


@cache
def description() -> dict[str, Any]:
    return json.loads(DESCRIPTION.read_bytes())


@cache
def openapi() -> OpenAPI:
    return OpenAPI.from_dict(description())


@dataclass
class Answer:
    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Seen:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class GitHub:
    """The state; `faults` are answered first, one a request, where their path part occurs."""

    login: str | None = None  # None: a workflow's token, which may not ask who it is
    author: Mapping[str, str] = field(default_factory=lambda: dict(BOT))
    read_only: bool = False
    heads: dict[int, str] = field(default_factory=lambda: {3: HEAD})
    pulls: list[dict[str, Any]] = field(default_factory=list)
    comments: list[dict[str, Any]] = field(default_factory=list)
    contents: dict[tuple[str, str], bytes] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)
    artifacts: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    blobs: dict[int, Answer] = field(default_factory=dict)
    stores: dict[int, str] = field(default_factory=dict)  # artifact -> where else its zip is
    commits: dict[str, list[str]] = field(default_factory=dict)  # sha -> itself and its ancestors
    trees: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # tree id -> its entries
    large: set[str] = field(default_factory=set)  # ids of trees that are listed in part
    tags: dict[str, str] = field(default_factory=dict)  # name -> sha
    releases: list[dict[str, Any]] = field(default_factory=list)  # newest first
    checks: list[dict[str, Any]] = field(default_factory=list)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    forbidden: tuple[str, ...] = ()  # first parts of paths that the token may not write
    permissions: dict[str, str] = field(default_factory=dict)  # login -> admin, write, read
    merged: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # sha -> its pulls
    reruns: list[str] = field(default_factory=list)  # "7/rerun"
    reactions: list[tuple[int, str]] = field(default_factory=list)
    issues: list[dict[str, Any]] = field(default_factory=list)
    faults: list[tuple[str, Answer]] = field(default_factory=list)
    comment_limit: int = 65_536
    blob_scheme: str = "http"
    seen: list[Seen] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    url: str = ""
    next_id: int = 1000
    lock: threading.RLock = field(default_factory=threading.RLock)

    def comment(self, body: str, *, user: Mapping[str, str] = BOT) -> dict[str, Any]:
        with self.lock:
            self.next_id += 1
            url = f"https://example.test/c/{self.next_id}"
            made = {"id": self.next_id, "body": body, "user": dict(user), "html_url": url}
            self.comments.append(made)
            return made

    def requests(self, method: str) -> list[Seen]:
        return [seen for seen in self.seen if seen.method == method]

    def handle(self, seen: Seen) -> Answer:
        with self.lock:
            self.seen.append(seen)
            for index, (part, answer) in enumerate(self.faults):
                if part in f"{seen.method} {seen.path}":
                    del self.faults[index]
                    return answer
            if seen.path.startswith("/blob/"):
                return self.blobs[int(seen.path.rsplit("/", 1)[1])]
            if not self._fits(seen):
                return Answer(422, {"message": "not as GitHub's description has it"})
            if "authorization" not in seen.headers:
                return Answer(401, {"message": "Requires authentication"})
            part = seen.path.removeprefix(f"/repos/{REPOSITORY}/")
            refused = self.read_only or part.startswith(self.forbidden or "/")
            if refused and seen.method != "GET":
                return Answer(403, {"message": "Resource not accessible by integration"})
            return self._route(seen)

    def _issues(self, seen: Seen) -> Answer:
        if seen.method == "POST":
            number = len(self.issues) + 1
            made = {**seen.body, "number": number, "id": 1000 + number, "state": "open"}
            made["html_url"] = f"https://example.test/issues/{number}"
            made["labels"] = [{"name": name} for name in seen.body.get("labels", [])]
            self.issues.append(made)
            return Answer(201, made)
        wanted = [
            one
            for one in self.issues
            if one["state"] == seen.query.get("state", "open")
            and seen.query.get("labels", "") in [label["name"] for label in one["labels"]]
        ]
        return self._page(seen, wanted[::-1])  # newest first, as GitHub lists them

    def _compare(self, base: str, head: str) -> Answer:
        """`commits` has the line of each commit, newest first; of a branch by its name."""
        line = self.commits.get(base)
        if line is None or head not in self.known_commits():
            return Answer(404, {"message": "Not Found"})
        status = "identical" if line[:1] == [head] else "behind" if head in line else "diverged"
        return Answer(200, {"status": status})

    def known_commits(self) -> set[str]:
        """All that the server has."""
        return {sha for line in self.commits.values() for sha in line} | set(self.commits)

    def _fits(self, seen: Seen) -> bool:
        try:
            openapi().validate_request(_Described(seen))
        except OpenAPIError as error:
            cause = error.__cause__ or error
            self.violations.append(f"{seen.method} {seen.path}: {error}: {cause}")
            return False
        return True

    def _route(self, seen: Seen) -> Answer:
        prefix = f"/repos/{REPOSITORY}"
        if seen.path == "/user":
            refused = Answer(403, {"message": "Resource not accessible by integration"})
            return Answer(200, {"login": self.login}) if self.login else refused
        if not seen.path.startswith(prefix):
            return Answer(404, {"message": "Not Found"})
        match [unquote(part) for part in seen.path.removeprefix(prefix).split("/") if part]:
            case ["issues"]:
                return self._issues(seen)
            case ["issues", number] if seen.method == "PATCH":
                (issue,) = [one for one in self.issues if one["number"] == int(number)]
                issue.update(seen.body)
                return Answer(200, issue)
            case ["issues", _, "comments"]:
                return self._comments(seen)
            case ["compare", ends]:
                return self._compare(*ends.split("..."))
            case ["issues", "comments", number]:
                return self._one_comment(seen, int(number))
            case ["pulls"]:
                wanted = [p for p in self.pulls if p["label"] == seen.query.get("head")]
                return self._page(seen, wanted)
            case ["pulls", number]:
                return Answer(200, {"head": {"sha": self.heads[int(number)]}})
            case ["check-runs"]:
                return self._new_check(seen.body)
            case ["check-runs", number]:
                return self._changed_check(int(number), seen.body)
            case ["commits", sha, "check-runs"]:
                return self._page(seen, self._checks_of(sha, seen.query), "check_runs")
            case ["statuses", sha]:
                self.statuses.append({"sha": sha, **seen.body})
                return Answer(201, {"id": 1, "state": seen.body["state"]})
            case ["collaborators", login, "permission"]:
                return self._permission(login)
            case ["commits", sha, "pulls"]:
                return self._page(seen, self.merged.get(sha, []))
            case ["issues", "comments", number, "reactions"]:
                self.reactions.append((int(number), seen.body["content"]))
                return Answer(201, {"id": 1})
            case ["actions", "runs", run]:
                found = [one for one in self.runs if str(one["id"]) == run]
                return Answer(200, found[0]) if found else Answer(404, {"message": "Not Found"})
            case ["actions", "runs", run, "rerun" | "rerun-failed-jobs" as what]:
                self.reruns.append(f"{run}/{what}")
                return Answer(201, {})
            case ["contents", *path]:
                return self._contents("/".join(path), seen.query.get("ref", "main"), seen)
            case ["tags"]:
                named = [{"name": n, "commit": {"sha": sha}} for n, sha in self.tags.items()]
                return self._page(seen, named)
            case ["releases"]:
                return self._page(seen, self.releases)
            case ["commits", ref]:
                sha = self.tags.get(ref.removeprefix("tags/"))
                return Answer(200, {"sha": sha}) if sha else Answer(422, {"message": "No commit"})
            case ["commits"]:
                known = self.commits.get(seen.query["sha"])
                if known is None:
                    return Answer(404, {"message": "Not Found"})
                return self._page(seen, [{"sha": sha} for sha in known])
            case ["actions", "runs"] | ["actions", "workflows", _, "runs"]:
                sha = seen.query.get("head_sha")
                runs = [run for run in self.runs if sha in (None, run["head_sha"])]
                for key, of in (("branch", "head_branch"), ("event", "event")):
                    wanted = seen.query.get(key)
                    runs = [run for run in runs if wanted in (None, run.get(of, wanted))]
                return self._page(seen, runs, "workflow_runs")
            case ["git", "trees", sha]:
                files = self.trees.get(sha)
                if files is None:
                    return Answer(404, {"message": "Not Found"})
                return Answer(200, {"sha": sha, "truncated": sha in self.large, "tree": files})
            case ["actions", "runs", run, "artifacts"]:
                return self._page(seen, self.artifacts.get(int(run), []), "artifacts")
            case ["actions", "artifacts"]:
                return self._page(seen, self._named(seen.query["name"]), "artifacts")
            case ["actions", "artifacts", number, "zip"]:
                own = f"{self.url.replace('http', self.blob_scheme, 1)}/blob/{number}"
                where = self.stores.get(int(number), own)
                return Answer(302, None, {"Location": where})
        return Answer(404, {"message": "Not Found"})

    def _named(self, name: str) -> list[dict[str, Any]]:
        """The artifacts of that name of all runs, newest first."""
        found = [
            {**artifact, "workflow_run": {"id": run}}
            for run, artifacts in self.artifacts.items()
            for artifact in artifacts
            if artifact["name"] == name
        ]
        return sorted(found, key=lambda artifact: artifact["id"], reverse=True)

    def _comments(self, seen: Seen) -> Answer:
        if seen.method == "GET":
            return self._page(seen, sorted(self.comments, key=lambda c: c["id"]))
        too_long = self._too_long(seen.body["body"])
        return too_long or Answer(201, dict(self.comment(seen.body["body"], user=self.author)))

    def _one_comment(self, seen: Seen, number: int) -> Answer:
        found = next((c for c in self.comments if c["id"] == number), None)
        if found is None:
            return Answer(404, {"message": "Not Found"})
        if seen.method == "DELETE":
            self.comments.remove(found)
            return Answer(204)
        if too_long := self._too_long(seen.body["body"]):
            return too_long
        found["body"] = seen.body["body"]
        return Answer(200, dict(found))

    def _too_long(self, body: str) -> Answer | None:
        if len(body) <= self.comment_limit:
            return None
        inner = "Body is too long (maximum is 65536 characters)"
        return Answer(422, {"message": "Validation Failed", "errors": [{"message": inner}]})

    def _new_check(self, body: dict[str, Any]) -> Answer:
        number = len(self.checks) + 1
        url = f"https://example.test/check/{number}"
        self.checks.append({"id": number, "html_url": url, "status": "queued", **_appended(body)})
        return Answer(201, self.checks[-1])

    def _changed_check(self, number: int, body: dict[str, Any]) -> Answer:
        """Annotations are appended, the rest is replaced."""
        found = next((check for check in self.checks if check["id"] == number), None)
        if found is None:
            return Answer(404, {"message": "Not Found"})
        before = found.get("output", {}).get("annotations", [])
        found.update(_appended(body, before))
        return Answer(200, found)

    def _checks_of(self, sha: str, query: Mapping[str, str]) -> list[dict[str, Any]]:
        name, status = query.get("check_name"), query.get("status")
        return [
            check
            for check in self.checks
            if check["head_sha"] == sha
            and name in (None, check["name"])
            and status in (None, check["status"])
        ]

    def _permission(self, login: str) -> Answer:
        known = self.permissions.get(login)
        if known is None:
            return Answer(404, {"message": "Not Found"})
        return Answer(200, {"permission": known, "role_name": known})

    def _contents(self, path: str, ref: str, seen: Seen) -> Answer:
        if (ref, path) in self.contents:
            data = self.contents[ref, path]
            if "raw" in seen.headers["accept"]:
                return Answer(200, data, {"Content-Type": "application/octet-stream"})
            if len(data) > 1 << 20:
                return Answer(200, {"type": "file", "encoding": "none", "content": ""})
            content = base64.encodebytes(data).decode()
            return Answer(200, {"type": "file", "encoding": "base64", "content": content})
        inside = [p for r, p in self.contents if r == ref and p.startswith(f"{path}/")]
        names = {p.removeprefix(f"{path}/").split("/")[0] for p in inside}
        entries = [
            {"name": n, "type": "file" if f"{path}/{n}" in inside else "dir"} for n in sorted(names)
        ]
        return Answer(200, entries) if entries else Answer(404, {"message": "Not Found"})

    def _page(self, seen: Seen, items: list[dict[str, Any]], key: str = "") -> Answer:
        size, page = int(seen.query.get("per_page", 30)), int(seen.query.get("page", 1))
        part = items[(page - 1) * size : page * size]
        headers = {}
        if page * size < len(items):
            query = _query({**seen.query, "page": str(page + 1)})
            headers["Link"] = f'<https://elsewhere.test{seen.path}?{query}>; rel="next"'
        return Answer(200, {"total_count": len(items), key: part} if key else part, headers)


def _appended(body: dict[str, Any], before: list[Any] | None = None) -> dict[str, Any]:
    output = body.get("output")
    if output is None:
        return body
    annotations = [*(before or []), *output.get("annotations", [])]
    return {**body, "output": {**output, "annotations": annotations}}


def _query(items: Mapping[str, str]) -> str:
    return "&".join(f"{key}={quote(value)}" for key, value in items.items())


class _Described:
    """A request as openapi-core wants to see it."""

    def __init__(self, seen: Seen) -> None:
        self.host_url = "https://api.github.com"
        self.path = seen.path
        self.full_url_pattern = self.host_url + self.path
        self.method = seen.method.lower()
        self.content_type = seen.headers.get("content-type", "")
        self.body = json.dumps(seen.body).encode() if seen.body is not None else None
        self.parameters = RequestParameters(
            query=ImmutableMultiDict(seen.query), header=Headers(seen.headers), path={}
        )


@contextmanager
def serving(github: GitHub) -> Iterator[GitHub]:
    """`github.url` answers while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            headers = {key.lower(): value for key, value in self.headers.items()}
            body = json.loads(raw) if raw else None
            seen = Seen(self.command, parts.path, dict(parse_qsl(parts.query)), headers, body)
            self.reply(github.handle(seen))

        def reply(self, answer: Answer) -> None:
            data = answer.body if isinstance(answer.body, bytes) else b""
            if answer.body is not None and not isinstance(answer.body, bytes):
                data = json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for key, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(key, value)
            if answer.status != 204:
                self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if answer.status != 204:
                self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = answer

        def log_message(self, *_: object) -> None:
            return

    with listening(Handler) as github.url:
        yield github
