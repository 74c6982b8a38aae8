"""TLS: the handshake, and whose certificates are trusted (the system's and certifi's, or a private
bundle by variable).
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import certifi

from gate.agents.http_client.route import Route
from gate.agents.http_client.sockets import Adopt, reason, seconds_left
from gate.errors import InfraFailure, UsageError

VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")

_ONE_AT_A_TIME = threading.Lock()  # reading takes some 80 ms; all threads share it


def wrap_tls(
    sock: socket.socket, route: Route, env: Mapping[str, str], deadline: float, adopt: Adopt
) -> ssl.SSLSocket:
    """`sock` after its handshake. Raises InfraFailure, with what to do about it."""
    context = make_tls_context(env)
    secure = context.wrap_socket(sock, server_hostname=route.host, do_handshake_on_connect=False)
    adopt(secure)
    try:
        secure.settimeout(seconds_left(deadline))
        secure.do_handshake()
    except ssl.SSLCertVerificationError as error:
        raise InfraFailure(
            f"{route.origin}: its certificate is not trusted ({error.verify_message}): "
            "set SSL_CERT_FILE to the file of its CA"
        ) from error
    except OSError as error:
        why = getattr(error, "reason", None) or reason(error)
        raise InfraFailure(
            f"{route.origin}: no TLS connection ({why}): if the server uses plain HTTP, write http://"
        ) from error
    return secure


def make_tls_context(env: Mapping[str, str]) -> ssl.SSLContext:
    """The context for TLS connections. Raises UsageError when a bundle cannot be read."""
    variable = next((name for name in VARIABLES if env.get(name)), "")
    with _ONE_AT_A_TIME:
        return _context(variable, env.get(variable, ""))


@cache
def _context(variable: str, bundle: str) -> ssl.SSLContext:
    if not variable:
        context = ssl.create_default_context()
        context.load_verify_locations(certifi.where())
    else:
        folder = Path(bundle).is_dir()
        try:
            context = ssl.create_default_context(
                cafile=None if folder else bundle, capath=bundle if folder else None
            )
        except OSError as error:
            raise UsageError(
                f"{variable}: {bundle} holds no certificates that can be read: {error}"
            ) from error
    context.set_alpn_protocols(["http/1.1"])
    return context
