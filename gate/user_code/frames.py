"""What the gate and a process with user code say to each other: frames of a head and a body.

The body is JSON in both directions, so that nothing but data crosses. Standard library only: the
process imports it before the user's code.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

MAX_BYTES = 20_000_000  # of the body of a reply; the gate's requests hold what they must
PING, CALL, LOAD, END = 0, 1, 2, 3  # kinds of a request; END: nobody waits for this lane any more
PONG, RETURNED, RAISED, REACHED = 0, 1, 2, 3  # kinds of a reply; REACHED: a line while loading

_HEAD = struct.Struct("!BIIdI")
HEAD_BYTES = _HEAD.size
_PIECE, _MOST_AT_ONCE = 1 << 16, 1 << 20


class Frame(NamedTuple):
    """A message. Requests with one `lane` are answered one after the other, in one thread; in a
    reply it is the number of files of the checkout that were loaded so far.

    `seconds` is the time that a request grants, or that a reply took.
    """

    kind: int
    number: int  # of the request; a reply has that of its request
    lane: int
    seconds: float
    body: bytes = b""


def buffer_reads(read: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Reads as many bytes as wanted, fewer only at the end of the stream. `read(n)` gives up to n.

    What is there is taken at once: under load one call of the system brings many frames.
    """
    kept = bytearray()

    def all_of(n: int) -> bytes:
        while len(kept) < n and (more := read(min(max(_PIECE, n - len(kept)), _MOST_AT_ONCE))):
            kept.extend(more)
        chunk = bytes(kept[:n])
        del kept[:n]
        return chunk

    return all_of


def pack_frame(frame: Frame) -> bytes:
    kind, number, lane, seconds, body = frame
    return _HEAD.pack(kind, number, lane, seconds, len(body)) + body


def receive_frame(read: Callable[[int], bytes], most: int) -> Frame | None:
    """The next frame; None at the end of the stream, also where it ends inside a frame.

    `read(n)` gives n bytes, fewer only at the end. Raises ValueError for a body of over `most`.
    """
    head = read(HEAD_BYTES)
    if len(head) < HEAD_BYTES:
        return None
    kind, number, lane, seconds, length = _HEAD.unpack(head)
    if length > most:
        raise ValueError(f"a message of {length} bytes")
    body = read(length) if length else b""
    return None if len(body) < length else Frame(kind, number, lane, seconds, body)
