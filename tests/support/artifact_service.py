"""GitHub's artifact service and its blob store on loopback, as far as an upload needs them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

from tests.support.github_server import Answer
from tests.support.loopback import listening

SECRET = "c2lnbmF0dXJl"  # the signature in an address of the store


@dataclass
class ArtifactService:
    """`faults` are answered first, one a request, where their text occurs in method and path."""

    url: str = ""
    store: str = ""  # where blobs go; empty: here
    faults: list[tuple[str, Answer]] = field(default_factory=list)
    artifacts: dict[str, dict[str, Any]] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    blocks: dict[str, bytes] = field(default_factory=dict)
    seen: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    deleted: list[dict[str, Any]] = field(default_factory=list)
    linger: int = 0  # conflicts that are still answered after a deletion

    def job(self, **more: str) -> dict[str, str]:
        """What a job has in its environment."""
        claims = json.dumps({"scp": "Actions.Example Actions.Results:run-1:job-1"}).encode()
        token = f"e30.{base64.urlsafe_b64encode(claims).decode().rstrip('=')}.c2ln"
        address = {"ACTIONS_RUNTIME_TOKEN": token, "ACTIONS_RESULTS_URL": f"{self.url}/some/path/"}
        return {**address, "GITHUB_SERVER_URL": "https://github.com", **more}

    def had(self, name: str, **more: str) -> None:
        """An artifact that an earlier upload left."""
        owner = {"workflow_run_backend_id": "run-1", "workflow_job_run_backend_id": "job-1"}
        self.artifacts[name] = {"name": name, "database_id": "1", **owner, **more}

    def handle(self, line: str, headers: dict[str, str], body: bytes) -> Answer:
        self.seen.append((line, headers))
        for index, (part, answer) in enumerate(self.faults):
            if part in line:
                del self.faults[index]
                return answer
        method, address = line.split(" ")
        parts = urlsplit(address)
        if method == "PUT":
            return self._written(parts.path, parse_qs(parts.query), body)
        if headers.get("authorization") != f"Bearer {self.job()['ACTIONS_RUNTIME_TOKEN']}":
            return Answer(401, {"code": "unauthenticated", "msg": "who is it?"})
        return self._called(parts.path.rsplit("/", 1)[1], json.loads(body))

    def _written(self, path: str, query: dict[str, list[str]], body: bytes) -> Answer:
        assert query["sig"] == [SECRET]
        if query["comp"] == ["block"]:
            self.blocks[query["blockid"][0]] = body
        else:
            names = [str(latest.text) for latest in ElementTree.fromstring(body)]
            self.blobs[path] = b"".join(self.blocks[name] for name in names)
        return Answer(201)

    def _called(self, method: str, body: dict[str, Any]) -> Answer:
        name = body.get("name", "")
        match method:
            case "CreateArtifact":
                if name in self.artifacts or self.linger > 0:
                    self.linger -= name not in self.artifacts
                    return Answer(409, {"code": "already_exists", "msg": "it exists"})
                where = f"{self.store or self.url}/blob/{name}?sig={SECRET}"
                return Answer(200, {"ok": True, "signed_upload_url": where})
            case "FinalizeArtifact":
                self.artifacts[name] = body
                return Answer(200, {"ok": True, "artifact_id": "77"})
            case "ListArtifacts":
                kept = self.artifacts.get(body["name_filter"])
                return Answer(200, {"artifacts": [kept] if kept else []})
            case "DeleteArtifact":
                self.deleted.append(self.artifacts.pop(name))
                return Answer(200, {"ok": True, "artifact_id": "1"})
        return Answer(404, {"code": "bad_route", "msg": method})


@contextmanager
def storing(service: ArtifactService) -> Iterator[ArtifactService]:
    """`service.url` answers while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {key.lower(): value for key, value in self.headers.items()}
            answer = service.handle(f"{self.command} {self.path}", headers, body)
            data = answer.body if isinstance(answer.body, bytes) else b""
            if answer.body is not None and not isinstance(answer.body, bytes):
                data = json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for key, value in {"Content-Length": str(len(data)), **answer.headers}.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_PUT = answer

        def log_message(self, *_: object) -> None:
            return

    with listening(Handler) as service.url:
        yield service
