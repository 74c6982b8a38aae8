"""Standard output and standard error, whose reader may be gone and whose disk may be full: what
cannot be told is dropped and remembered, and never ends what is being done.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from typing import Any, BinaryIO, TextIO, TypeVar, cast

T = TypeVar("T")


class Outlet:
    """A stream that takes everything. `lost`: why something did not get through, empty so far;
    `nobody`: only because nobody reads any more.
    """

    def __init__(self, stream: TextIO, lost: str = "") -> None:
        self._stream = stream
        self._closed = lost
        self.lost, self.nobody = "", False

    def write(self, text: str) -> int:
        return self._try(lambda: self._stream.write(text), len(text))

    def flush(self) -> None:
        self._try(self._stream.flush, None)

    def isatty(self) -> bool:
        return self._try(self._stream.isatty, False)

    def __getattr__(self, name: str) -> Any:  # whatever the stream has
        attribute = getattr(self._stream, name)
        return _Bytes(self, attribute) if name == "buffer" else attribute

    def _try(self, act: Callable[[], T], instead: T) -> T:
        if self._closed:
            self.lost = self._closed
        if self.lost:
            return instead
        try:
            return act()
        except UnicodeError:
            raise
        except BrokenPipeError:
            self.lost, self.nobody = "the reader closed the pipe", True
        except (OSError, ValueError) as error:  # ValueError: somebody closed it
            self.lost = getattr(error, "strerror", None) or "it is closed"
        return instead


class _Bytes:
    """The bytes below an outlet."""

    def __init__(self, outlet: Outlet, raw: BinaryIO) -> None:
        self._outlet, self._raw = outlet, raw

    def write(self, data: bytes) -> int:
        return self._outlet._try(lambda: self._raw.write(data), len(data))

    def flush(self) -> None:
        self._outlet._try(self._raw.flush, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlets:
    """The two streams that a command writes to."""

    out: Outlet
    err: Outlet

    def flush(self) -> None:
        self.out.flush()
        self.err.flush()


@contextmanager
def outlets() -> Iterator[Outlets]:
    """`sys.stdout` and `sys.stderr` as outlets while it lasts."""
    before = sys.stdout, sys.stderr
    pair = Outlets(out=_outlet(sys.stdout), err=_outlet(sys.stderr))
    sys.stdout, sys.stderr = cast("TextIO", pair.out), cast("TextIO", pair.err)
    try:
        yield pair
    finally:
        pair.flush()
        sys.stdout, sys.stderr = before


def _outlet(stream: TextIO | None) -> Outlet:
    """Python has None where the descriptor was closed before it began."""
    if stream is not None:
        return Outlet(stream)
    return Outlet(StringIO(), lost="it is closed")


def keep_descriptors() -> None:
    """Opens those of the three standard streams that are closed: a file of the session would get
    the number, and whatever a child prints would end up in it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free


def wants_color(stream: TextIO, env: Mapping[str, str], *, no_color: bool) -> bool:
    """NO_COLOR and --no-color win; otherwise colour is for terminals."""
    return not no_color and not env.get("NO_COLOR") and stream.isatty()
