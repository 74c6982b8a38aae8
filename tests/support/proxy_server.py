"""A proxy on loopback, and certificates that nobody trusts yet."""

import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import suppress

import pytest

from tests.support.raw_server import RawServer

OPENSSL = shutil.which("openssl")
needs_openssl = pytest.mark.skipif(OPENSSL is None, reason="the program openssl is not installed")


def signed_by_itself(folder):
    """A certificate for 127.0.0.1 and agent.test that nobody trusts yet; its key is key.pem."""
    pem = folder / "server.pem"
    made = subprocess.run(
        [
            *(OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=agent.test", "-keyout", str(folder / "key.pem"), "-out", str(pem)),
            *("-addext", "subjectAltName=IP:127.0.0.1,DNS:agent.test"),
            *("-addext", "keyUsage=critical,digitalSignature,keyCertSign"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return pem


def server_context(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    return context


def pump(source, target):
    with suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
    for sock in (source, target):
        with suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


class Proxy(RawServer):
    """Forwards absolute requests and CONNECT to one server, whatever name they ask for."""

    def __init__(self, target_port, *, status="200 OK", wants=None):
        super().__init__(self.serve)
        self.target = ("127.0.0.1", target_port)
        self.status = status
        self.wants = wants
        self.lines = []

    def serve(self, peer):
        while (request := peer.request()) is not None:
            line, headers, _ = request
            self.lines.append(line)
            if self.wants and headers.get("proxy-authorization") != self.wants:
                peer.answer(b"", "407 Proxy Authentication Required")
                return
            if not line.startswith("CONNECT"):
                peer.answer(b"forwarded " + line.split()[1].encode())
                continue
            peer.send(f"HTTP/1.1 {self.status}\r\n\r\n".encode())
            if not self.status.startswith("200"):
                return
            with socket.create_connection(self.target) as upstream:
                back = threading.Thread(target=pump, args=(upstream, peer.socket))
                back.start()
                pump(peer.socket, upstream)
                back.join()
