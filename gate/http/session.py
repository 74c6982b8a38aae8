"""The one way to ask over HTTP: a connection that is kept, a deadline that holds, an end from
outside.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime

from gate.errors import AgentFailure, InfraFailure
from gate.http.proxies import Proxies
from gate.http.reply import Reply, judge
from gate.http.route import Route, route_of
from gate.http.stream import Cut, Malformed, Silence, Stream
from gate.http.trust import trusted

MAX_BYTES = 20_000_000


class Session:
    """One thread's connection; only `close` may be called from another.

    `env` gives proxies and certificates (docs/agents.md); `setting` is the key of gate.yml that
    messages name for the address. Resolving a host's name is bounded by the system's resolver
    only.
    """

    def __init__(self, env: Mapping[str, str], *, setting: str = "agent.base_url") -> None:
        self._env = env
        self._proxies = Proxies.of(env)
        self._setting = setting
        self._stream: Stream | None = None
        self._line: object = None  # where the stream leads
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None  # what `close` may shut down
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
    ) -> Reply:
        """The answer, whole and with a status of 2xx, within `timeout_s` seconds in all.

        Raises InfraFailure when the agent was not asked or says that it cannot be (contract 9.4),
        AgentFailure for every other status, a time-out, an answer cut off or over `max_bytes`;
        UsageError for an address or header that cannot be used.
        """
        deadline = time.monotonic() + timeout_s
        route = self._route(method, url, headers)
        self._begin()
        kept = None
        try:
            reply, kept = self._exchange(route, body or b"", deadline, max_bytes)
        except TimeoutError:
            message = f"{route.address} did not answer within {timeout_s:g} s"
            raise self._failed(AgentFailure(message), route) from None
        except Silence:
            message = f"{route.address} closed the connection without an answer"
            raise self._failed(InfraFailure(message), route) from None
        except Cut:
            message = f"{route.address} cut its answer off"
            raise self._failed(AgentFailure(message), route) from None
        except Malformed as error:
            message = f"the answer of {route.address} {error}"
            raise self._failed(AgentFailure(message), route) from None
        finally:
            self._end(kept, route)
        judge(reply, now=datetime.now(UTC), setting=self._setting)
        return reply

    def reach(self, url: str, *, timeout_s: float) -> None:
        """Connects (through proxy and TLS) and sends nothing. Raises InfraFailure, UsageError."""
        route = self._route("GET", url, {})
        self._begin()
        stream = None
        try:
            stream = self._connect(route, time.monotonic() + timeout_s)
        finally:
            self._end(stream, route)

    def close(self) -> None:
        """Ends the session; a request that is under way in another thread fails at once."""
        with self._lock:
            self._closed = True
            if self._socket is None:
                return
            if self._busy:  # its own thread will close it
                with suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
            else:
                self._socket.close()

    def _route(self, method: str, url: str, headers: Mapping[str, str]) -> Route:
        return route_of(method, url, tuple(headers.items()), self._proxies, self._setting)

    def _exchange(
        self, route: Route, body: bytes, deadline: float, max_bytes: int
    ) -> tuple[Reply, Stream | None]:
        """The reply, and the stream if it can be used again."""
        data = b"%b%d\r\n\r\n%b" % (route.head, len(body), body)
        stream = self._stream if self._line == route.line else None
        if stream is not None:
            try:
                return _ask(stream, route, data, deadline, max_bytes)
            except Silence:  # closed between two requests: nobody's fault, and nobody answered
                stream.socket.close()
        return _ask(self._connect(route, deadline), route, data, deadline, max_bytes)
