"""Which values of the environment are secrets: of variables that a config names or puts into
headers, of those that look it by their name, and what looks it within the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import parse_qsl, urlsplit

from gate.records import CheckedJson, Json
from gate.text.credentials import (
    holds_connections,
    is_ordinary,
    list_address_secrets,
    list_header_secrets,
    list_known_keys,
    list_secret_parts,
    list_secrets,
    looks_secret,
)
from gate.text.late_pattern import late_pattern

_UNLIKE_WORDS = late_pattern(r"[0-9:]")


def secrets_sent(
    env: Mapping[str, str], plugin_options: Iterable[Mapping[str, CheckedJson]]
) -> Iterator[str]:
    """The values, for agents and models with these options. Of a variable in a header any part is
    one, in a body or an address what it fills alone: another text may hold any word.
    """
    every = list(plugin_options)
    named = {str(options.get("api_key_env") or "") for options in every}
    headers = [str(text) for options in every for text in (options.get("headers") or {}).values()]
    alone = {text for options in every for text in _alone(options)}
    yield from secrets_of(env, named, headers)
    yield from _telling(value for value in env.values() if value in alone)
    for options in every:
        address = str(options.get("url") or options.get("base_url") or "")
        yield from _telling(list_secret_parts(address))


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
    """Texts of the options; the name of a `model` is no secret."""
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
    """The values, and what they hold. `headers`: values that an agent is sent, variables replaced.

    Ordinary words and numbers are none, whatever their variable is called.
    """
    wanted, sent = set(named), "\0".join(headers)
    for name, value in env.items():
        if name in wanted or looks_secret(name) or (value and value in sent):
            yield from _telling(list_secrets(value))
        elif holds_connections(name):
            yield from _telling(list_secret_parts(value))
        else:  # texts of other people, too, who must not choose what reports cannot say
            secrets = (*list_address_secrets(value), *list_known_keys(value))
            yield from (one for one in _telling(secrets) if any(map(str.isdigit, one)))
            yield from (
                one for one in _telling(list_header_secrets(value)) if _UNLIKE_WORDS.search(one)
            )
    yield from _telling(list_header_secrets(sent))


def _telling(values: Iterable[str]) -> Iterator[str]:
    return (value for value in values if value and not is_ordinary(value))
