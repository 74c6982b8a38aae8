"""What dialling and TLS share: who is told of a socket, how long is left, what went wrong."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

Adopt = Callable[[socket.socket], None]  # told of every socket before it is used


def reason(error: OSError) -> str:
    """What the system says about a connection that failed."""
    if isinstance(error, TimeoutError):
        return "no connection in time"
    return error.strerror or str(error) or type(error).__name__


def seconds_left(deadline: float) -> float:
    """Seconds until `deadline` (time.monotonic); raises TimeoutError when it has passed."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
