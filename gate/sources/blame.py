"""Whose failure a message of another tool tells: the agent's, or nobody's (docs/semantics.md 4)."""

from __future__ import annotations

import re

from gate.wire.chat import is_nobodys_fault

_NOBODY = frozenset({401, 403, 407, 429, 502, 503, 504})
_STATUS = re.compile(
    r"\b(?:HTTP(?: Error|/\d(?:\.\d)?)?|(?:error|status) code):? (\d{3})\b", re.IGNORECASE
)
_UNREACHED = re.compile(
    r"refused|reset by peer|unreachable|getaddrinfo|name or service|nodename|name resolution"
    r"|no route|remote end closed|\bssl\b|certificate"
    # exceptions of the clients that most agents use
    r"|\b(?:RateLimit|Authentication|PermissionDenied|APIConnection|ServiceUnavailable)Error\b"
    r"|\bConnection(?:Error|RefusedError|ResetError)\b|\bBadGatewayError\b",
    re.IGNORECASE,
)
_READ = 20_000  # characters of a message that may be a web page


def is_nobodys(said: str, http: int | None = None) -> bool:
    """Whether nobody answered: no connection, keys, quota, 401, 403, 407, 429, 502, 503, 504. A
    status in the message wins over `http`, the one beside it.
    """
    said = said[:_READ]
    spoken = _STATUS.search(said)
    status = int(spoken[1]) if spoken else http
    return status in _NOBODY or is_nobodys_fault(said) or _UNREACHED.search(said) is not None
