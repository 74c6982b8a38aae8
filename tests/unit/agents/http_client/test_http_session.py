"""The HTTP client against real sockets that misbehave in every way that is known."""

import gc
import os
import socket
import sys
import threading
import time
import tracemalloc
from datetime import UTC, datetime

import pytest

from gate.agents.http_client.reply import retry_after
from gate.agents.http_client.route import format_address
from gate.agents.http_client.session import HttpSession
from gate.agents.http_client.stream import Stream
from gate.errors import AgentFailure, InfraFailure, UsageError
from gate.text.escaping import plain
from tests.support.loopback import free_port
from tests.support.raw_server import RawServer, hang, ok, scripted

SECRET = "sk-very-secret-key-123"


def ask(url, session=None, *, timeout_s=5.0, headers=None, method="POST", body=b"{}", **more):
    """One request in a session of its own, unless one is given."""
    own = session or HttpSession({})
    try:
        return own.request(
            method, url, headers=headers or {}, body=body, timeout_s=timeout_s, **more
        )
    finally:
        if session is None:
            own.close()


def failure(kind, url, **more):
    with pytest.raises(kind) as caught:
        ask(url, **more)
    message = str(caught.value)
    assert "\n" not in message
    return caught.value


# ------------------------------------------------------------------------------ what is sent


def test_a_request_and_its_answer():
    seen = []

    def handler(peer):
        seen.append(peer.request())
        peer.answer(b'{"a": 1}', "200 OK", "Content-Type: application/json", "X-Two: 1", "x-two: 2")

    with RawServer(handler) as server:
        reply = ask(
            f"{server.url}/a b/ü?q=1 2",
            body=b'{"q": "\xc3\xbc"}',
            headers={"Content-Type": "application/json", "Authorization": "Bearer k"},
        )
    line, headers, body = seen[0]
    assert line == "POST /a%20b/%C3%BC?q=1%202 HTTP/1.1"
    assert body == b'{"q": "\xc3\xbc"}'
    assert headers["host"] == f"127.0.0.1:{server.port}"
    assert headers["accept-encoding"] == "identity"
    assert headers["content-type"] == "application/json"
    assert headers["authorization"] == "Bearer k"
    assert headers["user-agent"].startswith("agent-gate/")
    assert (reply.status, reply.body) == (200, b'{"a": 1}')
    assert reply.headers["x-two"] == "1, 2"
    assert reply.address == f"{server.url}/a%20b/%C3%BC"


def test_user_and_password_of_the_address_become_a_header_and_are_never_shown():
    seen = []

    def handler(peer):
        seen.append(peer.request())
        peer.answer(b"denied: pa$$word-1", "403 Forbidden")

    with RawServer(handler) as server:
        url = server.url.replace("://", "://me:pa%24%24word-1@") + "/?key=hunter2hunter2"
        caught = failure(InfraFailure, url)
    assert seen[0][1]["authorization"] == "Basic bWU6cGEkJHdvcmQtMQ=="
    assert "pa$$word" not in str(caught)
    assert "hunter2" not in str(caught)
    assert format_address(url) == server.url


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8000", "ftp://host", "http://", "http://host:99999", "", "http://[::1", "x"]
)
def test_what_is_no_address_is_a_usage_error_that_names_the_key(url):
    caught = failure(UsageError, url)
    assert "agent.base_url" in str(caught)
    assert "http://host" in str(caught)


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "\u20ac", "a\x00"])
def test_a_header_cannot_smuggle_another_one(value):
    caught = failure(UsageError, "http://127.0.0.1:9", headers={"authorization": value})
    assert "authorization" in str(caught)
    assert value not in str(caught)


def test_names_in_other_scripts_are_asked_in_ascii():
    with RawServer(scripted(ok(b"{}"))) as server:
        proxy = HttpSession({"http_proxy": f"127.0.0.1:{server.port}"})
        reply = ask("http://bücher.test/x", proxy)
        proxy.close()
    assert reply.address == "http://xn--bcher-kva.test/x"


# -------------------------------------------------------------------------- whose fault it is


NOBODYS = [401, 403, 407, 429, *range(502, 505), *range(520, 528), 529]


@pytest.mark.parametrize("status", NOBODYS)
def test_statuses_that_are_nobodys_answer(status):
    with RawServer(scripted(ok(b'{"error": {"message": "no luck"}}', status=f"{status} X"))) as s:
        caught = failure(InfraFailure, f"{s.url}/v1")
    assert f"{s.url}/v1 answered {status}" in str(caught)
    assert "no luck" in str(caught)
    assert caught.retry_after is None
    assert caught.transport == ("5xx" if status >= 500 else None)


@pytest.mark.parametrize("status", [400, 402, 404, 408, 413, 418, 422, 500, 501, 505, 528, 530])
def test_statuses_that_are_the_agents_fault(status):
    with RawServer(scripted(ok(b"<h1>boom</h1>\r\n\r\n<p>", status=f"{status} X"))) as server:
        caught = failure(AgentFailure, server.url)
    assert f"answered {status}" in str(caught)
    assert caught.timed_out == (status == 408)
    assert caught.transport == ("5xx" if status >= 500 else None)
    assert "<h1>boom</h1> <p>" in str(caught)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_says_where_it_leads(status):
    location = "Location: https://other.test/v1?token=abcdefgh"
    with RawServer(scripted(ok(b"", location, status=f"{status} Moved"))) as server:
        caught = failure(InfraFailure, server.url)
        assert server.connections == 1
    assert "redirects to https://other.test/v1 - set agent.base_url" in str(caught)
    assert "abcdefgh" not in str(caught)


def test_an_excerpt_is_short_and_without_the_key():
    body = f'{{"error": "wrong key {SECRET} {"x" * 9000}"}}'.encode()
    with RawServer(scripted(ok(body, status="401 Unauthorized"))) as server:
        caught = failure(
            InfraFailure,
            server.url,
            headers={"authorization": f"Bearer {SECRET}", "x-api-key": "k" * 8},
        )
    assert "wrong key ***" in str(caught)
    assert SECRET not in str(caught)
    assert "agent.api_key_env" in str(caught)
    assert len(str(caught)) < 400


def test_escape_sequences_of_a_body_show_in_the_message():
    with RawServer(scripted(ok(b"\x1b[2Jgone\x07\r\n::error::x", status="500 X"))) as server:
        caught = failure(AgentFailure, server.url)
    assert "␛[2Jgone␇" in plain(str(caught))


NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "Fri, 02 Jan 2026 03:04:15 GMT"}, 10.0),
        ({"retry-after": "Fri, 02 Jan 2026 03:00:00 GMT"}, 0.0),
        (
            {
                "retry-after": "Fri, 02 Jan 2026 09:00:30 GMT",
                "date": "Fri, 02 Jan 2026 09:00:00 GMT",
            },
            30.0,
        ),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"llm_provider-retry-after": "60"}, 60.0),
        ({"retry-after": "2", "llm_provider-retry-after": "60"}, 2.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after": "Mon, 1 Jan 2026 1:2:3 +" + "9" * 400}, None),
        ({}, None),
    ],
)
def test_every_form_of_retry_after(headers, seconds):
    assert retry_after(headers, NOW) == seconds


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_reaches_the_runner(status):
    with RawServer(scripted(ok(b"", "Retry-After: 3", status=f"{status} X"))) as server:
        assert failure(InfraFailure, server.url).retry_after == 3.0


@pytest.mark.parametrize(
    ("status", "headers", "is_refusal"),
    [
        (429, [], True),
        (529, [], True),
        (503, ["Retry-After: 3"], True),
        (503, [], False),
        (502, ["Retry-After: 3"], False),
    ],
)
def test_what_asks_for_fewer_requests(status, headers, is_refusal):
    with RawServer(scripted(ok(b"", *headers, status=f"{status} X"))) as server:
        assert failure(InfraFailure, server.url).is_refusal is is_refusal


def test_a_retry_after_of_another_status_is_no_promise():
    with RawServer(scripted(ok(b"", "Retry-After: 3", status="502 X"))) as server:
        assert failure(InfraFailure, server.url).retry_after is None


# --------------------------------------------------------------------- nobody there to answer


def test_a_refused_connection_says_what_to_start():
    url = f"http://127.0.0.1:{free_port()}"
    caught = failure(InfraFailure, f"{url}/v1/chat/completions")
    assert str(caught) == (
        f"{url} refused the connection: start the agent there or set agent.base_url"
    )


def test_a_container_is_told_that_its_localhost_is_its_own():
    session = HttpSession({"GITHUB_WORKSPACE": "/github/workspace"})
    caught = failure(InfraFailure, f"http://127.0.0.1:{free_port()}/v1", session=session)
    assert "inside a container localhost is the container itself: use native/action.yml" in str(
        caught
    )


@pytest.mark.parametrize("host", ["no-such-host.invalid", f"{'a' * 70}.invalid"])
def test_an_unknown_host_is_named(host):
    try:
        caught = failure(InfraFailure, f"http://{host}:1234")
    except UsageError as error:  # a label of more than 63 characters
        caught = error
    assert "known" in str(caught) or "not an address" in str(caught)


@pytest.mark.parametrize("end", ["close", "reset"])
def test_a_connection_that_ends_before_the_answer_is_nobodys_answer(end):
    def handler(peer):
        peer.request()
        if end == "reset":
            peer.reset()

    with RawServer(handler) as server:
        caught = failure(InfraFailure, server.url)
        assert server.connections == 1
    assert "closed the connection without an answer" in str(caught)


@pytest.mark.parametrize("end", ["close", "reset"])
@pytest.mark.parametrize(
    "start",
    [
        b"HTTP/1.1 200 O",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n",
    ],
)
def test_an_answer_that_is_cut_off_is_the_agents_fault(start, end):
    def handler(peer):
        peer.request()
        peer.send(start)
        time.sleep(0.05)  # a reset overtakes what was sent right before it
        if end == "reset":
            peer.reset()

    with RawServer(handler) as server:
        assert "closed the connection before the end of its answer" in str(
            failure(AgentFailure, server.url)
        )


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", "not HTTP/1.1"),
        (b"\x15\x03\x03\x00\x02\x02\x32", "https://"),
        (b"HTTP/2 200 OK\r\n\r\n", "not HTTP/1.1"),
        (b"HTTP/1.1 abc\r\n\r\n", "not HTTP/1.1"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "impossible length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "impossible"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", "impossible length"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "transfer coding 'gzip'"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "without a valid size"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
            "longer than its stated size",
        ),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000, "headers that do not end"),
        (ok(b"\x1f\x8b", "Content-Encoding: gzip"), "compressed (gzip)"),
    ],
)
def test_what_is_not_http_is_the_agents_fault(data, why):
    with RawServer(scripted(data)) as server:
        assert why in str(failure(AgentFailure, server.url))


# ---------------------------------------------------------------------------- forms of answers


@pytest.mark.parametrize(
    "data",
    [
        ok(b"hello"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2\r\nhe\r\n3;x=1\r\nllo\r\n0\r\nT: 1\r\n\r\n",
        b"HTTP/1.1 200\r\nTransfer-Encoding: Chunked\r\n\r\n05\r\nhello\r\n000\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\nhello",
        b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Wait\r\n\r\n" + ok(b"hello"),
    ],
    ids=[
        "length",
        "chunked",
        "chunked without reason",
        "until close",
        "bare line feeds",
        "interim",
    ],
)
@pytest.mark.parametrize("gap_s", [0.0, 0.001])
def test_every_form_of_a_body_whole_or_in_drips(data, gap_s):
    def handler(peer):
        peer.request()
        peer.drip(data, gap_s) if gap_s else peer.send(data)

    with RawServer(handler) as server:
        assert ask(server.url).body == b"hello"


def test_an_answer_without_content():
    with RawServer(scripted(b"HTTP/1.1 204 No Content\r\n\r\n")) as server:
        assert ask(server.url, method="GET", body=None).body == b""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a reset drops what came before it")
def test_a_refusal_that_comes_before_the_request_was_read():
    def handler(peer):
        peer.socket.recv(1000)
        peer.answer(b"too much", "413 Too Large", "Connection: close")
        time.sleep(0.2)

    with RawServer(handler) as server:
        caught = failure(AgentFailure, server.url, body=b"x" * 20_000_000)
    assert "answered 413" in str(caught)


# -------------------------------------------------------------------------------------- limits


@pytest.mark.parametrize("form", ["length", "chunked", "until close"])
def test_an_answer_of_50_mb_is_refused_without_reading_it(form):
    sent = [0]

    def handler(peer):
        peer.request()
        if form == "length":
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n")
        elif form == "chunked":
            peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        else:
            peer.send(b"HTTP/1.1 200 OK\r\n\r\n")
        piece = b"x" * 100_000
        for _ in range(500):
            peer.send(b"186a0\r\n" + piece + b"\r\n" if form == "chunked" else piece)
            sent[0] += len(piece)

    with RawServer(handler) as server:
        gc.collect()
        tracemalloc.start()
        start = time.perf_counter()
        caught = failure(AgentFailure, server.url, max_bytes=1_000_000)
        seconds = time.perf_counter() - start
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert "is larger than 1 MB" in str(caught)
    assert seconds < 10
    assert peak < 8_000_000
    assert sent[0] < 50_000_000


class CountedTimeouts:
    """A socket that answers each request at once."""

    def __init__(self):
        self.timeouts = []

    def settimeout(self, seconds):
        self.timeouts.append(round(seconds, 1))

    def sendall(self, data):
        pass

    def recv(self, size):
        return b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"


def test_a_time_out_is_set_only_where_another_time_is_left():
    """Each is a system call, at which another thread takes over."""
    sock = CountedTimeouts()
    stream = Stream(sock)
    for timeout_s in (60.0, 60.0, 60.0, 0.5, 60.0):
        stream.begin(time.monotonic() + timeout_s)
        stream.send(b"")
        assert stream.read_body(stream.read_head(), max_bytes=10) == b"{}"
    assert sock.timeouts == [60.0, 0.5, 60.0]


@pytest.mark.parametrize(
    "start", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n"]
)
def test_the_deadline_holds_against_a_slow_drip(start):
    def handler(peer):
        peer.request()
        peer.send(start or b"HTTP/1.1 200")
        peer.drip(b"x" * 100, 0.05)

    with RawServer(handler) as server:
        begun = time.perf_counter()
        caught = failure(AgentFailure, server.url, timeout_s=0.3)
        assert time.perf_counter() - begun < 3
    assert "did not answer within 0.3 s" in str(caught)


def test_silence_is_a_time_out_and_the_connection_is_not_used_again():
    answers = iter([None, ok(b"late")])

    def handler(peer):
        while peer.request() is not None:
            answer = next(answers)
            if answer is None:
                time.sleep(0.4)
                peer.answer(b"the answer to the first question")
                return
            peer.send(answer)

    with RawServer(handler) as server:
        session = HttpSession({})
        failure(AgentFailure, server.url, session=session, timeout_s=0.2)
        assert ask(server.url, session).body == b"late"
        session.close()
        assert server.connections == 2


def test_a_time_out_of_nothing_left_is_not_sent():
    with RawServer(scripted(ok(b"{}"))) as server:
        assert "no connection in time" in str(failure(InfraFailure, server.url, timeout_s=0.0))


# ---------------------------------------------------------------------------------- keep-alive


def test_one_connection_serves_many_requests():
    with RawServer(scripted(*[ok(b"%d" % n) for n in range(5)])) as server:
        session = HttpSession({})
        assert [ask(server.url, session).body for _ in range(5)] == [b"0", b"1", b"2", b"3", b"4"]
        session.close()
        assert server.connections == 1


def test_a_failed_status_keeps_the_connection():
    with RawServer(scripted(ok(b"", status="429 X"), ok(b"fine"))) as server:
        session = HttpSession({})
        failure(InfraFailure, server.url, session=session)
        assert ask(server.url, session).body == b"fine"
        session.close()
        assert server.connections == 1


@pytest.mark.parametrize("end", ["close", "reset"])
def test_a_connection_closed_between_two_requests_is_opened_again(end):
    closed = threading.Event()

    def handler(peer):
        peer.request()
        peer.answer(b"%d" % peer.nth)
        peer.reset() if end == "reset" else peer.socket.close()
        closed.set()

    with RawServer(handler) as server:
        session = HttpSession({})
        for n in range(3):
            closed.clear()
            assert ask(server.url, session).body == b"%d" % n
            closed.wait(5)
        session.close()
        assert server.connections == 3


def test_it_is_opened_again_once_only():
    def handler(peer):
        peer.request()
        if peer.nth == 0:
            peer.answer(b"first")

    with RawServer(handler) as server:
        session = HttpSession({})
        ask(server.url, session)
        failure(InfraFailure, server.url, session=session)
        session.close()
        assert server.connections == 2


def test_a_question_is_not_sent_again_once_an_answer_began():
    questions = []

    def handler(peer):
        while (request := peer.request()) is not None:
            questions.append(request[2])
            if len(questions) == 2:
                peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                return
            peer.answer(b"whole")

    with RawServer(handler) as server:
        session = HttpSession({})
        ask(server.url, session, body=b"1")
        failure(AgentFailure, server.url, session=session, body=b"2")
        session.close()
    assert questions == [b"1", b"2"]


@pytest.mark.parametrize(
    "answer",
    [
        ok(b"a", "Connection: close"),
        b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na",
        ok(b"a") + b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled",
    ],
    ids=["close", "HTTP/1.0", "more than was asked for"],
)
def test_a_connection_that_cannot_be_kept_is_not_kept(answer):
    def handler(peer):
        while peer.request() is not None:
            peer.send(answer)

    with RawServer(handler) as server:
        session = HttpSession({})
        assert [ask(server.url, session).body for _ in range(2)] == [b"a", b"a"]
        session.close()
        assert server.connections == 2


def test_another_address_is_another_connection():
    with RawServer(scripted(ok(b"1"))) as one, RawServer(scripted(ok(b"2"))) as two:
        session = HttpSession({})
        assert [ask(s.url, session).body for s in (one, two)] == [b"1", b"2"]
        session.close()


# ---------------------------------------------------------------------------- from outside


def test_close_from_another_thread_ends_a_request_at_once():
    with RawServer(hang) as server:
        session = HttpSession({})
        threading.Timer(0.2, session.close).start()
        begun = time.perf_counter()
        caught = failure(InfraFailure, server.url, session=session, timeout_s=30)
        assert time.perf_counter() - begun < 10
    assert "the run is being stopped" in str(caught)


def test_close_in_the_middle_of_a_body():
    def handler(peer):
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\nx")
        hang(peer)

    with RawServer(handler) as server:
        session = HttpSession({})
        threading.Timer(0.2, session.close).start()
        begun = time.perf_counter()
        failure(InfraFailure, server.url, session=session, timeout_s=30)
        assert time.perf_counter() - begun < 10


def test_a_closed_session_asks_nothing():
    with RawServer(scripted(ok(b"1"), ok(b"2"))) as server:
        session = HttpSession({})
        ask(server.url, session)
        session.close()
        session.close()
        failure(InfraFailure, server.url, session=session)
        assert server.connections == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a full backlog refuses instead on Windows")
def test_a_connection_that_nobody_accepts_is_nobodys_answer():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        fill = [socket.socket() for _ in range(8)]
        for one in fill:
            one.setblocking(False)
            one.connect_ex(address)
        begun = time.perf_counter()
        caught = failure(InfraFailure, f"http://127.0.0.1:{address[1]}", timeout_s=0.4)
        assert time.perf_counter() - begun < 10
        for one in fill:
            one.close()
    assert "no connection in time" in str(caught)


def test_reach_connects_and_sends_nothing():
    heard = []
    done = threading.Event()

    def handler(peer):
        heard.append(peer.socket.recv(100))
        done.set()

    with RawServer(handler) as server:
        session = HttpSession({})
        session.reach(f"{server.url}/v1", timeout_s=5)
        session.close()
        assert done.wait(5)
    assert heard == [b""]
    session = HttpSession({})
    with pytest.raises(InfraFailure, match="refused the connection"):
        session.reach(server.url, timeout_s=5)


def test_nothing_of_the_request_is_in_a_repr():
    with RawServer(scripted(ok(b"the body"))) as server:
        reply = ask(server.url, headers={"authorization": f"Bearer {SECRET}"})
    assert SECRET not in repr(reply)
    assert "the body" not in repr(reply)
