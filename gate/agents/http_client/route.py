"""Where a request goes and how: the parsed address, the proxy in between, the head of the request.

Made once for each combination and remembered: a call then costs one look-up.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from gate import __version__
from gate.agents.http_client.proxies import Proxies, Proxy, basic
from gate.errors import UsageError
from gate.text.credentials import is_ordinary, list_header_secrets
from gate.text.late_pattern import late_pattern

_PORTS = {"http": 80, "https": 443}
_PLAIN = {  # headers whose values are no secrets
    *("accept", "accept-encoding", "anthropic-version", "connection", "content-type", "host"),
    *("user-agent",),
}
_NAME = late_pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = late_pattern(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Everything about a request but its body."""

    scheme: str
    host: str
    port: int
    proxy: Proxy | None
    origin: str  # scheme://host:port
    address: str  # with the path, without user and query: fit for messages
    head: bytes = field(repr=False)  # up to the value of Content-Length
    secrets: tuple[str, ...] = field(repr=False)  # values that no message may show

    @property
    def line(self) -> tuple[str, str, int, Proxy | None]:
        """Requests of one line can share a connection."""
        return self.scheme, self.host, self.port, self.proxy


@lru_cache(maxsize=512)
def route_of(
    method: str, url: str, headers: tuple[tuple[str, str], ...], proxies: Proxies, setting: str
) -> Route:
    """`setting` names the key of gate.yml, or the option, that holds `url`.

    Raises UsageError when the URL or a header cannot be sent.
    """
    parts, host, port = _parse_url(url, setting)
    shown = f"[{host}]" if ":" in host else host
    netloc = shown if port == _PORTS[parts.scheme] else f"{shown}:{port}"
    origin = f"{parts.scheme}://{netloc}"
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~")
    query = "?" + quote(parts.query, safe="/%:@!$&'()*+,;=~?") if parts.query else ""
    proxy = proxies.towards(parts.scheme, host, port)
    forwarded = proxy is not None and parts.scheme == "http"
    sent = _headers(netloc, parts, headers, proxy if forwarded else None)
    target = (origin if forwarded else "") + path + query
    return Route(
        scheme=parts.scheme,
        host=host,
        port=port,
        proxy=proxy,
        origin=origin,
        address=origin + (path if path != "/" else ""),
        head=_head(method, target, sent, setting),
        secrets=tuple(_secrets(sent, parts)),
    )


def format_address(url: str) -> str:
    """`url` without user, password and query, for reports."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that cannot be read"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


def is_loopback(url: str) -> bool:
    """Whether the address is this machine's own; False for one that cannot be read."""
    try:
        host = urlsplit(url.strip()).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def section_of(setting: str) -> str:
    """The section of gate.yml that a setting belongs to; an option is the agent's."""
    return "agent" if setting.startswith("--") else setting.partition(".")[0]


def check_address(url: str, setting: str) -> None:
    """Connects to nothing. Raises UsageError for what is no address."""
    _parse_url(url, setting)


def _parse_url(url: str, setting: str) -> tuple[SplitResult, str, int]:
    """The parts of the URL, its host in ASCII and its port."""
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").encode("idna").decode()
        default = _PORTS[parts.scheme]  # of another scheme there is none, whatever port it names
        port = parts.port or default
    except (ValueError, KeyError):
        host = ""
    if not host:
        raise UsageError(f"{setting}: not an address - write http://host:port or https://host")
    return parts, host, port


def _headers(
    netloc: str, parts: SplitResult, given: tuple[tuple[str, str], ...], proxy: Proxy | None
) -> Mapping[str, str]:
    """Names in lower case -> values; what the caller gives wins."""
    headers = {
        "host": netloc,
        "user-agent": f"agent-gate/{__version__}",
        "accept": "*/*",
        "accept-encoding": "identity",
    }
    if parts.username:
        headers["authorization"] = basic(parts.username, parts.password)
    if proxy is not None and proxy.authorization:
        headers["proxy-authorization"] = proxy.authorization
    return headers | {name.lower(): value.strip() for name, value in given}


def _head(method: str, target: str, headers: Mapping[str, str], setting: str) -> bytes:
    for name, value in headers.items():
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            where = setting.rpartition(".")[0] or section_of(setting)
            raise UsageError(
                f"{where}: the header '{name}' holds a character that HTTP cannot send - "
                "check the key or the variable it comes from"
            )
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {v}" for name, v in headers.items())]
    return "\r\n".join([*lines, "content-length: "]).encode("latin-1")


def _secrets(headers: Mapping[str, str], parts: SplitResult) -> list[str]:
    secrets = [value for name, value in headers.items() if name not in _PLAIN]
    secrets += [value.rpartition(" ")[2] for value in secrets]  # a bearer token without its scheme
    secrets += [value for _, value in parse_qsl(parts.query)]
    secrets += [
        parts.password or "",
        unquote(parts.password or ""),
        *list_header_secrets("\0".join(secrets)),
    ]
    return [value for value in secrets if not is_ordinary(value)]
