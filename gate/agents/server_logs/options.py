"""Where a server's own logs are, and how their lines are bound to a request."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from gate.errors import UsageError
from gate.records import Bound
from gate.text.shortening import shorten

_OFFSET = re.compile(r"([+-])(\d\d):(\d\d)", re.ASCII)

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


def zone_of(name: str) -> tzinfo | None:
    """None: the zone of this machine. Raises UsageError."""
    if name == "local":
        return None
    if name == "UTC":
        return UTC
    if match := _OFFSET.fullmatch(name):
        minutes = int(match[2]) * 60 + int(match[3])
        if int(match[3]) < 60 and minutes <= 14 * 60:
            return timezone(timedelta(minutes=minutes if match[1] == "+" else -minutes))
    elif name:
        try:
            return ZoneInfo(name)
        except (KeyError, ValueError, OSError):  # not there, no name at all, a folder
            pass
    raise UsageError(
        f"logs.timezone: {shorten(name, 60)!r} is not known here - write local, UTC, "
        "an offset like +08:00, or a name like Asia/Shanghai"
    )


def moments(at: datetime, zone: tzinfo | None) -> tuple[int, ...]:
    """Unix times in ms of a local time: two where a clock was set back or forward, none where it
    is out of range.
    """
    try:
        either = [at.replace(tzinfo=zone, fold=fold).timestamp() for fold in (0, 1)]
    except (ValueError, OverflowError, OSError):
        return ()
    return tuple(dict.fromkeys(round(seconds * 1000) for seconds in either))
