"""The sample agent over HTTP, asked by real clients on loopback."""

import argparse
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gate.agents.sample_agent.options import SampleOptions
from gate.commands import agent
from gate.commands.options.all import parse
from gate.errors import UsageError
from gate.system.signals import Stop
from tests.support.sample_service import get, post, serving

RETURNS = "Within how many days of delivery may customers return unused hardware?"
CHAT = {"model": "m/x", "messages": [{"role": "user", "content": RETURNS}]}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving() as found:
        yield found


def test_health(url: str) -> None:
    assert get(url + "/health") == (200, {"status": "ok", "model": "sample-analytics-1"})
    envelope = {"status": "ok", "msg": "", "data": None, "data2": None}
    assert get(url + "/api/health") == (200, envelope)
    assert get(url + "/v1/models")[1]["data"][0]["id"] == "sample-analytics-1"
    assert get(url + "/nothing")[0] == 404


def test_openai(url: str) -> None:
    status, body = post(url + "/v1/chat/completions", CHAT)
    assert status == 200
    assert body["object"] == "chat.completion"
    assert body["model"] == "sample-analytics-1"
    (choice,) = body["choices"]
    assert "30 days" in choice["message"]["content"]
    assert choice["finish_reason"] == "stop"
    used = body["usage"]
    assert used["total_tokens"] == used["prompt_tokens"] + used["completion_tokens"] > 0
    assert body["retrieved"][0].keys() == {"id", "score", "text"}
    assert body["retrieved"][0]["id"] == "kb-025"
    assert body["steps"][0]["name"] == "search_documents"
    assert "[kb-025]" in body["context"]


def test_parts_and_earlier_messages(url: str) -> None:
    part = {"type": "text", "text": RETURNS}
    messages = [
        {"role": "user", "content": "something else"},
        {"role": "assistant", "content": "well"},
        {"role": "user", "content": [part]},
    ]
    body = post(url + "/v1/chat/completions", {"messages": messages})[1]
    assert "30 days" in body["choices"][0]["message"]["content"]


def test_openagent_has_exactly_its_own_keys(url: str) -> None:
    status, body = post(url + "/api/chat/completions", CHAT)
    assert status == 200
    assert body.keys() == {
        "id", "object", "created", "model", "choices", "usage", "system_fingerprint",
    }  # fmt: skip
    assert body["model"] == "m/x", "the model is only echoed"
    assert body["choices"][0].keys() == {
        "index", "message", "finish_reason", "content_filter_results",
    }  # fmt: skip
    assert "30 days" in body["choices"][0]["message"]["content"]


def test_plain(url: str) -> None:
    status, body = post(url + "/ask", {"question": RETURNS})
    assert status == 200
    assert "30 days" in body["answer"]
    assert body["usage"]["input_tokens"] > 0
    assert body["latency_ms"] > 0
    assert body["retrieved"]
    assert body["steps"]
    assert body["safety_violations"] == []


def lines(url: str, body: object) -> list[Any]:
    request = urllib.request.Request(url, json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=10) as reply:
        assert reply.headers["Content-Type"] == "text/event-stream"
        events = [e.removeprefix("data: ") for e in reply.read().decode().split("\n\n") if e]
    assert events[-1] == "[DONE]"
    return [json.loads(event) for event in events[:-1]]


def test_streaming(url: str) -> None:
    body = {**CHAT, "stream": True, "stream_options": {"include_usage": True}}
    whole = post(url + "/v1/chat/completions", CHAT)[1]
    chunks = lines(url + "/v1/chat/completions", body)
    deltas = [c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"]]
    assert len(deltas) > 3
    assert "".join(deltas) == whole["choices"][0]["message"]["content"]
    assert chunks[-1]["usage"] == whole["usage"]
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-2]["steps"] == whole["steps"]
    without = lines(url + "/v1/chat/completions", {**CHAT, "stream": True})
    assert "usage" not in without[-1]
    openagent = lines(url + "/api/chat/completions", {**CHAT, "stream": True})
    assert openagent[-1]["usage"]["total_tokens"] > 0
    assert not any("steps" in chunk for chunk in openagent)


def test_one_connection_serves_many_requests(url: str) -> None:
    host = url.removeprefix("http://")
    with closing(http.client.HTTPConnection(host, timeout=10)) as connection:
        connection.connect()
        used = connection.sock
        for _ in range(5):
            connection.request("POST", "/ask", json.dumps({"question": RETURNS}))
            assert "30 days" in json.load(connection.getresponse())["answer"]
            assert connection.sock is used
        connection.request("POST", "/ask", b"not json")
        reply = connection.getresponse()
        assert (reply.status, bool(reply.read())) == (400, True)
        connection.request("GET", "/health")
        assert connection.getresponse().read()
        assert connection.sock is used


def test_many_at_once(url: str) -> None:
    questions = [f"What was net revenue in Q{n % 4 + 1} 2025?" for n in range(60)]
    with ThreadPoolExecutor(20) as pool:
        found = list(
            pool.map(lambda q: post(url + "/ask", {"question": q})[1]["answer"], questions)
        )
    assert len(set(found)) == 4
    assert found[:4] * 15 == found


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[" * 100_000,
        b"\xff",
        b"null",
        b"[]",
        b"{}",
        b'{"messages": []}',
        b'{"messages": "hello"}',
        b'{"messages": [{"role": "system", "content": "x"}]}',
        b'{"messages": [{"role": "user", "content": null}]}',
        b'{"messages": [{"role": "user", "content": "  "}]}',
        b'{"messages": [{"role": "user", "content": [{"type": "text", "text": 5}]}]}',
        b'{"messages": [3]}',
    ],
)
def test_bad_bodies(url: str, body: bytes) -> None:
    status, found = post(url + "/v1/chat/completions", body)
    assert status == 400
    assert found["error"]["type"] == "invalid_request_error"
    status, found = post(url + "/api/chat/completions", body)
    assert (status, found["status"]) == (200, "error")
    assert found["msg"]
    assert post(url + "/ask", body)[0] == 400


def raw(url: str, request: bytes) -> bytes:
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_lengths(url: str) -> None:
    assert b" 411 " in raw(url, b"POST /ask HTTP/1.1\r\nHost: x\r\n\r\n").split(b"\r\n")[0]
    negative = b"POST /ask HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"
    assert b" 411 " in raw(url, negative).split(b"\r\n")[0]
    huge = b"POST /ask HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"
    reply = raw(url, huge)
    assert b" 413 " in reply.split(b"\r\n")[0]
    assert b"Connection: close" in reply


def test_an_old_client_gets_a_stream_without_chunks(url: str) -> None:
    body = json.dumps({**CHAT, "stream": True}).encode()
    head = f"POST /v1/chat/completions HTTP/1.0\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    reply = raw(url, head + body)
    assert b"chunked" not in reply
    assert reply.endswith(b"data: [DONE]\n\n")


def test_unknown_paths(url: str) -> None:
    assert post(url + "/v1/other", {})[0] == 404
    assert post(url + "/api/other", {})[1]["status"] == "error"


def test_the_key_is_asked_for() -> None:
    good, bad = {"Authorization": "Bearer s3cret"}, {"Authorization": "Bearer wrong"}
    with serving(api_key="s3cret") as url:
        assert post(url + "/v1/chat/completions", CHAT, good)[0] == 200
        assert post(url + "/v1/chat/completions", CHAT, bad)[0] == 401
        assert post(url + "/ask", {"question": RETURNS})[0] == 401
        status, body = post(url + "/api/chat/completions", CHAT, bad)
        assert (status, body["status"]) == (200, "error")
        assert body["msg"].startswith("Authentication failed")
        assert "s3cret" not in json.dumps(body)
        assert get(url + "/api/health")[0] == 200


def test_error_rate_over_each_protocol() -> None:
    with serving(SampleOptions(error_rate=1.0)) as url:
        status, body = post(url + "/v1/chat/completions", CHAT)
        assert (status, body["error"]["type"]) == (500, "server_error")
        assert post(url + "/ask", {"question": RETURNS})[0] == 500
        assert post(url + "/api/chat/completions", CHAT)[1]["status"] == "error"


def test_flaky_over_http_is_the_same_again_with_the_same_seed() -> None:
    def answers() -> list[str]:
        with serving(SampleOptions(flaky=0.5, seed=2)) as url:
            return [post(url + "/ask", {"question": RETURNS})[1]["answer"] for _ in range(8)]

    first = answers()
    assert len(set(first)) == 2
    assert first == answers()


def test_latency() -> None:
    with serving(SampleOptions(latency_ms=80.0)) as url:
        assert post(url + "/ask", {"question": RETURNS})[1]["latency_ms"] >= 80


def options(**changes: object) -> argparse.Namespace:
    parsed = parse(["agent", "--port", "0"])
    return argparse.Namespace(**vars(parsed) | {"stop": Stop()} | changes)


def test_a_taken_port_a_wrong_port_and_a_missing_key_are_usage_errors() -> None:
    with serving() as url:
        port = int(url.rpartition(":")[2])
        with pytest.raises(UsageError, match=rf"--port {port}: this address is already in use"):
            agent.run(options(port=port), {})
    with pytest.raises(UsageError, match="--port 99999: cannot listen there"):
        agent.run(options(port=99999), {})
    with pytest.raises(
        UsageError, match="--api-key-env NO_SUCH: this environment variable is not set"
    ):
        agent.run(options(api_key_env="NO_SUCH"), {})
    with pytest.raises(UsageError, match="top_k 0"):
        agent.run(options(top_k=0), {})
    same = {"api_key_env": "A", "provider_key_env": "B"}
    with pytest.raises(UsageError, match="--provider-key-env: the same variable as --api-key-env"):
        agent.run(options(**same), {"A": "k", "B": "k"})


@pytest.mark.parametrize("option", ["log_dir", "audit_dir", "scratch"])
def test_a_folder_that_cannot_be_made_is_a_usage_error(option: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=f"--{option.replace('_', '-')}"):
        agent.run(options(**{option: str(tmp_path / "file" / "folder")}), {})


PROGRAM = """
import sys
from gate.commands import agent
from gate.commands.options.all import parse
from gate.system.signals import Stop
options = parse(["agent", "--port", "0", "--api-key-env", "KEY", "--top-k", "1"])
options.stop = Stop()
options.stop.install()
sys.exit(agent.run(options, {"KEY": "k"}))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot send these signals to one process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_and_stops_cleanly(number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[4]
        status, body = post(url + "/ask", {"question": RETURNS}, {"Authorization": "Bearer k"})
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert (status, len(body["retrieved"])) == (200, 1)
    assert (process.returncode, out, err) == (0, "Sample agent stopped\n", "")
