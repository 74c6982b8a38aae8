"""Our reader of HTTP answers against Python's own, on answers of every valid form."""

import http.client
import socket
import time

from hypothesis import given
from hypothesis import strategies as st

from gate.agents.http_client.stream import Stream

NAMES = st.from_regex(r"X-[A-Za-z0-9-]{1,12}", fullmatch=True)
VALUES = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=20)


@st.composite
def answers(draw):
    """The bytes of an answer, and the size of the pieces in which it arrives."""
    body = draw(st.binary(max_size=300))
    status = draw(st.sampled_from([200, 201, 400, 404, 429, 500, 503]))
    version = draw(st.sampled_from(["1.0", "1.1"]))
    headers = draw(st.lists(st.tuples(NAMES, VALUES), max_size=5, unique_by=lambda h: h[0].lower()))
    headers += draw(
        st.sampled_from([[], [("Connection", "close")], [("Connection", "keep-alive")]])
    )
    form = draw(st.sampled_from(["length", "chunked", "until close"]))
    sent = body
    if form == "length":
        headers.append(("Content-Length", str(len(body))))
    elif form == "chunked":
        headers.append(("Transfer-Encoding", "chunked"))
        size = draw(st.integers(1, 50))
        pieces = [body[n : n + size] for n in range(0, len(body), size)]
        more = draw(st.sampled_from(["", ";ext=1", ' ; a="b"']))
        sent = b"".join(b"%x%b\r\n%b\r\n" % (len(p), more.encode(), p) for p in pieces)
        sent += b"0\r\n" + draw(st.sampled_from([b"", b"Trailer: x\r\n"])) + b"\r\n"
    lines = [f"HTTP/{version} {status} Some Reason", *(f"{n}: {v}" for n, v in headers), "", ""]
    data = "\r\n".join(lines).encode() + sent
    # Nobody reads before all is sent: more than a hundred pieces would fill the socket's buffer.
    return data, draw(st.integers(len(data) // 100 + 1, 200))


def by_us(data, size):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for n in range(0, len(data), size):
            theirs.sendall(data[n : n + size])
        theirs.shutdown(socket.SHUT_WR)
        stream = Stream(ours)
        stream.begin(time.monotonic() + 5)
        head = stream.read_head()
        body = stream.read_body(head, max_bytes=10_000)
        return head.status, dict(head.headers), head.keeps_alive, body


def by_python(data):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        response = http.client.HTTPResponse(ours, method="POST")
        response.begin()
        headers = {name.lower(): value.strip() for name, value in response.getheaders()}
        kept = not response.will_close
        with response:
            return response.status, headers, kept, response.read()


@given(answers())
def test_every_answer_is_read_as_python_reads_it(answer):
    data, size = answer
    assert by_us(data, size) == by_python(data)
