"""Where a server's own logs are, and how their lines are bound to a request."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gate.agents.server_logs.zones import zone_of
from gate.errors import UsageError
from gate.records import Bound

LONGEST_SETTLE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """Paths are relative to the folder of gate.yml; None: the usual places are looked at.

    `timezone` is that of the access log: `local`, `UTC`, `+08:00` or a name like `Asia/Shanghai`.
    `bind`: `offset` takes what is appended while the request runs, one request at a time;
    `window` takes lines by their time. `settle_s`: how long, at most, to wait for the last lines.
    Raises UsageError: a time zone that nobody knows, a wait that is none.
    """

    access: str | None = None
    console: str | None = None
    audit: str | None = None
    timezone: str = "local"
    bind: Bound = "offset"
    settle_s: float = 1.0

    def __post_init__(self) -> None:
        zone_of(self.timezone)
        if not 0 <= self.settle_s <= LONGEST_SETTLE_S or math.isnan(self.settle_s):
            raise UsageError(
                f"logs.settle_s: {self.settle_s} is no wait - write seconds from 0 to "
                f"{LONGEST_SETTLE_S:g}"
            )
