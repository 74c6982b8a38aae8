"""Which proxy leads to an address: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY."""

from __future__ import annotations

import ipaddress
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from gate.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """An HTTP proxy; `variable` is where it was named."""

    host: str
    port: int
    variable: str
    authorization: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"the proxy {self.host}:{self.port} ({self.variable})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxies:
    """The proxies of an environment by the scheme that they serve, and the hosts without one."""

    http: Proxy | None = None
    https: Proxy | None = None
    direct: tuple[str, ...] = ()

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Proxies:
        """Lower-case names win over upper-case ones. Raises UsageError for a proxy of another kind
        than http.
        """
        named = _first(env, "no_proxy", "NO_PROXY")
        return cls(
            http=_proxy(env, "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"),
            https=_proxy(env, "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
            direct=tuple(re.split(r"[\s,]+", env[named].strip().lower())) if named else (),
        )

    def towards(self, scheme: str, host: str, port: int) -> Proxy | None:
        proxy = self.https if scheme == "https" else self.http
        if proxy is None or any(_covers(entry, host, port) for entry in self.direct):
            return None
        return proxy


def basic(user: str, password: str | None) -> str:
    """The value of an Authorization header, from the percent-encoded parts of a URL."""
    pair = f"{unquote(user)}:{unquote(password or '')}"
    return "Basic " + b64encode(pair.encode()).decode()


def _proxy(env: Mapping[str, str], *names: str) -> Proxy | None:
    name = _first(env, *names)
    if not name:
        return None
    written = env[name].strip()
    url = urlsplit(written if "://" in written else f"http://{written}")
    try:
        port = url.port or 80
    except ValueError:
        port = 0
    if url.scheme != "http" or not url.hostname or not port:
        raise UsageError(f"{name}: not the address of an HTTP proxy - write http://host:port")
    authorization = basic(url.username, url.password) if url.username else None
    return Proxy(host=url.hostname, port=port, variable=name, authorization=authorization)


def _first(env: Mapping[str, str], *names: str) -> str:
    return next((name for name in names if env.get(name, "").strip()), "")


def _covers(entry: str, host: str, port: int) -> bool:
    """`*`, a name with all below it, either with a port, an address or a network."""
    if not entry or entry == "*":
        return bool(entry)
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        pass
    name, _, its_port = entry.rpartition(":")
    if its_port.isdecimal() and name:
        if int(its_port) != port:
            return False
        entry = name
    entry = entry.strip("[]").removeprefix("*").lstrip(".")
    return host == entry or host.endswith(f".{entry}")
