"""Whatever an agent sends becomes a Response or a failure of the two kinds; nothing else."""

import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gate.agents.http_client.reply import HttpReply
from gate.agents.protocols.anthropic import Anthropic
from gate.agents.wire import answer, chat
from gate.errors import AgentFailure, InfraFailure
from gate.records import Response
from gate.records.codec import to_json
from tests.support.any_json import spoilt

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}, "index": 0}
USAGE = {"prompt_tokens": 1, "input_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}}
BEYOND = {
    "retrieved": [{"id": "d", "score": 1, "text": "t"}, "e"],
    "context": [{"text": "t"}],
    "steps": [{"name": "f", "args": {}, "result": 1, "error": True}],
    "safety_violations": [{"type": "x"}],
}
MESSAGE = {"content": [{"text": "a"}], "refusal": None, "tool_calls": [CALL]}
BODY = {
    "model": "m",
    "choices": [{"message": MESSAGE, "finish_reason": "stop"}],
    "usage": USAGE,
    "gate": BEYOND,
}
DELTA = {"content": "a", "tool_calls": [CALL], "function_call": {"name": "f"}}
CHUNKS = [
    {"model": "m", "choices": [{"delta": DELTA, "finish_reason": "stop"}], "usage": USAGE},
    {"choices": [], "usage": USAGE, **BEYOND},
]
BLOCKS = [
    {"type": "text", "text": "a"},
    {"type": "tool_use", "id": "t", "name": "f", "input": {}},
    {"type": "tool_result", "tool_use_id": "t", "content": "x", "is_error": True},
]
CLAUDE = {"content": BLOCKS, "usage": USAGE, "stop_reason": "end_turn", "model": "m"}
EVENTS = [
    {"type": "message_start", "message": {"usage": USAGE, "model": "m"}},
    {"type": "content_block_start", "index": 0, "content_block": BLOCKS[0]},
    {"type": "content_block_delta", "index": 0, "delta": {"text": "b", "partial_json": "{}"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": USAGE},
]
PLAIN = {"answer": "a", "usage": USAGE, "cost": 1, "model": "m", **BEYOND}


def check(read):
    try:
        found = read()
    except (AgentFailure, InfraFailure):
        return
    assert isinstance(found, Response)
    json.dumps(to_json(found), ensure_ascii=False).encode()


def reply(body, kind="application/json"):
    return HttpReply(status=200, headers={"content-type": kind}, body=body, address="http://a")


def whole(data):
    return reply(json.dumps(data).encode())


def stream(chunks):
    lines = [f"data: {json.dumps(c)}\n\n" for c in chunks] if isinstance(chunks, list) else []
    return reply("".join(lines).encode(), "text/event-stream")


@given(spoilt(BODY))
def test_chat_completions(data):
    check(lambda: chat.read(whole(data), tools_offered=False))


@given(spoilt(CHUNKS))
def test_streamed_chat_completions(data):
    check(lambda: chat.read(stream(data), tools_offered=True))


@given(spoilt(CLAUDE))
@example({**CLAUDE, "content": [{"type": "tool_use", "id": ["x"], "name": "f", "input": "\ud800"}]})
def test_anthropic_messages(data):
    check(lambda: Anthropic()._read_reply(whole(data)))


@given(spoilt(EVENTS))
def test_streamed_anthropic_messages(data):
    check(lambda: Anthropic()._read_reply(stream(data)))


@given(spoilt(PLAIN))
def test_answer_objects(data):
    check(lambda: answer.response(answer.json_of(whole(data))))


@settings(max_examples=120)
@given(st.binary(max_size=60), st.sampled_from(["application/json", "text/event-stream", ""]))
@example(b"[" * 50_000, "application/json")
@example(b'{"choices": [{"message": {"content": "\\ud83d"}}]}', "application/json")
@example(b"data: " + b"[" * 50_000, "text/event-stream")
def test_any_bytes(body, kind):
    check(lambda: chat.read(reply(body, kind), tools_offered=False))
    check(lambda: Anthropic()._read_reply(reply(body, kind)))
