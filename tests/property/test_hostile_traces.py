"""Whatever a trace holds, it is read or refused: a Trace or an AgentFailure, nothing else."""

import json

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gate.agents.traces.reading import read_trace
from gate.agents.traces.trace import MAX_STEPS, Trace
from gate.agents.wire import answer
from gate.errors import AgentFailure
from gate.records import Response
from gate.records.codec import from_json, to_json
from tests.support.any_json import ANY_JSON, spoilt

CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
USAGE = {"input_tokens": 1, "output_tokens": 1, "input_tokens_details": {"cached_tokens": 1}}
OPENAI = {
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "?"}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL, CALL], "usage": USAGE},
        {"role": "tool", "tool_call_id": "1", "content": "r", "name": "f"},
        {"role": "assistant", "function_call": {"name": "f", "arguments": "{"}},
        {"object": "chat.completion", "choices": [{"message": {"content": "x"}}], "model": "m"},
    ],
    "usage": USAGE,
}
RESPONSES = [
    {
        "object": "response",
        "status": "incomplete",
        "incomplete_details": {"reason": "x"},
        "usage": USAGE,
        "output": [
            {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
            {"type": "file_search_call", "id": "2", "queries": ["q"], "results": [{}]},
            {"type": "mcp_call", "id": "3", "name": "g", "error": {"message": "m"}},
        ],
    },
    {"type": "function_call_output", "call_id": "1", "output": [{"type": "input_text"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
]
ANTHROPIC = {
    "messages": [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "x"},
                {"type": "tool_use", "id": "1", "name": "f", "input": {}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": []}]},
    ],
    "responses": [{"usage": USAGE, "stop_reason": "end_turn", "model": "m"}],
}
LANGCHAIN = {
    "messages": [
        {
            "type": "ai",
            "content": "",
            "id": "m",
            "tool_calls": [{"name": "f", "args": {}, "id": "1"}],
            "invalid_tool_calls": [{"name": "f", "args": "{", "id": "2", "error": "e"}],
            "usage_metadata": {"input_tokens": 1, "input_token_details": {"cache_read": 1}},
            "response_metadata": {"model_name": "m", "finish_reason": "stop"},
        },
        {"type": "tool", "data": {"content": "r", "tool_call_id": "1", "status": "error"}},
        {"lc": 1, "type": "constructor", "id": ["AIMessage"], "kwargs": {"content": "x"}},
    ]
}
GRAPH = [{"agent": LANGCHAIN}, ["ns", {"tools": LANGCHAIN}]]


def span(id, parent, **found):
    pairs = [{"key": key, "value": value} for key, value in found.items()]
    times = {"startTimeUnixNano": "2", "endTimeUnixNano": "1"}
    return {"spanId": id, "parentSpanId": parent, "traceId": "t", "attributes": pairs, **times}


PARTS = [
    {"type": "text", "content": "x"},
    {"type": "tool_call", "id": "1", "name": "f", "arguments": {}},
    {"type": "tool_call_response", "id": "1", "response": "r"},
]
SAID = {"stringValue": json.dumps([{"role": "assistant", "parts": PARTS}])}
CHAT = {
    "gen_ai.operation.name": {"stringValue": "chat"},
    "gen_ai.output.messages": SAID,
    "gen_ai.input.messages": SAID,
    "gen_ai.usage.input_tokens": {"intValue": "1"},
    "gen_ai.response.finish_reasons": {"arrayValue": {"values": [{"stringValue": "stop"}]}},
}
RAN = {
    "gen_ai.operation.name": {"stringValue": "execute_tool"},
    "gen_ai.tool.name": {"stringValue": "f"},
    "gen_ai.tool.call.result": {"kvlistValue": {"values": [{"key": "a", "value": {}}]}},
}
MCP = {"mcp.method.name": {"stringValue": "tools/call"}, "gen_ai.tool.name": {"stringValue": "f"}}
LLM = {
    "openinference.span.kind": {"stringValue": "LLM"},
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": {"stringValue": "f"},
    "llm.output_messages.0.message.contents.0.message_content.text": {"stringValue": "x"},
    "llm.token_count.prompt": {"doubleValue": 1.0},
}
FOUND = {
    "openinference.span.kind": {"stringValue": "RETRIEVER"},
    "retrieval.documents.0.document.id": {"stringValue": "d"},
}
OTEL = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        span("a", "", **CHAT),
                        span("b", "a", **RAN),
                        span("c", "b", **MCP),
                        span("d", "a", **LLM),
                        span("e", "e", **FOUND),
                    ]
                }
            ]
        }
    ]
}
AUDIT = [
    {"type": "llm_call", "sessionId": "s", "model": "m"},
    {"type": "tool_call", "sessionId": "s", "tool": "f", "outcome": "attempted"},
    {"type": "tool_call", "sessionId": "s", "tool": "f", "outcome": "success", "durationMs": 1},
    {"type": "message", "sessionId": "s", "role": "assistant", "text": "x"},
]
SHAPES = {
    "openai": OPENAI,
    "openai_responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "langchain": LANGCHAIN,
    "langgraph": GRAPH,
    "otel": OTEL,
    "openagent": AUDIT,
}


def check(data, shape):
    try:
        found = read_trace(data, shape)
    except AgentFailure:
        return
    assert isinstance(found, Trace)
    assert len(found.steps) <= MAX_STEPS
    assert all(step.latency_ms is None or step.latency_ms >= 0 for step in found.steps)
    assert len(found.faults) <= 12
    assert all(len(told) < 400 and "\n" not in told for told in found.faults)


def test_each_of_them_is_read_when_nothing_is_spoilt():
    for shape, data in SHAPES.items():
        assert read_trace(data).shape == shape
        assert read_trace(data).steps


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(SHAPES)).flatmap(lambda s: st.tuples(spoilt(SHAPES[s]), st.just(s))))
def test_a_spoilt_trace(spoiling):
    data, shape = spoiling
    check(data, None)
    check(data, shape)


@given(ANY_JSON | st.text(max_size=80), st.sampled_from([None, *SHAPES]))
@example("[" * 100_000, None)
@example("Tool Call: [" + "]" * 500 + " " * 500 + "x", "openagent")
@example("Tool Result: [\n" * 50, "openagent")
def test_anything(data, shape):
    check(data, shape)


@given(st.sampled_from(sorted(SHAPES)).flatmap(lambda shape: spoilt(SHAPES[shape])))
def test_what_comes_with_an_answer_can_be_written_down_and_read_again(data):
    try:
        sent = answer.parse(json.dumps({"answer": "x", "trace": data}).encode())
        found = answer.response(sent)
    except AgentFailure:
        return
    written = json.loads(json.dumps(to_json(found), ensure_ascii=False).encode())
    assert to_json(from_json(Response, written)) == to_json(found)
