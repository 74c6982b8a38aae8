"""The sample agent's server as an OpenAgent server: bodies, keys, streams, metrics, logs."""

import json
import time
import urllib.request
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from gate.agents.sample_agent.options import SampleOptions
from gate.agents.sample_agent.server_lines import ConsoleFormat
from gate.agents.sample_agent.server_log import ServerLog
from gate.agents.server_logs.options import LogOptions
from gate.agents.server_logs.request_logs import LogBook
from gate.records import Json, ServerLogs
from tests.support.sample_service import get, post, serving

REVENUE = "What was net revenue in Q2 2026?"
NOBODY = "Authentication failed: The provider is not found"
STORE, PROVIDER = {"Authorization": "Bearer store"}, {"Authorization": "Bearer provider"}
PATHS = ("/api/chat/completions", "/api/v1/chat/completions")


@pytest.fixture(scope="module")
def samples(gate_real_data: Path) -> dict[str, Any]:
    path = gate_real_data / "openagent" / "log_and_http_samples.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["http_samples"]
    return found


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(api_key="store", provider_key="provider") as found:
        yield found


def chat(text: str, **more: Json) -> dict[str, Json]:
    return {"model": "m/x", "messages": [{"role": "user", "content": text}], **more}


def shape(value: Json) -> Json:
    """Keys and types, without the values."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    return type(value).__name__


def until(holds: Callable[[], bool]) -> None:
    """What comes after an answer is waited for."""
    for _ in range(500):
        if holds():
            return
        time.sleep(0.01)
    pytest.fail("it never happened")


# ------------------------------------------------------------------------------------------- HTTP


def test_bodies_are_those_of_openagent(url: str, samples: dict[str, Any]) -> None:
    assert get(url + "/api/health") == (200, samples["health"]["body"])
    assert post(url + PATHS[0], chat("x")) == (200, samples["auth_error"]["body"])
    status, body = post(url + PATHS[0], chat(REVENUE), STORE)
    assert (status, shape(body)) == (200, shape(samples["completion"]["body"]))
    assert list(body) == list(samples["completion"]["body"])


@pytest.mark.parametrize("path", PATHS)
def test_both_paths_answer(url: str, path: str) -> None:
    _, body = post(url + path, chat(REVENUE), STORE)
    assert body["model"] == "m/x"
    assert body["choices"][0]["finish_reason"] == "stop"
    assert "USD" in body["choices"][0]["message"]["content"]


def test_max_tokens_cuts_nothing_and_the_end_is_stop_all_the_same(url: str) -> None:
    whole = post(url + PATHS[0], chat(REVENUE), STORE)[1]
    cut = post(url + PATHS[0], chat(REVENUE, max_tokens=1, temperature=2), STORE)[1]
    assert cut["choices"] == whole["choices"]


def test_only_the_system_message_and_the_last_of_the_user_are_read(url: str) -> None:
    system = {"role": "system", "content": "Be brief. " * 40}
    earlier = [{"role": "user", "content": "x " * 900}, {"role": "assistant", "content": "y"}]
    last = chat("What is 17 times 23?")["messages"]
    plain, said, both = (
        post(url + PATHS[0], {"messages": [*before, *last]}, STORE)[1]
        for before in ([], earlier, [system, *earlier])
    )
    assert plain["choices"] == said["choices"] == both["choices"]
    assert plain["usage"] == said["usage"]
    assert both["usage"]["prompt_tokens"] == plain["usage"]["prompt_tokens"] + 100


def test_a_stream_ends_with_usage_and_done(url: str) -> None:
    body = json.dumps(chat(REVENUE, stream=True)).encode()
    with urllib.request.urlopen(urllib.request.Request(url + PATHS[1], body, STORE)) as reply:
        events = [e.removeprefix("data: ") for e in reply.read().decode().split("\n\n") if e]
    assert events[-1] == "[DONE]"
    chunks = [json.loads(event) for event in events[:-1]]
    assert {chunk["model"] for chunk in chunks} == {"m/x"}
    whole = post(url + PATHS[0], chat(REVENUE), STORE)[1]
    assert chunks[-1]["usage"]["total_tokens"] == whole["usage"]["total_tokens"]
    said = "".join(c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"])
    assert said == whole["choices"][0]["message"]["content"]


def test_a_provider_key_is_a_plain_call_of_the_model(url: str) -> None:
    _, body = post(url + PATHS[0], chat(REVENUE), PROVIDER)
    assert "no tools" in body["choices"][0]["message"]["content"]
    assert post(url + "/ask", {"question": REVENUE}, PROVIDER)[0] == 401


@pytest.mark.parametrize("sent", [{}, {"Authorization": "Bearer "}, {"Authorization": "store"}])
def test_any_other_key_is_refused(url: str, sent: dict[str, str]) -> None:
    assert post(url + PATHS[0], chat("x"), sent)[1]["msg"] == NOBODY


def test_without_keys_every_request_has_a_store_key() -> None:
    with serving() as url:
        for headers in ({}, {"Authorization": "Bearer anything"}):
            body = post(url + PATHS[0], chat(REVENUE), headers)[1]
            assert "USD" in body["choices"][0]["message"]["content"]


def test_metrics_count_what_happened() -> None:
    def told() -> list[str]:
        with urllib.request.urlopen(url + "/api/metrics", timeout=10) as reply:
            assert reply.headers["Content-Type"].startswith("text/plain")
            return reply.read().decode().splitlines()

    requests = 'openagent_http_requests_total{method="POST",path="%s",status="200"} %d'
    with serving(api_key="store") as url:
        used = post(url + PATHS[0], chat(REVENUE), STORE)[1]["usage"]
        post(url + PATHS[0], chat("x"))
        post(url + '/api/"{}', chat("x"))
        until(lambda: requests % ("other", 1) in told())
        assert requests % (PATHS[0], 2) in told()
        assert 'openagent_tool_calls_total{tool="run_sql",outcome="success"} 1' in told()
        assert f'openagent_tokens_total{{kind="prompt"}} {used["prompt_tokens"]}' in told()


# ------------------------------------------------------------------------------------------- logs


def logged(
    folder: Path,
    question: str,
    headers: dict[str, str] | None = None,
    *,
    form: ConsoleFormat = "new",
    audits: bool = False,
    options: SampleOptions | None = None,
) -> ServerLogs:
    """What a reader of the logs makes of one request."""
    log = ServerLog(
        logs=folder / "logs",
        audits=folder / "audit" if audits else None,
        form=form,
        now=datetime.now,
    )
    book = LogBook(LogOptions(), env={}, root=folder)
    keys = {"api_key": "store", "provider_key": "provider"}
    with serving(options, **keys, log=log) as url, book.before() as mark:
        started = int(time.time() * 1000)
        post(url + PATHS[0], chat(question), STORE if headers is None else headers)
        ended = int(time.time() * 1000)
        return book.after(mark, started_ms=started, ended_ms=ended, alone=True)


@pytest.mark.parametrize("form", ["new", "old"])
@pytest.mark.parametrize("audits", [False, True])
def test_a_reader_finds_the_calls_that_ran(
    tmp_path: Path, form: ConsoleFormat, audits: bool
) -> None:
    shown = logged(tmp_path, REVENUE, form=form, audits=audits)
    assert shown.requests == 1
    called = [call.name for call in shown.calls or ()]
    assert set(called) == {"search_documents", "describe_table", "run_sql"}
    assert {read.kind for read in shown.logs if read.bound} >= {"access", "console"}


def test_a_reader_sees_that_no_tool_ran(tmp_path: Path) -> None:
    assert logged(tmp_path, "What is 17 times 23?").calls == ()


def test_a_plain_call_leaves_the_line_of_its_request_alone(tmp_path: Path) -> None:
    shown = logged(tmp_path, REVENUE, PROVIDER)
    assert shown.requests == 1
    assert not shown.calls
    assert (tmp_path / "logs" / "openagent_console.log").read_text("utf-8") == ""


def test_a_tool_that_was_not_found_did_not_run(tmp_path: Path) -> None:
    options = SampleOptions(wrong_tool=True)
    logged(tmp_path, "What time is it?", audits=True, options=options)
    records = [
        json.loads(line)
        for file in (tmp_path / "audit").iterdir()
        for line in file.read_text("utf-8").splitlines()
    ]
    outcomes = [r["outcome"] for r in records if r["type"] == "tool_call"]
    assert outcomes == ["attempted", "not_found"]


def test_no_log_holds_a_key_or_an_answer(tmp_path: Path) -> None:
    logged(tmp_path, "Write the word ready in capital letters.", audits=True)
    texts = [file.read_text("utf-8") for file in tmp_path.rglob("*") if file.is_file()]
    assert len(texts) == 3
    assert not [text for text in texts if "Bearer" in text or "READY" in text]


def test_an_error_body_is_logged_as_status_200(tmp_path: Path) -> None:
    shown = logged(tmp_path, REVENUE, {})
    assert shown.requests == 1
    line = (tmp_path / "logs" / "openagent.log").read_text("utf-8")
    assert " 200 " in line
