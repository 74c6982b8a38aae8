"""Compares addresses as WebArena does."""

from __future__ import annotations

from urllib.parse import parse_qs, urlparse

ALTERNATIVES = " |OR| "


def url_matches(reference: str, final: str) -> bool:
    """Whether an address of the reference (host and path) is part of the final one, with one of its
    values for each parameter. A final address that is invalid matches nothing; an invalid reference
    raises ValueError.
    """
    alternatives = [_parts(one) for one in reference.split(ALTERNATIVES)]
    try:
        at, given = _parts(final)
    except ValueError:
        return False
    wanted: dict[str, set[str]] = {}
    for _, query in alternatives:
        for key, values in query.items():
            wanted.setdefault(key, set()).update(values)
    return any(base in at for base, _ in alternatives) and all(
        values.intersection(given.get(key, ())) for key, values in wanted.items()
    )


def post_url(address: str) -> str:
    """The address of the post that a Reddit page belongs to; any other text unchanged."""
    try:
        parsed = urlparse(address)
    except ValueError:
        return address
    path = parsed.path.split("/")
    if len(path) < 4 or path[1] != "f":
        return address
    return f"{parsed.scheme}://{parsed.netloc}/f/{path[2]}/{path[3]}/"


def _parts(address: str) -> tuple[str, dict[str, list[str]]]:
    parsed = urlparse(address.rstrip("/"))
    return parsed.netloc + parsed.path, parse_qs(parsed.query)
