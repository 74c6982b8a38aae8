"""The sample agent over HTTP on loopback: OpenAI-compatible, OpenAgent and plain."""

from __future__ import annotations

import errno
import hmac
import json
import os
import socketserver
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal, cast

from gate.agents.sample_agent import protocols
from gate.agents.sample_agent.analyst import MODEL, ask
from gate.agents.sample_agent.database import open_image
from gate.agents.sample_agent.faults import Counting
from gate.agents.sample_agent.knowledge import Knowledge
from gate.agents.sample_agent.openagent import TOOLS_OFFERED, Workplace, answer_chat
from gate.agents.sample_agent.options import SampleOptions
from gate.agents.sample_agent.protocols import BadRequest
from gate.agents.sample_agent.scratch_files import Scratch
from gate.agents.sample_agent.server_lines import EndedRequest
from gate.agents.sample_agent.server_log import Counters, ServerLog
from gate.errors import AgentFailure, UsageError
from gate.records import Json, Response

Key = Literal["store", "provider"]

_MAX_BODY = 1_000_000  # bytes
_IDLE_S = 60.0  # a silent connection is closed after this
_ASKING = ("/v1/chat/completions", "/api/chat/completions", "/api/v1/chat/completions", "/ask")
_READING = ("/api/health", "/api/metrics", "/health", "/v1/models")
_OPENAGENT = "/api/"
_NO_PROVIDER = "Authentication failed: The provider is not found"


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
        with self._log_request(_READING):
            self._get()

    def do_POST(self) -> None:
        with self._log_request(_ASKING):
            self._post()

    @contextmanager
    def _log_request(self, routes: tuple[str, ...]) -> Iterator[None]:
        """The line of the access log comes after the answer, as OpenAgent's does."""
        self.status, started = 0, time.perf_counter_ns()
        try:
            yield
            self.wfile.flush()
        finally:
            ended = EndedRequest(
                address=self.client_address[0],
                method=self.command,
                path=self.path.partition("?")[0],
                status=self.status,
                ns=time.perf_counter_ns() - started,
                known=self.path in routes,
            )
            self.service.counters.count_request(ended)
            if self.service.log:
                self.service.log.log_request(ended)

    def send_response(self, code: int, message: str | None = None) -> None:
        self.status = code
        super().send_response(code, message)

    def _get(self) -> None:
        if self.path == "/api/health":
            self._send(200, protocols.openagent_status("ok"))
        elif self.path == "/api/metrics":
            self._reply(200, self.service.counters.text().encode(), "text/plain; version=0.0.4")
        elif self.path == "/health":
            self._send(200, {"status": "ok", "model": MODEL})
        elif self.path == "/v1/models":
            self._send(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        else:
            self._fail(404, f"there is no GET {self.path}", "not_found")

    def _post(self) -> None:
        try:
            body = self._body()
            openagent = self.path.startswith(_OPENAGENT)
            key = self.service.key_of(self.headers.get("Authorization", ""))
            if self.path not in _ASKING:
                self._fail(404, f"there is no POST {self.path}", "not_found")
            elif openagent and key:
                self._openagent(protocols.chat_request(body), key)
            elif openagent:
                self._fail(401, _NO_PROVIDER, "bad_key")
            elif key != "store":
                self._fail(401, "Authentication failed: the key is missing or wrong", "bad_key")
            elif self.path == "/ask":
                self._plain(body)
            else:
                self._openai(protocols.chat_request(body))
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

    def _openai(self, request: protocols.ChatRequest) -> None:
        response = self._ask(request.question)
        number, created = uuid.uuid4().hex, int(time.time())
        if request.stream:
            self._stream(
                protocols.chunks(response, request, number=number, created=created, with_trace=True)
            )
        else:
            self._send(200, protocols.openai_completion(response, number=number, created=created))

    def _openagent(self, request: protocols.ChatRequest, key: Key) -> None:
        service, tools = self.service, key == "store"
        place = Workplace(
            knowledge=service.knowledge,
            options=service.options,
            connection=self.database,
            scratch=service.scratch,
            now=service.now,
        )
        nth = self._wait(request.question)
        response = answer_chat(request.question, place, nth=nth, system=request.system, tools=tools)
        number, created = str(uuid.uuid4()), int(service.now().timestamp())
        service.counters.count_answer(response)
        if tools and service.log:  # a plain call of a model is no chat, and leaves nothing
            service.log.log_answer(response, chat=f"chat_{number[:8]}", offered=TOOLS_OFFERED)
        if request.stream:
            self._stream(
                protocols.chunks(
                    response, request, number=number, created=created, with_trace=False
                )
            )
        else:
            self._send(
                200,
                protocols.openagent_completion(response, request, number=number, created=created),
            )

    def _ask(self, question: str) -> Response:
        return ask(
            question,
            nth=self._wait(question),
            knowledge=self.service.knowledge,
            options=self.service.options,
            connection=self.database,
        )

    def _wait(self, question: str) -> int:
        """Waits as long as `latency_ms` says; how often the question was asked, this included."""
        nth = self.service.counting.next(question)
        time.sleep(self.service.options.latency_ms / 1000)
        return nth

    def _body(self) -> Json:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            self.close_connection = True
            raise BadRequest("a Content-Length is needed", status=411)
        if int(length) > _MAX_BODY:
            self.close_connection = True
            raise BadRequest(f"the body is larger than {_MAX_BODY} bytes", status=413)
        try:
            body: Json = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as error:
            raise BadRequest("the body is not JSON") from error
        return body

    def _fail(self, status: int, message: str, code: str) -> None:
        """An error in the shape of the protocol that was spoken; OpenAgent's have status 200."""
        if self.path.startswith(_OPENAGENT):
            self._send(200, protocols.openagent_status("error", message))
        else:
            kind = "server_error" if status >= 500 else "invalid_request_error"
            self._send(status, protocols.openai_error(message, kind=kind, code=code))

    def _send(self, status: int, body: Json) -> None:
        self._reply(status, json.dumps(body).encode(), "application/json")

    def _reply(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
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
        """Nothing on the terminal; the logs are those that `--log-dir` asks for."""


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return "this address is already in use - choose another port, or 0 for a free one"
    return f"cannot listen there ({error}) - choose another address or port"


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What every connection shares.

    With an `api_key` (a store key) or a `provider_key`, requests must carry one of them as bearer
    token; without any, every request is one with a store key.
    """

    knowledge: Knowledge
    options: SampleOptions
    counting: Counting
    api_key: str | None = None
    provider_key: str | None = None
    log: ServerLog | None = None
    scratch: Scratch | None = None
    now: Callable[[], datetime] = field(default=lambda: datetime.now().astimezone())
    counters: Counters = field(default_factory=Counters)

    def key_of(self, authorization: str) -> Key | None:
        """The kind of key that was sent; None: none that is known."""
        if self.api_key is None and self.provider_key is None:
            return "store"
        keys: tuple[tuple[str | None, Key], ...] = (
            (self.api_key, "store"),
            (self.provider_key, "provider"),
        )
        sent = authorization.encode()
        key_fields = [
            kind
            for key, kind in keys
            if key and hmac.compare_digest(f"Bearer {key}".encode(), sent)
        ]
        return key_fields[0] if key_fields else None
