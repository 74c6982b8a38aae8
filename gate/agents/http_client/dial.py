"""From an address to a connected stream: name, proxy, tunnel, TLS; what fails here is nobody's
answer.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping

from gate.agents.http_client.route import Route
from gate.agents.http_client.sockets import Adopt, reason, seconds_left
from gate.agents.http_client.stream import Cut, Malformed, Silence, Stream
from gate.errors import InfraFailure
from gate.system.shortage import shortage

LOOPBACK = ("127.0.0.1", "localhost", "::1")
IN_CONTAINER = "/github/workspace"  # what GITHUB_WORKSPACE is in a container action


def dial(
    route: Route, env: Mapping[str, str], deadline: float, adopt: Adopt, *, setting: str
) -> Stream:
    """A connection on which `route` can be asked. Raises InfraFailure, with what to do about it."""
    proxy = route.proxy
    try:
        if proxy is None:
            sock = _connect_first(route.host, route.port, deadline, adopt)
        else:
            sock = _connect_first(proxy.host, proxy.port, deadline, adopt)
    except OSError as error:
        if (short := shortage(error)) is not None:
            raise short from error
        raise InfraFailure(_unreachable(error, route, env, setting)) from error
    if route.scheme == "http":
        return Stream(sock)
    if proxy is not None:
        _tunnel(sock, route, deadline)
    from gate.agents.http_client.tls import wrap_tls

    return Stream(wrap_tls(sock, route, env, deadline, adopt))


def _connect_first(host: str, port: int, deadline: float, adopt: Adopt) -> socket.socket:
    """To the first address of `host` that answers. Raises OSError, of the last address."""
    problem: OSError = OSError("it has no address")
    for family, kind, protocol, _, where in socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM):
        sock = socket.socket(family, kind, protocol)
        adopt(sock)
        try:
            sock.settimeout(seconds_left(deadline))
            sock.connect(where)
        except OSError as error:
            problem = error
        else:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
    raise problem


def _tunnel(sock: socket.socket, route: Route, deadline: float) -> None:
    """CONNECT (RFC 9110 9.3.6): after a 2xx the proxy passes bytes on and understands none."""
    proxy = route.proxy
    target = f"[{route.host}]:{route.port}" if ":" in route.host else f"{route.host}:{route.port}"
    lines = [f"CONNECT {target} HTTP/1.1", f"host: {target}"]
    if proxy is not None and proxy.authorization:
        lines.append(f"proxy-authorization: {proxy.authorization}")
    stream = Stream(sock)
    stream.begin(deadline)
    try:
        stream.send("\r\n".join([*lines, "", ""]).encode("latin-1"))
        status = stream.read_head().status
    except (Cut, Malformed, Silence, OSError) as error:
        raise InfraFailure(f"{proxy} gave no answer for {route.origin}") from error
    if status == 407:
        raise InfraFailure(
            f"{proxy} requires a user and a password: add them to the address in that variable"
        )
    if not 200 <= status < 300:
        raise InfraFailure(f"{proxy} answered {status} for {route.origin}{_around(route)}")


def _unreachable(error: OSError, route: Route, env: Mapping[str, str], setting: str) -> str:
    proxy = route.proxy
    who = str(proxy) if proxy else route.origin
    advice = _around(route) if proxy else f": {_start(route, env, setting)} or set {setting}"
    if isinstance(error, socket.gaierror):
        host = proxy.host if proxy else route.host
        return f"{who}: the host name '{host}' is not known{advice}"
    if isinstance(error, ConnectionRefusedError):
        return f"{who} refused the connection{advice}"
    return f"{who} cannot be reached ({reason(error)}){advice}"


def _start(route: Route, env: Mapping[str, str], setting: str) -> str:
    if route.host in LOOPBACK and env.get("GITHUB_WORKSPACE") == IN_CONTAINER:
        return "inside a container localhost is the container itself: use native/action.yml,"
    return f"start the {setting.partition('.')[0]} there"


def _around(route: Route) -> str:
    return f": start it, or add {route.host} to NO_PROXY to bypass it"
