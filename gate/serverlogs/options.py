"""Where a server's own logs are, and how their lines are bound to a request."""

from __future__ import annotations

from dataclasses import dataclass

from gate.records import Bound


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """Paths are relative to the folder of gate.yml; None: the usual places are looked at.

    `timezone` is that of the access log: `local`, `UTC`, `+08:00` or a name like `Asia/Shanghai`.
    `bind`: `offset` takes what is appended while the request runs, one request at a time;
    `window` takes lines by their time. `settle_s`: how long, at most, to wait for the last lines.
    """

    access: str | None = None
    console: str | None = None
    audit: str | None = None
    timezone: str = "local"
    bind: Bound = "offset"
    settle_s: float = 1.0
