"""The way to the agent: TLS with private certificates, proxies, and who needs none."""

import socket
import threading
import time

import pytest

from gate.agents.http_client.proxies import Proxies
from gate.agents.http_client.session import HttpSession
from gate.errors import AgentFailure, InfraFailure, UsageError
from tests.support.proxy_server import Proxy, needs_openssl, server_context, signed_by_itself
from tests.support.raw_server import RawServer, hang, ok, scripted


def get(url, env, **more):
    session = HttpSession(env)
    try:
        return session.request("POST", url, headers={}, body=b"{}", timeout_s=5, **more)
    finally:
        session.close()


def refused(url, env, kind=InfraFailure):
    with pytest.raises(kind) as caught:
        get(url, env)
    return str(caught.value)


# ----------------------------------------------------------------------------------------- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return signed_by_itself(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def tls(certificate):
    return server_context(certificate)


@needs_openssl
def test_an_untrusted_certificate_is_nobodys_answer(tls):
    with RawServer(scripted(ok(b"{}")), tls) as server:
        message = refused(server.url, {})
    assert "its certificate is not trusted" in message
    assert "SSL_CERT_FILE" in message


@needs_openssl
@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"])
def test_a_private_bundle_is_trusted(tls, certificate, variable):
    answers = [ok(b"over TLS"), ok(b"again")]
    with RawServer(scripted(*answers), tls) as server:
        session = HttpSession({variable: str(certificate)})
        for body in (b"over TLS", b"again"):
            reply = session.request("POST", server.url, headers={}, body=b"{}", timeout_s=5)
            assert reply.body == body
        session.close()
        assert server.connections == 1


@needs_openssl
def test_a_certificate_for_another_name_is_not_trusted(tls, certificate):
    with RawServer(scripted(ok(b"{}")), tls) as server:
        url = server.url.replace("127.0.0.1", "localhost")
        message = refused(url, {"SSL_CERT_FILE": str(certificate)})
    assert "not trusted" in message
    assert "localhost" in message


@needs_openssl
def test_tls_that_is_cut_off_is_the_agents_fault(tls, certificate):
    def handler(peer):
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")

    with RawServer(handler, tls) as server:
        message = refused(server.url, {"SSL_CERT_FILE": str(certificate)}, AgentFailure)
    assert "closed the connection before the end of its answer" in message


@needs_openssl
def test_close_ends_a_request_over_tls_at_once(tls, certificate):
    with RawServer(hang, tls) as server:
        session = HttpSession({"SSL_CERT_FILE": str(certificate)})
        threading.Timer(0.3, session.close).start()
        begun = time.perf_counter()
        with pytest.raises(InfraFailure, match="being stopped"):
            session.request("POST", server.url, headers={}, body=b"{}", timeout_s=30)
        assert time.perf_counter() - begun < 10


def test_https_to_a_server_without_tls_says_so():
    def handler(peer):
        peer.socket.recv(1000)
        peer.answer(b"what?", "400 Bad Request")

    with RawServer(handler) as server:
        message = refused(server.url.replace("http:", "https:"), {})
    assert "no TLS connection" in message
    assert "http://" in message


def test_a_handshake_that_never_ends_is_bounded():
    with RawServer(hang) as server:
        session = HttpSession({})
        begun = time.perf_counter()
        with pytest.raises(InfraFailure, match="no connection in time"):
            session.request("GET", server.url.replace("http:", "https:"), headers={}, timeout_s=0.3)
        assert time.perf_counter() - begun < 10


def test_a_bundle_that_is_not_there_is_a_usage_error(tmp_path):
    with RawServer(scripted(ok(b"{}"))) as server:
        url = server.url.replace("http:", "https:")
        message = refused(url, {"SSL_CERT_FILE": str(tmp_path / "none.pem")}, UsageError)
    assert message.startswith("SSL_CERT_FILE: ")
    assert "none.pem" in message


# -------------------------------------------------------------------------------------- proxies


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize("scheme", ["http://", ""])
def test_http_goes_through_the_proxy_as_a_whole_address(variable, scheme):
    with Proxy(9) as proxy:
        env = {variable: f"{scheme}127.0.0.1:{proxy.port}"}
        reply = get("http://agent.test:81/v1?a=1", env)
    assert reply.body == b"forwarded http://agent.test:81/v1?a=1"
    assert reply.address == "http://agent.test:81/v1"


@needs_openssl
def test_https_goes_through_a_tunnel(tls, certificate):
    with RawServer(scripted(ok(b"end to end")), tls) as server, Proxy(server.port) as proxy:
        env = {
            "HTTPS_PROXY": f"http://127.0.0.1:{proxy.port}",
            "SSL_CERT_FILE": str(certificate),
        }
        assert get("https://agent.test/v1", env).body == b"end to end"
        assert proxy.lines == ["CONNECT agent.test:443 HTTP/1.1"]


def test_the_proxys_password_is_sent_to_the_proxy_and_shown_to_nobody():
    with Proxy(9, wants="Basic bWU6c2VjcmV0LTE=") as proxy:
        env = {"http_proxy": f"http://me:secret-1@127.0.0.1:{proxy.port}"}
        assert get("http://agent.test/", env).body.startswith(b"forwarded")
        wrong = refused("http://agent.test/", {"http_proxy": f"http://x:no@127.0.0.1:{proxy.port}"})
        tunnel = refused("https://agent.test/", {"https_proxy": f"127.0.0.1:{proxy.port}"})
    assert "407" in wrong
    assert "requires a user and a password" in tunnel
    assert "secret-1" not in repr(Proxies.from_env(env))


def test_a_tunnel_that_is_refused_names_the_proxy():
    with Proxy(9, status="502 Bad Gateway") as proxy:
        message = refused("https://agent.test/", {"https_proxy": f"127.0.0.1:{proxy.port}"})
    assert f"the proxy 127.0.0.1:{proxy.port} (https_proxy) answered 502" in message


def test_a_proxy_that_is_not_there_says_how_to_go_without():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    message = refused("http://agent.test/", {"HTTP_PROXY": f"http://127.0.0.1:{port}"})
    assert f"the proxy 127.0.0.1:{port} (HTTP_PROXY) refused the connection" in message
    assert "NO_PROXY" in message


@pytest.mark.parametrize("value", ["socks5://127.0.0.1:1", "https://127.0.0.1:1", "http://:x"])
def test_other_kinds_of_proxies_are_refused_by_the_name_of_their_variable(value):
    with pytest.raises(UsageError, match="HTTPS_PROXY: not the address of an HTTP proxy"):
        HttpSession({"HTTPS_PROXY": value})


def test_no_proxy_goes_straight():
    with RawServer(scripted(ok(b"straight"))) as server:
        env = {"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "example.com, 127.0.0.1"}
        assert get(server.url, env).body == b"straight"


@pytest.mark.parametrize(
    ("entries", "host", "port", "direct"),
    [
        ("*", "a.test", 80, True),
        ("a.test", "a.test", 80, True),
        (".a.test", "a.test", 80, True),
        ("a.test", "b.a.test", 80, True),
        ("*.a.test", "b.a.test", 80, True),
        ("a.test", "ba.test", 80, False),
        ("a.test:81", "a.test", 81, True),
        ("a.test:81", "a.test", 80, False),
        ("x, A.test", "a.test", 80, True),
        ("10.0.0.0/8", "10.1.2.3", 80, True),
        ("10.0.0.0/8", "11.1.2.3", 80, False),
        ("127.0.0.1:8080", "127.0.0.1", 8080, True),
        ("::1", "::1", 80, True),
        ("[::1]:80", "::1", 80, True),
        ("", "a.test", 80, False),
        (",", "a.test", 80, False),
    ],
)
def test_no_proxy_entries(entries, host, port, direct):
    proxies = Proxies.from_env({"http_proxy": "p:1", "NO_PROXY": entries})
    assert (proxies.towards("http", host, port) is None) == direct


def test_lower_case_wins():
    assert Proxies.from_env({"HTTP_PROXY": "a:1", "http_proxy": "b:2"}).http.host == "b"
