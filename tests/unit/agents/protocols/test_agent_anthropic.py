import json
from pathlib import Path

import pytest

from gate.agents.protocols.anthropic import Anthropic
from gate.errors import AgentFailure, InfraFailure, UsageError
from gate.plugins import World
from gate.records import Case, Document, ToolCall, Usage
from tests.support.raw_server import RawServer, ok, scripted

WORLD = World(env={"KEY": "sk-ant-secret-1"}, root=Path())


def ask(agent, given="Hello"):
    connection = agent.connect(WORLD)
    try:
        return connection.ask(Case(id="c", input=given, keys={}), timeout_s=5)
    finally:
        connection.close()


def message(*content, **more):
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": list(content),
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 4},
        **more,
    }


TEXT = {"type": "text", "text": "Paris"}


def answered(data, *headers, **options):
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    with RawServer(scripted(ok(raw, *headers))) as server:
        return ask(Anthropic(base_url=server.url, model="m", options=options))


def sent(given, base="", **fields):
    seen = []

    def handler(peer):
        seen.append(peer.request())
        peer.answer(json.dumps(message(TEXT)).encode())

    with RawServer(handler) as server:
        ask(Anthropic(base_url=server.url + base, model="m", **fields), given)
    line, headers, raw = seen[0]
    return line.split()[1], headers, json.loads(raw)


@pytest.mark.parametrize("base", ["", "/", "/v1", "/v1/messages"])
def test_what_is_sent(base):
    path, headers, data = sent("Hello", base, api_key_env="KEY", options={"temperature": 0})
    assert path == "/v1/messages"
    assert headers["x-api-key"] == "sk-ant-secret-1"
    assert headers["anthropic-version"] == "2023-06-01"
    assert data == {
        "model": "m",
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": "Hello"}],
        "temperature": 0,
    }


def test_system_messages_are_lifted():
    given = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "developer", "content": [{"type": "text", "text": "In French."}]},
    ]
    _, _, data = sent(given, options={"max_tokens": 9})
    assert data["system"] == "Be brief.\n\nIn French."
    assert data["messages"] == [{"role": "user", "content": "Hi"}]
    assert data["max_tokens"] == 9


def test_input_tokens_include_what_the_cache_read_and_wrote():
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 1000,
        "output_tokens": 4,
    }
    response = answered(message(TEXT, usage=usage))
    assert response.usage == Usage(input_tokens=1110, cached_tokens=100, output_tokens=4)
    assert (response.answer, response.model, response.finish_reason) == (
        "Paris",
        "claude-x",
        "end_turn",
    )
    assert answered(message(TEXT, usage=None)).usage == Usage()


def test_tool_use_becomes_steps():
    call = {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "x"}}
    response = answered(message({"type": "thinking", "thinking": "..."}, TEXT, call))
    assert response.answer == "Paris"
    assert response.steps == (ToolCall(name="search", arguments={"q": "x"}, id="t1", turn=0),)


def test_tools_that_the_server_runs_have_results():
    call = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": "x"}}
    result = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"url": "u"}]}
    (step,) = answered(message(call, result, TEXT)).steps
    assert (step.result, step.error) == ([{"url": "u"}], None)


def test_no_tool_use_means_none_only_if_tools_were_offered():
    assert answered(message(TEXT)).steps is None
    assert answered(message(TEXT), tools=[{"name": "t"}]).steps == ()


def test_keys_beyond_the_protocol():
    response = answered(message(TEXT, gate={"retrieved": ["d"], "steps": [{"name": "s"}]}))
    assert response.retrieved == (Document(id="d"),)
    assert [step.name for step in response.steps] == ["s"]


@pytest.mark.parametrize(
    "data",
    [
        {"type": "error", "error": {"type": "api_error", "message": "it broke"}},
        {"content": "it broke"},
        [],
        b"<html>it broke",
    ],
)
def test_an_answer_without_content_is_the_agents_fault(data):
    with pytest.raises(AgentFailure, match=r"127\.0\.0\.1"):
        answered(data)


def test_statuses():
    error = b'{"type": "error", "error": {"type": "x", "message": "slow down"}}'
    with RawServer(scripted(ok(error, "Retry-After: 2", status="429 X"))) as server:
        agent = Anthropic(base_url=server.url, model="m")
        with pytest.raises(InfraFailure, match="slow down") as caught:
            ask(agent)
    assert caught.value.retry_after == 2
    with (
        RawServer(scripted(ok(error, status="400 X"))) as server,
        pytest.raises(AgentFailure, match="slow down"),
    ):
        ask(Anthropic(base_url=server.url, model="m"))


# ------------------------------------------------------------------------------------- streams


def stream(*events):
    lines = [f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events]
    return "".join(lines).encode()


START = {
    "type": "message_start",
    "message": {**message(), "stop_reason": None, "usage": {"input_tokens": 9, "output_tokens": 1}},
}
STOP = [
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 20}},
    {"type": "message_stop"},
]


def block(index, start, *deltas):
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def test_a_stream_is_put_together():
    text = [{"type": "text_delta", "text": t} for t in ("Pa", "ris")]
    parts = [{"type": "input_json_delta", "partial_json": t} for t in ('{"q"', ": 1}")]
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    bare = {"type": "tool_use", "id": "t2", "name": "g", "input": {}}
    data = stream(
        START,
        {"type": "ping"},
        *block(0, {"type": "text", "text": ""}, *text),
        *block(1, call, *parts),
        *block(2, bare),
        *STOP,
    )
    response = answered(data, "Content-Type: text/event-stream", stream=True)
    assert response.answer == "Paris"
    assert response.steps == (
        ToolCall(name="f", arguments={"q": 1}, id="t1", turn=0),
        ToolCall(name="g", arguments={}, id="t2", turn=0),
    )
    assert response.usage == Usage(input_tokens=9, output_tokens=20)
    assert response.finish_reason == "tool_use"


def test_a_stream_that_is_cut_or_breaks_off_is_the_agents_fault():
    start = [START, *block(0, {"type": "text", "text": "Pa"})]
    with pytest.raises(AgentFailure, match="ended its stream"):
        answered(stream(*start), stream=True)
    error = {"type": "error", "error": {"type": "api_error", "message": "it broke"}}
    with pytest.raises(AgentFailure, match="without content: it broke"):
        answered(stream(*start, error), stream=True)


@pytest.mark.parametrize(
    ("kind", "said"), [("overloaded_error", "Overloaded"), ("rate_limit_error", "Rate limited")]
)
def test_an_error_body_about_load_or_keys_is_nobodys_answer(kind, said):
    error = {"type": "error", "error": {"type": kind, "message": said}}
    start = [START, *block(0, {"type": "text", "text": "Pa"})]
    with pytest.raises(InfraFailure, match=f"refused: {said}"):
        answered(stream(*start, error), stream=True)
    with pytest.raises(InfraFailure, match=f"refused: {said}"):
        answered(error)


def test_a_missing_key_is_a_usage_error():
    agent = Anthropic(model="m", api_key_env="NONE")
    for call in (agent.check, agent.connect):
        with pytest.raises(UsageError, match="NONE is not set"):
            call(WORLD)
