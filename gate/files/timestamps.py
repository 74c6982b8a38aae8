"""Moments as other tools write them, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

from gate.records import Json

_FIRST = 1970  # the year: nothing was measured before, and a session's name has four digits


def moment_of(written: Json) -> datetime | None:
    """The moment in ISO 8601, without an offset taken for UTC; None for what is no moment from 1970
    on.
    """
    if not isinstance(written, str):
        return None
    try:
        moment = datetime.fromisoformat(written.strip())
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return moment if moment.year >= _FIRST else None


def after(seconds: float) -> datetime | None:
    """So long after 1970 began; None where that is no moment."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.year >= _FIRST else None


def iso(moment: datetime | None) -> str:
    """ISO 8601 to the second, of UTC; empty where there is none, as `started_at` has it then."""
    return "" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z"
