"""The time zone of a log whose times have none, and the moments that such a time can mean."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from gate.errors import UsageError
from gate.text.escaping import one_line

_OFFSET = re.compile(r"([+-])(\d\d):(\d\d)", re.ASCII)


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
        f"logs.timezone: {one_line(name, 60)!r} is not known here - write local, UTC, "
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
