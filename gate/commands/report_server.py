"""An HTTP server of report files, on 127.0.0.1 alone.

It gives the list of sessions in one folder, the files of FILES of each, and nothing else: no
listing of its own, no way out through `..` or a link. A page elsewhere cannot read them under a
name of its own: the Host has to be this address.
"""

from __future__ import annotations

import os
import socketserver
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

from gate.errors import UsageError
from gate.report.session_index.keep import INDEX
from gate.store.session import is_session

LOOPBACK = "127.0.0.1"
FILES = {
    INDEX: "text/html",
    "report.html": "text/html",
    "report.md": "text/plain",
    "comment.md": "text/plain",
    "summary.json": "application/json",
    "junit.xml": "application/xml",
}
# A page of ours has a narrower policy in itself; scripts of theirs run only with its hash.
# The list of sessions asks the reports in frames.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "frame-src 'self'; base-uri 'none'; frame-ancestors 'self'"
)
_IDLE_S = 10.0


class ReportServer(ThreadingHTTPServer):
    """Listens at once; port 0 takes a free one."""

    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # on Windows it would let two servers share a port
    timeout = 0.2  # seconds until handle_request gives up, so that its caller can stop

    def __init__(self, folder: Path, port: int, *, first: str) -> None:
        """`first`: the session that `/` leads to. Raises UsageError when the port is taken."""
        self.folder, self.first = folder, first
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except (OSError, OverflowError) as error:
            raise UsageError(f"--port {port}: {error}; choose another, or leave it out") from error

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # HTTPServer's own asks the DNS for our name
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}"

    def find_file(self, path: str) -> Path | None:
        """The file that the path of an address names; None for all that is not one of ours."""
        if path == f"/{INDEX}":
            index = self.folder / INDEX
            return index if not index.is_symlink() and index.is_file() else None
        parts = unquote(path).split("/")
        if len(parts) != 3 or parts[0]:
            return None
        _, session, name = parts
        folder = self.folder / session
        # What is no plain name, such as `..`, has another parent or another name than it says.
        if folder.parent != self.folder or folder.name != session or folder.is_symlink():
            return None
        file = folder / name
        known = name in FILES and name != INDEX and not file.is_symlink() and file.is_file()
        return file if known and is_session(folder) else None


class _Handler(BaseHTTPRequestHandler):
    server: ReportServer
    timeout = _IDLE_S
    server_version, sys_version = "gate", ""

    def do_GET(self) -> None:
        self._answer(whole=True)

    def do_HEAD(self) -> None:
        self._answer(whole=False)

    def _answer(self, *, whole: bool) -> None:
        port = self.server.server_port
        if self.headers.get("Host") not in (f"{LOOPBACK}:{port}", f"localhost:{port}"):
            self.send_error(HTTPStatus.FORBIDDEN)
            return
        path = self.path.partition("?")[0]
        if path == "/":
            self.send_response(HTTPStatus.FOUND)
            self.send_header("Location", f"/{self.server.first}/report.html")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        file = self.server.find_file(path)
        if file is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        self._send(file, whole=whole)

    def _send(self, file: Path, *, whole: bool) -> None:
        try:
            body = file.read_bytes()
        except OSError:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        self.send_response(HTTPStatus.OK)
        for name, value in (
            ("Content-Type", f"{FILES[file.name]}; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", POLICY),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        self.end_headers()
        if whole:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is told of requests."""
