"""The formats of JSON Schema 2020-12 that are asserted where somebody asks for it: a text has one
or not, in time linear in its length. Sources: RFC 3339, 3986, 4122, 5321, 6901, 1123; ISO 8601.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-](\d\d):(\d\d))", re.ASCII)
_DURATION = re.compile(
    r"P(?=.)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?)", re.ASCII
)
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_LOCAL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_REFERENCE = re.compile(r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.")
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
_MOST = 10_000  # characters of a text that can have a format; a longer one has none


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


def _is_time(text: str) -> bool:
    match = _TIME.fullmatch(text)
    if match is None:
        return False
    hour, minute, second, away, minutes = (int(part or 0) for part in match.groups())
    return hour < 24 and minute < 60 and second <= 60 and away < 24 and minutes < 60


def _is_moment(text: str) -> bool:
    return text[10:11] in ("T", "t", " ") and _is_date(text[:10]) and _is_time(text[11:])


def _is_host(text: str) -> bool:
    return 0 < len(text) <= 253 and all(map(_LABEL.fullmatch, text.split(".")))


def _is_email(text: str) -> bool:
    local, at, domain = text.rpartition("@")
    return bool(at) and len(local) <= 64 and bool(_LOCAL.fullmatch(local)) and _is_host(domain)


def _is_address(text: str, kind: Callable[[str], object]) -> bool:
    try:
        return "%" not in text and bool(kind(text))
    except ValueError:
        return False


def _is_pattern(text: str) -> bool:
    try:
        return bool(re.compile(text))
    except (re.error, RecursionError, OverflowError):
        return False


FORMATS: Mapping[str, Callable[[str], bool]] = {
    "date": _is_date,
    "time": _is_time,
    "date-time": _is_moment,
    "duration": lambda text: bool(_DURATION.fullmatch(text)),
    "email": _is_email,
    "hostname": _is_host,
    "ipv4": lambda text: _is_address(text, ipaddress.IPv4Address),
    "ipv6": lambda text: _is_address(text, ipaddress.IPv6Address),
    "uri": lambda text: bool(_SCHEME.match(text) and _REFERENCE.fullmatch(text)),
    "uri-reference": lambda text: bool(_REFERENCE.fullmatch(text)),
    "uuid": lambda text: bool(_UUID.fullmatch(text)),
    "json-pointer": lambda text: bool(_POINTER.fullmatch(text)),
    "regex": _is_pattern,
}


def has_format(value: object, name: str) -> bool:
    """True for what is no text, and for a format that is not known: JSON Schema says so."""
    known = FORMATS.get(name)
    if known is None or not isinstance(value, str):
        return True
    return len(value) <= _MOST and known(value)
