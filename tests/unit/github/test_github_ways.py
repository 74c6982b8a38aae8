"""The way to GitHub: Enterprise Server under a path, private certificates, proxies. For real."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from gate.github.api import Api, ApiError, Time
from gate.github.context import job
from gate.github.remote_repository import connect
from tests.support.github_server import REPOSITORY
from tests.support.proxy_server import Proxy, needs_openssl, server_context, signed_by_itself
from tests.support.raw_server import Peer, RawServer, ok

VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE")
TOKEN = "ghs_secret"


class Server:
    """Enterprise Server as far as one pull request; keeps the lines and tokens it was sent."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.tokens: list[str | None] = []

    def __call__(self, peer: Peer) -> None:
        while (request := peer.request()) is not None:
            line, headers, _ = request
            self.lines.append(line)
            self.tokens.append(headers.get("authorization"))
            peer.send(ok(b'{"number": 3}', "Content-Type: application/json"))


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy or bundle of this machine has a part in these tests."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.delenv("CURL_CA_BUNDLE", raising=False)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return signed_by_itself(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    return server_context(certificate)


def pull_request(base_url: str) -> object:
    api = Api(base_url, TOKEN, REPOSITORY, clock=Time(sleep=lambda seconds: None))
    try:
        return api.get("pulls/3")
    finally:
        api.close()


def test_enterprise_server_answers_under_a_path() -> None:
    with RawServer(server := Server()) as running:
        assert pull_request(f"{running.url}/api/v3/") == {"number": 3}
    assert server.lines == [f"GET /api/v3/repos/{REPOSITORY}/pulls/3 HTTP/1.1"]


def test_the_servers_address_is_the_one_that_the_runner_gives() -> None:
    server = Server()
    with RawServer(server) as raw:
        where = {"GITHUB_API_URL": f"{raw.url}/api/v3/", "GITHUB_REPOSITORY": REPOSITORY}
        api = connect(job({**where, "GITHUB_EVENT_NAME": "schedule"}, {}), TOKEN)
        assert api is not None
        assert api.get("pulls/3") == {"number": 3}
        api.close()
    assert server.lines == [f"GET /api/v3/repos/{REPOSITORY}/pulls/3 HTTP/1.1"]


@needs_openssl
def test_a_private_certificate_is_trusted_when_it_is_named(
    tls: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RawServer(server := Server(), tls) as running:
        with pytest.raises(ApiError, match=r"cannot be reached at .* \(its certificate"):
            pull_request(f"{running.url}/api/v3")
        assert server.tokens == []
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
        assert pull_request(f"{running.url}/api/v3") == {"number": 3}


@needs_openssl
def test_a_proxy_is_a_tunnel_that_sees_no_token(
    tls: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    with RawServer(server := Server(), tls) as running, Proxy(running.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
        assert pull_request("https://agent.test/api/v3") == {"number": 3}
        assert [line.rpartition(" ")[0] for line in proxy.lines] == ["CONNECT agent.test:443"]
        assert server.tokens == [f"Bearer {TOKEN}"]


def test_a_proxy_that_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with Proxy(9, status="502 Bad Gateway") as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
        with pytest.raises(
            ApiError, match=r"\(the proxy did not connect\); check the network and proxy settings"
        ):
            pull_request("https://agent.test/api/v3")
