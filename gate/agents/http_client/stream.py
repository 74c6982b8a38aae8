"""Bytes to and from a socket under one deadline; how an answer is read (RFC 9112 6 and 7)."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass

from gate.text.late_pattern import late_pattern

MAX_HEAD = 100_000  # bytes of status line and headers; a chunk's line too
SLACK_S = 0.005  # by which a time-out may differ from what is left: to set one is a system call

_PIECE = 65_536
_HEAD_END = late_pattern(rb"\r?\n\r?\n")
_LINE_END = late_pattern(rb"\n")
_LENGTH = late_pattern("[0-9]{1,18}")
_NOT_HTTP = "is not HTTP/1.1: check the address, it may have to begin with https://"
_STATUS = late_pattern(rb"HTTP/1\.([01]) (\d{3})(?:[ \r\n]|$)")
_SIZE = late_pattern(rb"\s*([0-9a-fA-F]{1,12})\s*(?:;[^\n]*)?\r?\n")


class Silence(Exception):
    """The other side closed or reset the connection before the first byte of its answer."""


class Cut(Exception):
    """The other side closed or reset the connection within its answer."""


class Malformed(Exception):
    """What came is not an answer that HTTP/1.1 knows."""


class Unwanted(Malformed):
    """What came is an answer, but larger or in another form than was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Status line and headers; names in lower case, values of repeated names joined by `, `."""

    status: int
    headers: Mapping[str, str]
    keeps_alive: bool


class Stream:
    """A connected socket with what was received and not read yet."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._buffer = b""
        self._at = 0  # what stands before this place was read
        self._deadline = 0.0
        self._timeout = 0.0  # that the socket has
        self._answered = False

    def begin(self, deadline: float) -> None:
        """A new exchange, to be over at `deadline` (time.monotonic)."""
        self._deadline = deadline
        self._answered = False

    def send(self, data: bytes) -> None:
        """A server may refuse a request before it has read all of it: its answer tells why."""
        self._arm()
        try:
            self.socket.sendall(data)
        except TimeoutError:
            raise
        except OSError:
            return

    def read_head(self) -> Head:
        """The next head that is not an interim one (1xx)."""
        while True:
            head = _parse_head(self._until(_HEAD_END, starts=b"HTTP/1."))
            if head.status >= 200 or head.status == 101:
                return head

    def read_body(self, head: Head, *, max_bytes: int) -> bytes:
        """Raises Cut when less came than announced."""
        if head.status in (204, 304):
            return b""
        coding = head.headers.get("transfer-encoding", "").lower()
        length = head.headers.get("content-length")
        if coding == "chunked":
            return self._chunks(max_bytes)
        if coding:
            raise Malformed(f"is sent in the unknown transfer coding '{coding[:40]}'")
        if length is None:
            return self._rest(max_bytes)
        if not _LENGTH.fullmatch(length):
            raise Malformed(f"has the impossible length '{length[:40]}'")
        _check_size(int(length), max_bytes)
        return self._exactly(int(length))

    @property
    def empty(self) -> bool:
        """Nothing was received that nobody asked for."""
        return self._at == len(self._buffer)

    def _chunks(self, max_bytes: int) -> bytes:
        body = bytearray()
        while size := self._chunk_size():
            _check_size(len(body) + size, max_bytes)
            body += self._exactly(size)
            if self._until(_LINE_END).strip():
                raise Malformed("has a chunk that is longer than its stated size")
        while self._until(_LINE_END).strip():  # trailers
            pass
        return bytes(body)

    def _chunk_size(self) -> int:
        match = _SIZE.fullmatch(self._until(_LINE_END))
        if not match:
            raise Malformed("has a chunk without a valid size")
        return int(match[1], 16)

    def _rest(self, max_bytes: int) -> bytes:
        """Everything until the other side closes."""
        body = bytearray(self._take_buffer())
        while piece := self._receive(_PIECE):
            _check_size(len(body) + len(piece), max_bytes)
            body += piece
        return bytes(body)

    def _exactly(self, size: int) -> bytes:
        end = self._at + size
        if end <= len(self._buffer):
            data, self._at = self._buffer[self._at : end], end
            return data
        body = bytearray(self._take_buffer())
        while missing := size - len(body):
            piece = self._receive(min(missing, 16 * _PIECE))
            if not piece:
                raise Cut
            body += piece
        return bytes(body)

    def _until(self, mark: re.Pattern[bytes], *, starts: bytes = b"") -> bytes:
        """Up to and with the first match of `mark`, which must begin with `starts`."""
        while not (match := mark.search(self._buffer, self._at)):
            waiting = self._take_buffer()
            if not waiting.startswith(starts[: len(waiting)]):
                raise Malformed(_NOT_HTTP)
            if len(waiting) > MAX_HEAD:
                raise Malformed("has headers that do not end")
            piece = self._receive(_PIECE)
            if not piece:
                raise Cut if self._answered else Silence
            self._buffer = waiting + piece
        data, self._at = self._buffer[self._at : match.end()], match.end()
        return data

    def _take_buffer(self) -> bytes:
        """What was received and not read; nobody else reads it any more."""
        data = self._buffer[self._at :]
        self._buffer, self._at = b"", 0
        return data

    def _receive(self, size: int) -> bytes:
        self._arm()
        try:
            piece = self.socket.recv(size)
        except TimeoutError:
            raise
        except OSError as error:  # reset, or TLS that was torn down
            raise (Cut if self._answered else Silence) from error
        self._answered = self._answered or bool(piece)
        return piece

    def _arm(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if abs(self._timeout - left) > min(SLACK_S, left / 100):
            self._timeout = left
            self.socket.settimeout(left)


def _parse_head(data: bytes) -> Head:
    status = _STATUS.match(data)
    if not status:
        raise Malformed(_NOT_HTTP)
    headers: dict[str, str] = {}
    for line in data.decode("latin-1").split("\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            name, value = name.strip().lower(), value.strip()
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
    connection = headers.get("connection", "").lower()
    alive = "keep-alive" in connection if status[1] == b"0" else "close" not in connection
    delimited = "content-length" in headers or "transfer-encoding" in headers
    return Head(status=int(status[2]), headers=headers, keeps_alive=alive and delimited)


def _check_size(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise Unwanted(f"is larger than {max_bytes / 1e6:g} MB, so the rest was not read")
