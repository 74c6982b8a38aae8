"""Ids of SWE-bench's instances: `owner__repo-123`."""

from __future__ import annotations

import re
from typing import TypeGuard

from gate.records import Json

_ID = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]{0,38})__([A-Za-z0-9._-]{1,100})-\d{1,12}")
_MOST = 200  # characters


def is_id(value: Json) -> TypeGuard[str]:
    """Whether it can be one, also of a set of one's own: a short printable word."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= _MOST
        and value.isprintable()
        and (not value.isspace() and value == value.strip())
    )


def repository_of(instance: str) -> str | None:
    """`owner/repo`; None for an id of another form."""
    found = _ID.fullmatch(instance)
    return f"{found[1]}/{found[2]}" if found else None
