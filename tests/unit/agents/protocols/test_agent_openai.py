"""The agents that speak chat completions (openai, openagent), answer by answer."""

import json
from pathlib import Path

import pytest

from gate.agents.protocols.openagent import OpenAgent
from gate.agents.protocols.openai import OpenAI
from gate.errors import AgentFailure, InfraFailure, UsageError
from gate.plugins import World
from gate.records import Case, Document, ToolCall, Usage
from tests.support.raw_server import RawServer, ok, scripted


def world(**env):
    return World(env=env, root=Path())


def case(given="What is it?", **keys):
    return Case(id="c1", input=given, keys={"id": "c1", "input": given, **keys})


def ask(agent, given="What is it?", env=None):
    connection = agent.connect(world(**(env or {})))
    try:
        return connection.ask(case(given), timeout_s=5)
    finally:
        connection.close()


def body(message=None, **more):
    message = {"role": "assistant", "content": "Paris"} if message is None else message
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "x", "model": "m-1", "choices": [choice], **more}


def answered(data, agent=OpenAI, *headers, **options):
    """The Response that the agent makes of one answer of its server."""
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    with RawServer(scripted(ok(raw, *headers))) as server:
        return ask(agent(base_url=server.url, model="m", options=options))


def failed(data, kind=AgentFailure, agent=OpenAI, *headers, **options):
    with pytest.raises(kind) as caught:
        answered(data, agent, *headers, **options)
    return str(caught.value)


# --------------------------------------------------------------------------------- the request


def sent(agent_class, base, given="What is it?", env=None, **fields):
    """What the server saw: the path, the headers, the body."""
    seen = []

    def handler(peer):
        seen.append(peer.request())
        peer.answer(json.dumps(body()).encode())

    with RawServer(handler) as server:
        ask(agent_class(base_url=server.url + base, **fields), given, env)
    line, headers, raw = seen[0]
    return line.split()[1], headers, json.loads(raw)


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/v1/", "/v1/chat/completions"),
        ("/v1beta", "/v1beta/chat/completions"),
        ("/proxy/openai/v4", "/proxy/openai/v4/chat/completions"),
        ("/api", "/api/v1/chat/completions"),
        ("/v1/chat/completions", "/v1/chat/completions"),
        ("/x/chat/completions?api-version=1", "/x/chat/completions?api-version=1"),
        ("?key=1", "/v1/chat/completions?key=1"),
    ],
)
def test_where_openai_asks(base, path):
    assert sent(OpenAI, base, model="m")[0] == path


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/api/chat/completions"),
        ("/", "/api/chat/completions"),
        ("/api", "/api/chat/completions"),
        ("/api/v1", "/api/v1/chat/completions"),
        ("/api/chat/completions", "/api/chat/completions"),
        ("/api/v1/chat/completions", "/api/v1/chat/completions"),
        ("/behind/a/proxy", "/behind/a/proxy/api/chat/completions"),
    ],
)
def test_where_openagent_asks(base, path):
    assert sent(OpenAgent, base, model="m")[0] == path


def test_what_openai_sends():
    _, headers, data = sent(
        OpenAI,
        "",
        env={"MY_KEY": " sk-abc\n"},
        model="m",
        api_key_env="MY_KEY",
        options={"temperature": 0.2, "max_tokens": 5},
    )
    assert headers["authorization"] == "Bearer sk-abc"
    assert headers["content-type"] == "application/json"
    assert data == {
        "model": "m",
        "messages": [{"role": "user", "content": "What is it?"}],
        "temperature": 0.2,
        "max_tokens": 5,
    }


def test_without_model_and_key_neither_is_sent():
    _, headers, data = sent(OpenAI, "")
    assert "authorization" not in headers
    assert "model" not in data


def test_a_stream_is_asked_to_count_tokens_unless_told_otherwise():
    assert sent(OpenAI, "", options={"stream": True})[2]["stream_options"] == {
        "include_usage": True
    }
    own = {"stream": True, "stream_options": None}
    assert sent(OpenAI, "", options=own)[2]["stream_options"] is None


@pytest.mark.parametrize(
    ("given", "messages"),
    [
        ("hi", [{"role": "user", "content": "hi"}]),
        (
            [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
            [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
        ),
        ({"a": "ü"}, [{"role": "user", "content": '{"a": "ü"}'}]),
        ([1, 2], [{"role": "user", "content": "[1, 2]"}]),
        ([{"text": "no role"}], [{"role": "user", "content": '[{"text": "no role"}]'}]),
        ([], [{"role": "user", "content": "[]"}]),
    ],
)
def test_inputs_become_messages(given, messages):
    assert sent(OpenAI, "", given)[2]["messages"] == messages


@pytest.mark.parametrize("env", [{}, {"MY_KEY": ""}, {"MY_KEY": "  "}])
@pytest.mark.parametrize("agent", [OpenAI, OpenAgent])
def test_a_named_but_missing_key_is_a_usage_error(agent, env):
    made = agent(base_url="http://127.0.0.1:9", api_key_env="MY_KEY")
    for call in (made.check, made.connect):
        with pytest.raises(UsageError, match=r"agent.api_key_env: .* MY_KEY is not set"):
            call(world(**env))


# ---------------------------------------------------------------------------------- the answer


def test_a_whole_answer():
    usage = {
        "prompt_tokens": 30,
        "completion_tokens": 7,
        "total_tokens": 37,
        "prompt_tokens_details": {"cached_tokens": 10},
        "completion_tokens_details": {"reasoning_tokens": 3},
        "cost": 0.002,
    }
    response = answered(body(usage=usage))
    assert response.answer == "Paris"
    assert response.model == "m-1"
    assert response.finish_reason == "stop"
    assert response.usage == Usage(
        input_tokens=30, cached_tokens=10, output_tokens=7, reasoning_tokens=3, cost_usd=0.002
    )
    assert response.steps is None
    assert response.retrieved is None
    assert response.latency_ms is None


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (None, Usage()),
        ({}, Usage()),
        (
            {"prompt_tokens": 5, "prompt_cache_hit_tokens": 4},
            Usage(input_tokens=5, cached_tokens=4),
        ),
        ({"input_tokens": 5, "output_tokens": 2}, Usage(input_tokens=5, output_tokens=2)),
        ({"prompt_tokens": 5.0, "prompt_tokens_details": None}, Usage(input_tokens=5)),
    ],
)
def test_token_counts_that_are_not_said_stay_unknown(usage, counts):
    assert answered(body(usage=usage)).usage == counts


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": None}, ""),
        ({}, ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]}, "ab"),
        ({"content": None, "refusal": "I will not."}, "I will not."),
        ({"content": [{"type": "refusal", "refusal": "No."}]}, "No."),
        ({"content": "half \ud83d"}, "half ?"),
    ],
)
def test_every_form_of_content(message, text):
    assert answered(body(message)).answer == text


def call(arguments, **more):
    function = {"name": "search", "arguments": arguments}
    return {"id": "call_1", "type": "function", "function": function, **more}


@pytest.mark.parametrize(
    ("arguments", "parsed", "raw"),
    [
        ('{"q": 1}', {"q": 1}, None),
        ("{'q': 1}", None, "{'q': 1}"),
        ('{"q": ', None, '{"q": '),
        ("", {}, None),
        ({"q": 1}, {"q": 1}, None),
        ("[" * 100_000, None, "[" * 100_000),
    ],
)
def test_tool_calls_become_steps_and_broken_arguments_are_kept(arguments, parsed, raw):
    response = answered(body({"content": None, "tool_calls": [call(arguments)]}))
    assert response.answer == ""
    assert response.steps == (
        ToolCall(name="search", arguments=parsed, raw_arguments=raw, id="call_1", turn=0),
    )


def test_custom_tools_and_the_legacy_function_call():
    custom = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}
    assert answered(body({"content": "", "tool_calls": [custom]})).steps == (
        ToolCall(name="sql", arguments="SELECT 1", id="c", turn=0),
    )
    legacy = {"content": None, "function_call": {"name": "f", "arguments": "{}"}}
    assert answered(body(legacy)).steps == (ToolCall(name="f", arguments={}, turn=0),)


def test_no_tool_call_means_none_only_if_tools_were_offered_or_the_message_says_so():
    assert answered(body()).steps is None
    assert answered(body(), tools=[{"type": "function"}]).steps == ()
    assert answered(body({"content": "x", "tool_calls": []})).steps == ()
    assert answered(body({"content": "x", "tool_calls": None})).steps == ()


EXTRAS = {
    "retrieved": ["d1", {"id": "d2", "score": 0.5, "text": "t"}],
    "context": ["one", {"text": "two"}],
    "steps": [
        {"name": "a", "args": {"x": 1}, "result": [1], "id": "s1"},
        {"name": "b", "arguments": "{}", "result": "bad", "error": True},
    ],
    "safety_violations": ["pii", {"type": "unsafe_sql"}],
}


@pytest.mark.parametrize("place", ["top", "gate", "metadata"])
def test_keys_beyond_the_protocol(place):
    data = body(**EXTRAS) if place == "top" else body(**{place: EXTRAS})
    response = answered(data)
    assert response.answer == "Paris"
    assert response.retrieved == (
        Document(id="d1"),
        Document(id="d2", score=0.5, text="t"),
    )
    assert response.context == "one\n\ntwo"
    assert response.steps == (
        ToolCall(name="a", arguments={"x": 1}, result=[1], id="s1"),
        ToolCall(name="b", arguments={}, result="bad", error="bad"),
    )
    assert response.safety_violations == ("pii", "unsafe_sql")


def test_the_agents_own_trace_wins_over_the_calls_it_leaves_to_us():
    message = {"content": "x", "tool_calls": [call("{}")]}
    trace = [{"name": "done", "arguments": {}, "result": 1}]
    assert [s.name for s in answered(body(message, trace=trace)).steps] == ["done"]


def test_trace_and_context_of_other_kinds_do_not_count():
    response = answered(body(trace="abc-123", context={"id": 7}))
    assert (response.steps, response.context) == (None, None)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (body(retrieved="d1"), "retrieved is not a list"),
        (body(retrieved=[{"score": 1}]), "retrieved[0] has the key score; an id,"),
        (body(retrieved=[{"id": "a", "score": "high"}]), "retrieved[0].score is not a number"),
        (body(steps=[{"args": {}}]), "steps[0] has no name"),
        (body(safety_violations=[{}]), "safety_violations"),
        (body({"content": 5}), "content is not a text"),
        (body({"content": "", "tool_calls": ["x"]}), "tool_calls[0] is not an object"),
        ({"choices": [{"index": 0}]}, "choices[0] has no message"),
        (body(model=7), "model is not a text"),
    ],
)
def test_wrong_types_name_their_key(data, named):
    assert named in failed(data)


@pytest.mark.parametrize(
    ("data", "headers", "said"),
    [
        (b"<html>down for\nmaintenance</html>", ["Content-Type: text/html"], "text/html, not JSON"),
        (b'{"choices": [', ["Content-Type: application/json"], "not JSON"),
        (b"", [], "(nothing)"),
        (b"[" * 100_000, [], "not JSON"),
        (b"\xff\xfe\x00", [], "not JSON"),
    ],
)
def test_what_is_no_json_is_shown_by_its_beginning(data, headers, said):
    message = failed(data, AgentFailure, OpenAI, *headers)
    assert said in message
    assert "\n" not in message
    assert len(message) < 350


@pytest.mark.parametrize("agent", [OpenAI, OpenAgent])
@pytest.mark.parametrize(
    "data",
    [
        {"status": "error", "msg": "the model crashed", "data": None, "data2": None},
        {"error": {"message": "the model crashed"}},
        {"choices": [], "msg": "the model crashed"},
    ],
)
def test_an_error_inside_http_200_is_the_agents_fault(data, agent):
    message = failed(data, AgentFailure, agent)
    assert "answered without choices: the model crashed" in message


@pytest.mark.parametrize("agent", [OpenAI, OpenAgent])
@pytest.mark.parametrize(
    "said",
    [
        "Authentication failed: The provider is not found",
        "You exceeded your current quota",
        "error, status code: 429, Rate limit reached",
        "Insufficient Balance",
        "invalid API key",
    ],
)
def test_an_error_inside_http_200_about_keys_or_quota_is_nobodys_answer(said, agent):
    data = {"status": "error", "msg": said, "data": None, "data2": None}
    assert said in failed(data, InfraFailure, agent)


def test_an_answer_about_quotas_is_an_answer():
    assert answered(body({"content": "Your quota: authentication failed"})).answer


# ------------------------------------------------------------------------------------- streams


def stream(*chunks, end="data: [DONE]\n\n"):
    return ("".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + end).encode()


def delta(content=None, finish=None, **more):
    given = {**({"content": content} if content is not None else {}), **more}
    return {"model": "m-1", "choices": [{"index": 0, "delta": given, "finish_reason": finish}]}


SSE = "Content-Type: text/event-stream"


def streamed(data, *headers):
    return answered(data, OpenAI, *(headers or (SSE,)), stream=True)


def test_a_stream_is_put_together():
    usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    response = streamed(
        stream(delta("Pa", role="assistant"), delta("ris"), delta(finish="stop"), usage)
    )
    assert response.answer == "Paris"
    assert response.model == "m-1"
    assert response.finish_reason == "stop"
    assert response.usage == Usage(input_tokens=3, output_tokens=2)


def test_a_stream_with_comments_other_line_ends_and_odd_characters():
    chunk = json.dumps(delta("a\u2028b\x85c"), ensure_ascii=False)
    data = f": ping\r\n\r\nevent: x\r\ndata:{chunk}\r\n\r\ndata: [DONE]\r\n\r\n".encode()
    assert streamed(data).answer == "a\u2028b\x85c"


def test_tool_calls_come_in_pieces():
    def piece(index, **call):
        return delta(tool_calls=[{"index": index, **call}])

    response = streamed(
        stream(
            piece(0, id="a", function={"name": "f", "arguments": ""}),
            piece(1, id="b", function={"name": "g", "arguments": '{"y"'}),
            piece(0, function={"arguments": '{"x": 1}'}),
            piece(1, function={"arguments": ": 2}"}),
            delta(finish="tool_calls"),
        )
    )
    assert response.steps == (
        ToolCall(name="f", arguments={"x": 1}, id="a", turn=0),
        ToolCall(name="g", arguments={"y": 2}, id="b", turn=0),
    )
    legacy = [delta(function_call={"name": "f"}), delta(function_call={"arguments": "{}"})]
    response = streamed(stream(*legacy, delta(finish="function_call")))
    assert response.steps == (ToolCall(name="f", arguments={}, turn=0),)


def test_keys_beyond_the_protocol_in_the_last_chunk():
    last = {**delta(finish="stop"), "retrieved": ["d1"]}
    assert streamed(stream(delta("x"), last)).retrieved == (Document(id="d1"),)


@pytest.mark.parametrize(
    "data",
    [
        stream(delta("Paris"), end=""),
        stream(delta("Paris"), end='data: {"choices": [{"de'),
        stream(delta("Paris"), end="data: "),
        b"",
    ],
)
def test_a_stream_without_its_end_was_cut(data):
    with pytest.raises(AgentFailure, match="ended its stream"):
        streamed(data)


def test_an_end_is_the_finish_reason_or_done():
    assert streamed(stream(delta("a"), delta(finish="length"), end="")).finish_reason == "length"
    assert streamed(stream(delta("a"))).answer == "a"


def test_a_stream_cut_within_a_chunk_is_the_agents_fault():
    def handler(peer):
        peer.request()
        part = stream(delta("Par"), end="")
        peer.send(f"HTTP/1.1 200 OK\r\n{SSE}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        peer.send(b"%x\r\n%b\r\n" % (len(part), part))

    with (
        RawServer(handler) as server,
        pytest.raises(AgentFailure, match="before the end"),
    ):
        ask(OpenAI(base_url=server.url, options={"stream": True}))


def test_an_error_within_a_stream():
    data = stream(delta("Par"), {"error": {"message": "out of memory"}}, end="")
    with pytest.raises(AgentFailure, match="without choices: out of memory"):
        streamed(data)
    data = stream({"status": "error", "msg": "Authentication failed: x"}, end="")
    with pytest.raises(InfraFailure, match="Authentication failed"):
        streamed(data)


def test_a_server_that_does_not_stream_and_one_that_mislabels_it():
    data = json.dumps(body()).encode()
    assert streamed(data, "Content-Type: application/json").answer == "Paris"
    assert streamed(stream(delta("Paris")), "Content-Type: text/plain").answer == "Paris"


# -------------------------------------------------------------------------------------- checks


def test_openai_is_checked_without_asking():
    with RawServer(scripted()) as server:
        OpenAI(base_url=server.url).check(world())
    with pytest.raises(InfraFailure, match=r"start the agent there or set agent.base_url"):
        OpenAI(base_url=server.url).check(world())


def test_openagent_is_asked_for_its_health():
    paths = []

    def handler(peer):
        paths.append(peer.request()[0])
        peer.answer(b'{"status": "ok", "msg": "", "data": null, "data2": null}')

    with RawServer(handler) as server:
        OpenAgent(base_url=f"{server.url}/api/").check(world())
    assert paths == ["GET /api/health HTTP/1.1"]


@pytest.mark.parametrize(
    "answer",
    [
        ok(b'{"status": "error", "msg": "database is gone"}'),
        ok(b"<html></html>"),
        ok(b"[]"),
        ok(b"nope", status="404 Not Found"),
        ok(b"down", status="503 Unavailable"),
    ],
)
def test_an_openagent_that_is_not_well_cannot_be_asked(answer):
    with RawServer(scripted(answer)) as server, pytest.raises(InfraFailure, match="/api/health"):
        OpenAgent(base_url=server.url).check(world())
