"""The two servers that the gate talks to: a model and a small GitHub. What they answer follows from
the request and, where a mode says so, from how often it was made.

    /SCENARIO/MODE/...    the model: OpenAI's, Anthropic's and OpenAgent's protocol and plain JSON
    /SCENARIO/github/...  GitHub's REST API, as far as the gate's own requests
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

PORT = 47_311  # always the same one: addresses stand in reports, and are part of digests
ADDRESS = f"http://127.0.0.1:{PORT}"
HEAD, BASE = "a" * 40, "b" * 40
REPOSITORY = "octo/demo"

_PRODUCT = re.compile(r"What is (\d+) times (\d+)\?")
_CANARY = re.compile(r"`canary`: ([0-9a-f]{16})")
_CRITERION = re.compile(r"^- (\w+) \((\d+) to (\d+)\)", re.MULTILINE)
_TALK = (
    'A sentence about it. The planet is Mars, with 2 moons: {"planet": "Mars", "moons": 2}',
    "[2, 3, 5, 7, 11]",
    "I do not know.",
    "# Findings\n\n- one [1](https://example.com/a)\n- two, of 40 %\n\nIn 2031 it was 20:50.\n",
    '```json\n{"date": "2031-03-05", "time": "20:50"}\n```',
    "def f(n):\n    return n * 2\n",
)


def draw(*parts: object, of: int) -> int:
    """A number below `of` that the parts decide."""
    told = "|".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.sha256(told).digest()[:8]) % of


@dataclass
class Reply:
    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Model:
    """`asked` counts the same question in the same mode, from 0."""

    def __init__(self) -> None:
        self._asked: Counter[tuple[str, str, str]] = Counter()

    def reply(self, scenario: str, mode: str, path: str, body: Any) -> Reply:
        if path.endswith("/health"):
            return Reply(body={"status": "ok"})
        material = json.dumps(body, sort_keys=True)
        if mode == "search":
            return Reply(body={"hits": _hits(str(body["query"]))})
        if mode.startswith("judge"):
            return self._judged(mode, body)
        question = _question(body)
        nth = self._asked[scenario, mode, material]
        self._asked[scenario, mode, material] += 1
        if mode == "down":
            return Reply(503, {"error": {"message": "no worker is free"}})
        if mode == "odd" and (found := _odd(question, nth)) is not None:
            return found
        return Reply(body=_spoken(path, question, self._text(mode, question, nth), mode))

    def _text(self, mode: str, question: str, nth: int) -> str:
        found = _PRODUCT.search(question)
        if found is None:
            return _TALK[draw(mode, question, nth, of=len(_TALK))]
        wrong = {
            "worse": draw(question, of=3) == 0,
            "noisy": draw(question, nth, of=4) == 0,
            "rare": draw(question, nth, of=40) == 0,
        }
        product = int(found[1]) * int(found[2]) + (1 if wrong.get(mode) else 0)
        return f"{found[1]} times {found[2]} is {product}. See doc-{found[1]}."

    def _judged(self, mode: str, body: Any) -> Reply:
        told = [str(one["content"]) for one in body["messages"]]
        canary = _CANARY.search("\n".join(told))
        if mode == "judge-prose" or canary is None:
            return Reply(body=_chat("It is a fine answer.", {}))
        if mode == "judge-refused":
            return Reply(401, {"error": {"message": "Incorrect API key provided"}})
        found: dict[str, Any] = {}
        answer = re.sub(r"[0-9a-f]{16}", "", told[-1])
        for name, low, high in _CRITERION.findall("\n".join(told)):
            score = int(high) - draw(name, answer, of=8) % 3
            found[name] = {"reason": f"{name} by its length", "score": max(int(low), score)}
        return Reply(
            body=_chat(json.dumps({**found, "addressed_judge": False, "canary": canary[1]}), {})
        )


def _question(body: Any) -> str:
    if not isinstance(body, dict):
        return ""
    messages = body.get("messages") or body.get("input") or body.get("question") or ""
    return messages if isinstance(messages, str) else json.dumps(messages[-1].get("content", ""))


def _hits(query: str) -> list[dict[str, Any]]:
    number = next(iter(re.findall(r"\d+", query)), "0")
    return [{"id": f"doc-{n}", "score": 1 / (1 + draw(query, n, of=9))} for n in (number, 2, 3)]


def _odd(question: str, nth: int) -> Reply | None:
    match draw(question, of=9):
        case 0:
            return Reply(500, {"error": {"message": "it fell over <b>here</b> | @everyone"}})
        case 1:
            return Reply(200, b"{not JSON")
        case 2:
            return Reply(200, {"choices": []})
        case 3:
            return Reply(200, {"error": {"message": "overloaded", "type": "overloaded_error"}})
        case 4 if nth == 0:
            return Reply(429, {"error": {"message": "slow down"}}, {"retry-after-ms": "20"})
        case 5:
            return Reply(302, None, {"Location": "http://127.0.0.1:9/elsewhere"})
    return None


def _spoken(path: str, question: str, text: str, mode: str) -> Any:
    more: dict[str, Any] = {}
    if mode == "tools":
        number = next(iter(re.findall(r"\d+", question)), "0")
        call = {"name": "multiply", "arguments": {"a": int(number), "b": 7}, "result": text}
        search = {"name": "search", "arguments": {"query": question}, "result": f"doc-{number}"}
        steps = [search, call, *([call] * draw(question, of=3)), *([search] * draw(text, of=2))]
        more = {"steps": steps, "retrieved": [f"doc-{number}", "doc-2"], "context": text}
    if path.endswith("/messages"):
        usage = {"input_tokens": len(question), "output_tokens": len(text)}
        content = [{"type": "text", "text": text}]
        told = {"type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
        return {"id": "x", **told, "content": content, "usage": usage, **more}
    if path.endswith("/completions"):
        return _chat(text, more, asked=len(question))
    return {"data": [{"reply": {"text": text}}], "meter": {"in": len(question), "out": len(text)}}


def _chat(text: str, more: Mapping[str, Any], asked: int = 100) -> Any:
    usage = {"prompt_tokens": asked, "completion_tokens": len(text)}
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "x", "model": "m", "choices": [choice], "usage": usage, **more}


@dataclass
class GitHub:
    """One repository; `seen` is what it was asked, in order."""

    contents: dict[tuple[str, str], bytes] = field(default_factory=dict)  # (commit, path)
    comments: list[dict[str, Any]] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    releases: list[dict[str, Any]] = field(default_factory=list)
    seen: list[dict[str, Any]] = field(default_factory=list)

    def reply(self, method: str, path: str, query: dict[str, str], body: Any) -> Reply:
        self.seen.append({"method": method, "path": path, "query": query, "body": body})
        parts = [unquote(part) for part in path.removeprefix(f"/repos/{REPOSITORY}").split("/")]
        match [method, *parts[1:]]:
            case ["GET", "issues", _, "comments"]:
                return Reply(body=list(self.comments) if query.get("page", "1") == "1" else [])
            case ["POST", "issues", _, "comments"]:
                number = 1001 + len(self.comments)
                url = f"https://example.test/c/{number}"
                user = {"login": "github-actions[bot]", "type": "Bot"}
                made = {"id": number, "body": body["body"], "user": user, "html_url": url}
                self.comments.append(made)
                return Reply(201, made)
            case ["PATCH", "issues", "comments", number]:
                found = next(one for one in self.comments if str(one["id"]) == number)
                found["body"] = body["body"]
                return Reply(body=found)
            case ["POST", "issues", "comments", _, "reactions"]:
                return Reply(201, {"id": 1})
            case ["GET", "pulls"]:
                return Reply(body=[])
            case ["GET", "pulls", _]:
                return Reply(body={"head": {"sha": HEAD}})
            case ["POST", "check-runs"]:
                number = 1 + len(self.checks)
                made = {"id": number, "html_url": f"https://example.test/check/{number}", **body}
                self.checks.append(made)
                return Reply(201, made)
            case ["PATCH", "check-runs", number]:
                self.checks[int(number) - 1].update(body)
                return Reply(body=self.checks[int(number) - 1])
            case ["GET", "commits", _, "check-runs"]:
                return Reply(body={"total_count": len(self.checks), "check_runs": self.checks})
            case ["GET", "commits", _, "pulls"]:
                return Reply(body=[])
            case ["GET", "commits"]:
                return Reply(body=[{"sha": query.get("sha")}, {"sha": BASE}])
            case ["GET", "commits", ref]:
                sha = self.tags.get(ref.removeprefix("tags/"))
                return Reply(body={"sha": sha}) if sha else Reply(422, {"message": "No commit"})
            case ["GET", "tags"]:
                named = self.tags.items()
                return Reply(body=[{"name": name, "commit": {"sha": sha}} for name, sha in named])
            case ["GET", "releases"]:
                return Reply(body=self.releases)
            case ["GET", "collaborators", login, "permission"]:
                right = "write" if login == "alice" else "read"
                return Reply(body={"permission": right, "role_name": right})
            case ["GET", "actions", "runs", run]:
                path = ".github/workflows/gate.yml"
                told = {"id": int(run), "head_sha": HEAD, "workflow_id": 1, "path": path}
                return Reply(body={**told, "event": "pull_request", "status": "completed"})
            case ["GET", "actions", "runs"] | ["GET", "actions", "workflows", _, "runs"]:
                return Reply(body={"total_count": 0, "workflow_runs": []})
            case ["GET", "actions", "runs", _, "artifacts"] | ["GET", "actions", "artifacts"]:
                return Reply(body={"total_count": 0, "artifacts": []})
            case ["POST", "actions", "runs", _, _]:
                return Reply(201, {})
            case ["GET", "contents", *rest]:
                return self._content("/".join(rest), query.get("ref", BASE))
        return Reply(404, {"message": "Not Found"})

    def _content(self, path: str, ref: str) -> Reply:
        if (ref, path) in self.contents:
            data = base64.encodebytes(self.contents[ref, path]).decode()
            return Reply(body={"type": "file", "encoding": "base64", "content": data})
        inside = sorted(p for r, p in self.contents if r == ref and p.startswith(f"{path}/"))
        names = dict.fromkeys(one.removeprefix(f"{path}/").split("/")[0] for one in inside)
        found = [{"name": n, "type": "file" if f"{path}/{n}" in inside else "dir"} for n in names]
        return Reply(body=found) if found else Reply(404, {"message": "Not Found"})


@contextmanager
def serving() -> Iterator[Mapping[str, GitHub]]:
    """Both servers at ADDRESS while the block runs; the GitHub of each scenario by its name."""
    model = Model()
    githubs: defaultdict[str, GitHub] = defaultdict(GitHub)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def answer(self) -> None:
            told = urlsplit(self.path)
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(raw) if raw else None
            _, scenario, mode, *rest = told.path.split("/")
            path = "/" + "/".join(rest)
            with lock:
                if mode == "github":
                    query = dict(parse_qsl(told.query))
                    reply = githubs[scenario].reply(self.command, path, query, body)
                    accept = self.headers.get("Accept", "")
                    reply = _raw(reply) if "raw" in accept else reply
                else:
                    reply = model.reply(scenario, mode, path, body)
            self.send(reply)

        def send(self, reply: Reply) -> None:
            data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815 - names of http.server

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield githubs
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _raw(reply: Reply) -> Reply:
    if not isinstance(reply.body, dict) or "content" not in reply.body:
        return reply
    return Reply(200, base64.b64decode(reply.body["content"]))
