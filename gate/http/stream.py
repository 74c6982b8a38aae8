"""Bytes to and from a socket under one deadline, and the rules of RFC 9112 for reading an answer."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass

MAX_HEAD = 100_000  # bytes of status line and headers; a chunk's line too

_PIECE = 65_536
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"HTTP/1\.([01]) (\d{3})(?:[ \r\n]|$)")
_SIZE = re.compile(rb"\s*([0-9a-fA-F]{1,12})\s*(?:;[^\n]*)?\r?\n")


class Silence(Exception):  # noqa: N818
    """The other side closed or reset the connection before the first byte of its answer."""


class Cut(Exception):  # noqa: N818
    """The other side closed or reset the connection within its answer."""


class Malformed(Exception):  # noqa: N818
    """What came is not an answer that HTTP/1.1 knows, or is larger than wanted."""


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
        self._deadline = 0.0
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
        except (BrokenPipeError, ConnectionError):
            return

    def read_head(self) -> Head:
        """The next head that is not an interim one (1xx)."""
        while True:
            head = _parsed_head(self._until(_HEAD_END, MAX_HEAD))
            if head.status >= 200 or head.status == 101:
                return head

    def read_body(self, head: Head, *, max_bytes: int) -> bytes:
        coding = head.headers.get("transfer-encoding", "").lower()
        length = head.headers.get("content-length")
        if coding == "chunked":
            return self._chunks(max_bytes)
        if coding:
            raise Malformed(f"is sent in the unknown transfer coding '{coding}'")
        if length is None:
            return self._rest(max_bytes)
        if not length.isdecimal():
            raise Malformed(f"has the impossible length '{length}'")
        _check_size(int(length), max_bytes)
        return self._exactly(int(length))

    @property
    def empty(self) -> bool:
        """Nothing was received that nobody asked for."""
        return not self._buffer

    def _chunks(self, max_bytes: int) -> bytes:
        pieces, total = [], 0
        while size := self._chunk_size():
            total += size
            _check_size(total, max_bytes)
            pieces.append(self._exactly(size))
            self._until(re.compile(rb"\r?\n"), MAX_HEAD)
        while self._until(re.compile(rb"\n"), MAX_HEAD).strip():  # trailers
            pass
        return b"".join(pieces)

    def _chunk_size(self) -> int:
        found = _SIZE.fullmatch(self._until(re.compile(rb"\n"), MAX_HEAD))
        if not found:
            raise Malformed("is sent in chunks, one of which does not say its size")
        return int(found[1], 16)

    def _rest(self, max_bytes: int) -> bytes:
        """Everything until the other side closes."""
        pieces, total = [self._buffer], len(self._buffer)
        self._buffer = b""
        while piece := self._receive(_PIECE):
            total += len(piece)
            _check_size(total, max_bytes)
            pieces.append(piece)
        return b"".join(pieces)

    def _exactly(self, size: int) -> bytes:
        if len(self._buffer) >= size:
            data, self._buffer = self._buffer[:size], self._buffer[size:]
            return data
        pieces, missing = [self._buffer], size - len(self._buffer)
        self._buffer = b""
        while missing:
            piece = self._receive(min(missing, 16 * _PIECE))
            if not piece:
                raise Cut
            missing -= len(piece)
            pieces.append(piece)
        return b"".join(pieces)

    def _until(self, mark: re.Pattern[bytes], limit: int) -> bytes:
        """Up to and with the first match of `mark`."""
        while not (found := mark.search(self._buffer)):
            if len(self._buffer) > limit:
                raise Malformed("has a head without an end")
            piece = self._receive(_PIECE)
            if not piece:
                raise Cut if self._answered else Silence
            self._buffer += piece
        data, self._buffer = self._buffer[: found.end()], self._buffer[found.end() :]
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
        self.socket.settimeout(left)


def _parsed_head(data: bytes) -> Head:
    status = _STATUS.match(data)
    if not status:
        raise Malformed("is not HTTP")
    headers: dict[str, str] = {}
    for line in data.decode("latin-1").splitlines()[1:]:
        name, colon, value = line.partition(":")
        name = name.strip().lower()
        if colon and name:
            headers[name] = f"{headers[name]}, {value.strip()}" if name in headers else value.strip()
    connection = headers.get("connection", "").lower()
    alive = "keep-alive" in connection if status[1] == b"0" else "close" not in connection
    delimited = "content-length" in headers or "transfer-encoding" in headers
    return Head(status=int(status[2]), headers=headers, keeps_alive=alive and delimited)


def _check_size(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise Malformed(f"is larger than {max_bytes / 1e6:g} MB and was not read to its end")
