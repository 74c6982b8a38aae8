"""The one way to ask over HTTP: a connection that is kept, a deadline that holds, an end from
outside.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime

from gate.agents.http_client.proxies import Proxies
from gate.agents.http_client.rate_limits import read_rate_limits
from gate.agents.http_client.reply import HttpReply, judge
from gate.agents.http_client.route import Route, route_of, section_of
from gate.agents.http_client.sockets import Adopt, reason, seconds_left
from gate.agents.http_client.stream import Cut, Malformed, Silence, Stream, Unwanted
from gate.errors import AgentFailure, InfraFailure, Transport
from gate.system.pace import RateLimit
from gate.system.shortage import shortage

LOOPBACK = ("127.0.0.1", "localhost", "::1")
IN_CONTAINER = "/github/workspace"  # what GITHUB_WORKSPACE is in a container action

MAX_BYTES = 20_000_000


class HttpSession:
    """One thread's connection; only `close` may be called from another.

    `env` gives proxies and certificates (docs/agents.md); `setting` is the key of gate.yml that
    messages name for the address; `hear` is told what a reply says of the provider's limits.
    Resolving a host's name is bounded by the system's resolver only.
    """

    def __init__(
        self,
        env: Mapping[str, str],
        *,
        setting: str = "agent.base_url",
        hear: Callable[[tuple[RateLimit, ...]], None] = lambda limits: None,
    ) -> None:
        self._env = env
        self._proxies = Proxies.from_env(env)
        self._setting = setting
        self._hear = hear
        self._stream: Stream | None = None  # kept from the last request
        self._line: object = None  # where it leads
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._busy = False
        self._closed = False

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None = None,
        timeout_s: float,
        max_bytes: int = MAX_BYTES,
    ) -> HttpReply:
        """The answer, whole and with a status of 2xx, within `timeout_s` seconds in all.

        Raises InfraFailure when the agent was not asked or says that it cannot be
        (docs/semantics.md 4), AgentFailure for every other status, a time-out, an answer cut off or
        over `max_bytes`; UsageError for an address or header that cannot be used.
        """
        deadline = time.monotonic() + timeout_s
        route = self._route(method, url, headers)
        data = b"%b%d\r\n\r\n%b" % (route.head, len(body or b""), body or b"")
        self._begin()
        kept: Stream | None = None
        try:
            reply, kept = self._exchange(route, data, deadline, max_bytes)
        except (TimeoutError, Silence, Cut, Malformed) as error:
            raise self._failure(error, route.address, timeout_s) from None
        finally:
            self._end(kept, route)
        now = datetime.now(UTC)
        if limits := read_rate_limits(reply.headers, now):
            self._hear(limits)
        judge(reply, now=now, setting=self._setting)
        return reply

    def reach(self, url: str, *, timeout_s: float) -> None:
        """Connects, through proxy and TLS, and sends nothing. Raises InfraFailure, UsageError."""
        route = self._route("GET", url, {})
        self._begin()
        kept: Stream | None = None
        try:
            kept = self._connect(route, time.monotonic() + timeout_s)
        finally:
            self._end(kept, route)

    def close(self) -> None:
        """Ends the session; a request that is under way in another thread fails at once."""
        with self._lock:
            self._closed = True
            if self._socket is None:
                return
            if self._busy:  # its own thread notices, and closes
                with suppress(OSError):
                    # Of the plain socket: that of a TLS socket would change its state meanwhile.
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
            else:
                self._socket.close()

    def _route(self, method: str, url: str, headers: Mapping[str, str]) -> Route:
        return route_of(method, url, tuple(headers.items()), self._proxies, self._setting)

    def _exchange(
        self, route: Route, data: bytes, deadline: float, max_bytes: int
    ) -> tuple[HttpReply, Stream | None]:
        """The reply, and the stream if it can be used again."""
        if self._stream is not None and self._line == route.line:
            try:
                return _ask(self._stream, route, data, deadline, max_bytes)
            except Silence:  # closed between two requests, and nobody answered: asked anew, once
                if self._closed:
                    raise
        return _ask(self._connect(route, deadline), route, data, deadline, max_bytes)

    def _connect(self, route: Route, deadline: float) -> Stream:
        try:
            return dial(route, self._env, deadline, self._adopt, setting=self._setting)
        except InfraFailure:
            if self._closed:
                raise _stop_failure(route.address) from None
            raise

    def _begin(self) -> None:
        with self._lock:
            if self._closed:
                raise _stop_failure("the agent")
            self._busy = True

    def _adopt(self, sock: socket.socket) -> None:
        """`sock` takes the place of the socket before; `close` reaches it from now on."""
        with self._lock:
            if self._socket is not None:
                self._socket.close()
            self._socket = sock
            if self._closed:
                raise InfraFailure("the session is closed")

    def _end(self, kept: Stream | None, route: Route) -> None:
        with self._lock:
            self._busy = False
            self._stream, self._line = kept, route.line
            if self._socket is not None and (kept is None or self._closed):
                self._socket.close()
                self._socket = self._stream = None

    def _failure(
        self, error: Exception, address: str, timeout_s: float
    ) -> AgentFailure | InfraFailure:
        if self._closed:
            return _stop_failure(address)
        if isinstance(error, Silence):
            message = f"{address} closed the connection without an answer"
            return InfraFailure(message, begun=True)
        if isinstance(error, Cut):
            return AgentFailure(
                f"{address} closed the connection before the end of its answer", transport="cut_off"
            )
        if isinstance(error, Malformed):
            kind: Transport | None = None if isinstance(error, Unwanted) else "not_http"
            return AgentFailure(f"the answer of {address} {error}", transport=kind)
        return AgentFailure(f"{address} did not answer within {timeout_s:g} s", timed_out=True)


def _ask(
    stream: Stream, route: Route, data: bytes, deadline: float, max_bytes: int
) -> tuple[HttpReply, Stream | None]:
    stream.begin(deadline)
    stream.send(data)
    head = stream.read_head()
    body = stream.read_body(head, max_bytes=max_bytes)
    coding = head.headers.get("content-encoding", "identity")
    if coding.lower() != "identity":
        raise Unwanted(f"is compressed ({coding}), although the request did not allow that")
    reply = HttpReply(
        status=head.status,
        headers=head.headers,
        body=body,
        address=route.address,
        secrets=route.secrets,
    )
    return reply, stream if head.keeps_alive and stream.empty else None


def _stop_failure(address: str) -> InfraFailure:
    return InfraFailure(f"the request to {address} was cancelled: the run is being stopped")


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
    change = "correct" if setting.startswith("--") else "set"
    advice = _around(route) if proxy else f": {_start(route, env, setting)} or {change} {setting}"
    if isinstance(error, socket.gaierror):
        host = proxy.host if proxy else route.host
        return f"{who}: the host name '{host}' is not known{advice}"
    if isinstance(error, ConnectionRefusedError):
        return f"{who} refused the connection{advice}"
    return f"{who} cannot be reached ({reason(error)}){advice}"


def _start(route: Route, env: Mapping[str, str], setting: str) -> str:
    if route.host in LOOPBACK and env.get("GITHUB_WORKSPACE") == IN_CONTAINER:
        return "inside a container localhost is the container itself: use native/action.yml,"
    return f"start the {section_of(setting)} there"


def _around(route: Route) -> str:
    return f": start it, or add {route.host} to NO_PROXY to bypass it"
