"""Whose failure a message of another tool tells: the agent's, or nobody's (docs/semantics.md 4)."""

from __future__ import annotations

import re

from gate.agents.http_client.reply import NOBODYS_FAULT, parse_status
from gate.agents.wire.chat import is_nobodys_fault
from gate.records import TrialStatus

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
    """Whether nobody answered: no connection, keys, quota, 401, 403, 407, 429, 502 to
    504, 520 to 527, 529. A status in the message wins over `http`, the one beside it.
    """
    said = said[:_READ]
    spoken = parse_status(said)
    status = http if spoken is None else spoken
    return status in NOBODYS_FAULT or is_nobodys_fault(said) or _UNREACHED.search(said) is not None


def status_of(error: str | None, http: int | None = None) -> TrialStatus:
    """`completed` without an error; else whose failure the error is."""
    if error is None:
        return "completed"
    return "infra_error" if is_nobodys(error, http) else "agent_error"
