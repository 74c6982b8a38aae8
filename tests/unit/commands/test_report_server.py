"""`gate serve` gives the known files of sessions, to this machine, and nothing else."""

import http.client
from threading import Thread

import pytest

from gate.commands.report_server import ReportServer
from gate.errors import UsageError
from gate.report.session_index.keep import keep_index
from tests.support.stored_session import store

NAME = "session-20261119-120001-0123abcd"


@pytest.fixture
def server(tmp_path):
    folder = store(tmp_path / "results", {"a": [True]})
    (folder / "report.html").write_text("<p>the page</p>")
    (tmp_path / "results" / "secret.txt").write_text("secret")
    (tmp_path / "results" / "linked").symlink_to(folder)
    (folder / "junit.xml").symlink_to(tmp_path / "results" / "secret.txt")
    with ReportServer(folder.parent, 0, first=NAME) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def get(server, path, *, host=None, method="GET"):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    headers = {"Host": host or f"127.0.0.1:{server.server_port}"}
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def test_the_page_comes_with_a_policy_and_the_root_leads_to_it(server):
    root, _ = get(server, "/")
    assert (root.status, root.headers["Location"]) == (302, f"/{NAME}/report.html")
    page, body = get(server, f"/{NAME}/report.html?case=a")
    assert (page.status, body) == (200, b"<p>the page</p>")
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none';")
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    head, body = get(server, f"/{NAME}/report.html", method="HEAD")
    assert (head.status, body, head.headers["Content-Length"]) == (200, b"", "15")


@pytest.mark.parametrize(
    "path",
    [
        f"/{NAME}/",
        f"/{NAME}",
        f"/{NAME}/meta.json",
        f"/{NAME}/junit.xml",
        "/linked/report.html",
        "/secret.txt",
        f"/{NAME}/../secret.txt",
        f"/{NAME}/%2e%2e/secret.txt",
        "/../results/report.html",
        "/%2e%2e/report.html",
        "//report.html",
        "/./report.html",
        f"/..%2f..%2f{NAME}/report.html",
        "/%00/report.html",
        "http://127.0.0.1/secret.txt",
    ],
)
def test_nothing_else_is_given(server, path):
    answer, body = get(server, path)
    assert answer.status == 404
    assert b"secret" not in body.replace(b"secret.txt", b"")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "[::1]"])
def test_a_name_that_was_bound_to_this_machine_gets_nothing(server, host):
    assert get(server, f"/{NAME}/report.html", host=host)[0].status == 403


def test_localhost_is_this_machine_and_nobody_else_is_listened_to(server):
    host = f"localhost:{server.server_port}"
    assert get(server, f"/{NAME}/report.html", host=host)[0].status == 200
    assert server.server_address[0] == "127.0.0.1"


def test_the_list_of_sessions_may_show_reports_in_frames_and_nobody_else_may(server, tmp_path):
    assert get(server, "/index.html")[0].status == 404
    assert keep_index(tmp_path / "results" / NAME) == ""
    index, body = get(server, "/index.html")
    assert (index.status, index.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert f'href="{NAME}/report.html"'.encode() in body
    policy = index.headers["Content-Security-Policy"].split("; ")
    assert {"frame-src 'self'", "frame-ancestors 'self'"} <= set(policy)
    assert get(server, f"/{NAME}/index.html")[0].status == 404


def test_a_list_that_is_a_link_is_not_given(server, tmp_path):
    (tmp_path / "results" / "index.html").symlink_to(tmp_path / "results" / "secret.txt")
    assert get(server, "/index.html")[0].status == 404


def test_writing_is_no_method(server):
    assert get(server, f"/{NAME}/report.html", method="POST")[0].status == 501


def test_a_port_that_is_taken_is_told(server, tmp_path):
    with pytest.raises(UsageError, match=f"--port {server.server_port}: .*choose another"):
        ReportServer(tmp_path, server.server_port, first=NAME)
