"""A loopback server whose every byte is written by the test, to misbehave as real ones do."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress

Handler = Callable[["Peer"], None]


class Peer:
    """One accepted connection; `nth` counts from 0."""

    def __init__(self, sock: socket.socket, nth: int) -> None:
        self.socket = sock
        self.nth = nth
        self._buffer = b""

    def request(self) -> tuple[str, dict[str, str], bytes] | None:
        """(first line, headers in lower case, body); None when the client hung up."""
        while b"\r\n\r\n" not in self._buffer:
            piece = self.socket.recv(65536)
            if not piece:
                return None
            self._buffer += piece
        head, _, rest = self._buffer.partition(b"\r\n\r\n")
        line, *lines = head.decode("latin-1").split("\r\n")
        headers = {k.strip().lower(): v.strip() for k, _, v in (x.partition(":") for x in lines)}
        length = int(headers.get("content-length", 0))
        while len(rest) < length:
            rest += self.socket.recv(65536)
        self._buffer = rest[length:]
        return line, headers, rest[:length]

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def answer(self, body: bytes, status: str = "200 OK", *headers: str) -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
        self.send("\r\n".join(lines).encode("latin-1") + body)

    def drip(self, data: bytes, gap_s: float) -> None:
        for n in range(len(data)):
            self.send(data[n : n + 1])
            time.sleep(gap_s)

    def reset(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class RawServer:
    """Runs `handler` for each connection in a thread of its own, then closes the connection."""

    def __init__(self, handler: Handler, tls: ssl.SSLContext | None = None) -> None:
        self._handler = handler
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}"
        self.connections = 0
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]

    def __enter__(self) -> RawServer:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        for sock in (self._listener, *self._open):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(sock)
            self._threads.append(threading.Thread(target=self._serve, args=(sock,)))
            self.connections += 1
            self._threads[-1].start()

    def _serve(self, sock: socket.socket) -> None:
        nth = self.connections - 1
        with suppress(OSError), sock:
            if self._tls is not None:
                sock = self._tls.wrap_socket(sock, server_side=True)
            with sock:
                self._handler(Peer(sock, nth))


def hang(peer: Peer) -> None:
    """Never answers; ends when the client hangs up."""
    while peer.socket.recv(65536):
        pass


def scripted(*answers: bytes) -> Handler:
    """Each request gets the next answer, over however many connections; then it hangs up."""
    left = list(answers)

    def handler(peer: Peer) -> None:
        while left and peer.request() is not None:
            peer.send(left.pop(0))

    return handler


def ok(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body
