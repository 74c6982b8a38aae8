"""Which variables of the environment hold secrets: those that a config names or puts into headers,
and those that look it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import parse_qsl, urlsplit

from gate.records import Json

_LOOKS_SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)


def secrets_sent(env: Mapping[str, str], asked: Iterable[Mapping[str, Json]]) -> Iterator[str]:
    """The values, for agents and models with these options. Of a variable in a header any part is
    one, in a body or an address what it fills alone: another text may hold any word.
    """
    every = list(asked)
    named = {str(options.get("api_key_env") or "") for options in every}
    headers = [str(text) for options in every for text in (options.get("headers") or {}).values()]
    alone = {text for options in every for text in _alone(options)}
    yield from secrets_of(env, named, headers)
    yield from (value for value in env.values() if value in alone)


def _alone(options: Mapping[str, Json]) -> Iterator[str]:
    yield from (text.removeprefix("Bearer ") for text in _texts(options.get("body")))
    try:
        address = urlsplit(str(options.get("url") or options.get("base_url") or ""))
    except ValueError:  # told where it is used
        return
    yield from filter(None, (address.username, address.password))
    yield from (value for _, value in parse_qsl(address.query))
    yield from (part.partition("=")[2] for part in address.query.split("&"))


def _texts(value: Json) -> Iterator[str]:
    """Of a `model` nobody needs to be kept from the name."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item) if key != "model" else ()
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def secrets_of(
    env: Mapping[str, str], named: Iterable[str], headers: Iterable[str] = ()
) -> Iterator[str]:
    """The values; a proxy's address with a password in it is one too. `headers`: values that an
    agent is sent, variables replaced.
    """
    wanted, sent = set(named), "\0".join(headers)
    for name, value in env.items():
        if name in wanted or _LOOKS_SECRET.search(name) or (value and value in sent):
            yield value
        elif name.upper().endswith("_PROXY") and "@" in value:
            yield value.rpartition("@")[0].partition("://")[2]
