"""The sample agent over HTTP on loopback: OpenAI-compatible, OpenAgent and plain."""

from __future__ import annotations

import errno
import hmac
import json
import os
import socketserver
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast

from gate.errors import AgentFailure, UsageError
from gate.records import Json, Response
from gate.sample import protocols
from gate.sample.analyst import MODEL, ask
from gate.sample.database import open_image
from gate.sample.faults import Counting
from gate.sample.knowledge import Knowledge
from gate.sample.options import SampleOptions
from gate.sample.protocols import BadRequest

_MAX_BODY = 1_000_000  # bytes
_IDLE_S = 60.0  # a silent connection is closed after this
_ASKING = ("/v1/chat/completions", "/api/chat/completions", "/ask")
_OPENAGENT = "/api/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What every connection shares. With an `api_key`, requests must carry it as a bearer token."""

    knowledge: Knowledge
    options: SampleOptions
    counting: Counting
    api_key: str | None = None


class SampleServer(ThreadingHTTPServer):
    """A thread a connection; connections stay open between requests."""

    daemon_threads = True
    request_queue_size = 256
    allow_reuse_address = os.name != "nt"  # on Windows it would let two servers share a port
    timeout = 0.2  # seconds until handle_request gives up, so that its caller can stop

    def __init__(self, host: str, port: int, service: Service) -> None:
        """Listens at once; port 0 takes a free one. Raises UsageError when the port is taken."""
        self.service = service
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            raise UsageError(f"--host {host} --port {port}: {_why(error)}") from error

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # HTTPServer's own asks the DNS for our name
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    @property
    def url(self) -> str:
        return f"http://{self.server_name}:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "sample-agent"
    timeout = _IDLE_S
    disable_nagle_algorithm = True
    wbufsize = -1  # one packet for head and body

    def setup(self) -> None:
        super().setup()
        self.service = cast(SampleServer, self.server).service
        self.database = open_image(self.service.knowledge.database.image)

    def finish(self) -> None:
        with closing(self.database):
            super().finish()

    def do_GET(self) -> None:
        if self.path == "/api/health":
            self._send(200, protocols.openagent_status("ok"))
        elif self.path == "/health":
            self._send(200, {"status": "ok", "model": MODEL})
        elif self.path == "/v1/models":
            self._send(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        else:
            self._fail(404, f"there is no GET {self.path}", "not_found")

    def do_POST(self) -> None:
        try:
            body = self._body()
            if self.path not in _ASKING:
                self._fail(404, f"there is no POST {self.path}", "not_found")
            elif not self._allowed():
                self._fail(401, "Authentication failed: the key is missing or wrong", "bad_key")
            elif self.path == "/ask":
                self._plain(body)
            else:
                self._chat(protocols.chat_request(body))
        except BadRequest as error:
            self._fail(error.status, str(error), "bad_request")
        except AgentFailure as error:
            self._fail(500, str(error), "agent_failure")

    def _plain(self, body: Json) -> None:
        question = protocols.plain_question(body)
        started = time.perf_counter()
        response = self._ask(question)
        latency_ms = 1000 * (time.perf_counter() - started)
        self._send(200, protocols.plain_answer(response, latency_ms=latency_ms))

    def _chat(self, request: protocols.ChatRequest) -> None:
        response = self._ask(request.question)
        number, created = uuid.uuid4().hex, int(time.time())
        openagent = self.path.startswith(_OPENAGENT)
        if request.stream:
            self._stream(
                protocols.chunks(
                    response, request, number=number, created=created, with_trace=not openagent
                )
            )
        elif openagent:
            self._send(
                200,
                protocols.openagent_completion(response, request, number=number, created=created),
            )
        else:
            self._send(200, protocols.openai_completion(response, number=number, created=created))

    def _ask(self, question: str) -> Response:
        service = self.service
        nth = service.counting.next(question)
        time.sleep(service.options.latency_ms / 1000)
        return ask(
            question,
            nth=nth,
            knowledge=service.knowledge,
            options=service.options,
            connection=self.database,
        )

    def _allowed(self) -> bool:
        key, sent = self.service.api_key, self.headers.get("Authorization", "")
        return key is None or hmac.compare_digest(f"Bearer {key}".encode(), sent.encode())

    def _body(self) -> Json:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            self.close_connection = True
            raise BadRequest("a Content-Length is needed", status=411)
        if int(length) > _MAX_BODY:
            self.close_connection = True
            raise BadRequest(f"the body is larger than {_MAX_BODY} bytes", status=413)
        try:
            return json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as error:
            raise BadRequest("the body is not JSON") from error

    def _fail(self, status: int, message: str, code: str) -> None:
        """An error in the shape of the protocol that was spoken; OpenAgent's have status 200."""
        if self.path.startswith(_OPENAGENT):
            self._send(200, protocols.openagent_status("error", message))
        else:
            kind = "server_error" if status >= 500 else "invalid_request_error"
            self._send(status, protocols.openai_error(message, kind=kind, code=code))

    def _send(self, status: int, body: Json) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, lines: Iterator[str]) -> None:
        chunked = self.request_version != "HTTP/1.0"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in lines:
            data = f"data: {line}\n\n".encode()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)
            self.wfile.flush()
        if chunked:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged: the trace of an answer says more."""


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return "this address is already in use - choose another port, or 0 for a free one"
    return f"cannot listen there ({error}) - choose another address or port"
