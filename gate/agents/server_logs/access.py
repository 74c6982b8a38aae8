"""Lines of the access log that beego writes when `runmode = dev`: one a request, when it ends.

    2026/05/12 14:30:52.101 [D] [router.go:1013]  |      127.0.0.1| 200 |     5.6761ms|   match| GET
    /api/health   r:/api/health

(one line). Colours are taken out before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

CHAT_PATHS = ("/api/chat/completions", "/api/v1/chat/completions")
_FIELDS = 5  # |ip| status| duration| match| method path: what is behind the last bar is the rest
_STAMP = re.compile(r"(\d{4})/(\d\d)/(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{3})(?=\s)", re.ASCII)
_MS_OF = {"h": 3_600_000.0, "m": 60_000.0, "s": 1000.0, "ms": 1.0, "ns": 1e-6}
_MS_OF |= dict.fromkeys(("us", "\xb5s", "\u03bcs"), 1e-3)  # both signs for micro
_PART = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)(ms|us|\xb5s|\u03bcs|ns|h|m|s)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessLine:
    """`at`: when the request ended, in the server's local time, without a zone."""

    at: datetime
    method: str
    path: str
    status: int
    duration_ms: float

    @property
    def is_chat(self) -> bool:
        """Whether a chat completion ended."""
        return self.method == "POST" and self.path in CHAT_PATHS


def parse_access_line(line: str) -> AccessLine | None:
    """None: it is no line of a request."""
    at = stamp(line)
    fields = line.split("|", _FIELDS)
    if at is None or len(fields) <= _FIELDS:
        return None
    status, request = fields[2].strip(), fields[_FIELDS].split(maxsplit=2)
    duration = duration_ms(fields[3].strip())
    if not re.fullmatch("[0-9]{3}", status) or duration is None or len(request) < 2:
        return None
    method, path = request[:2]
    return AccessLine(
        at=at,
        method=method,
        path=path.partition("?")[0],
        status=int(status),
        duration_ms=duration,
    )


def stamp(line: str) -> datetime | None:
    """The time that any line of the log begins with, without a zone."""
    match = _STAMP.match(line)
    if match is None:
        return None
    year, month, day, hour, minute, second, ms = map(int, match.groups())
    try:
        return datetime(year, month, day, hour, minute, second, ms * 1000)
    except ValueError:
        return None


def duration_ms(text: str) -> float | None:
    """Milliseconds of a duration as Go prints it: 312.4µs, 10.1s, 1m2.5s."""
    total, at = 0.0, 0
    while match := _PART.match(text, at):
        total += float(match[1]) * _MS_OF[match[2]]
        at = match.end()
    return round(total, 6) if at and at == len(text) else None
