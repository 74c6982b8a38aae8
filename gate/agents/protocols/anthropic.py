"""An agent behind Anthropic's messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gate.agents.http_client.endpoint import Endpoint, join_endpoint, key_of, reach
from gate.agents.http_client.reply import HttpReply
from gate.agents.http_client.route import format_address
from gate.agents.traces import plain, values
from gate.agents.traces.faults import TraceFaults
from gate.agents.wire import answer, chat
from gate.agents.wire.sse import events, is_stream
from gate.errors import AgentFailure
from gate.files.json_values import as_object, as_objects
from gate.plugins import AGENTS, Connection, World
from gate.records import Case, Json, Response, ToolCall, Usage

VERSION = "2023-06-01"  # of the protocol
MAX_TOKENS = 4096  # the protocol wants a limit; options.max_tokens sets another


@AGENTS.register("anthropic")
@dataclass(frozen=True, slots=True, kw_only=True)
class Anthropic:
    """POST {base_url}/v1/messages; `options` become keys of the request's body."""

    base_url: str = field(default="https://api.anthropic.com", repr=False)
    model: str = ""
    api_key_env: str | None = None
    timeout_s: float = 240.0
    concurrency: int = 16
    requests_per_minute: float | None = None
    adaptive: bool = True
    options: Mapping[str, Json] = field(default_factory=dict, repr=False)

    def describe(self) -> str:
        return f"anthropic {self.model} at {format_address(self.base_url)}"

    def check(self, world: World) -> None:
        key_of(world, self.api_key_env)
        reach(world, self.base_url, timeout_s=self.timeout_s)

    def connect(self, world: World) -> Connection:
        key = key_of(world, self.api_key_env)
        headers = {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}
        url = join_endpoint(self.base_url, "/messages")
        return Endpoint(world, url, headers, write=self._write, read=self._read_reply)

    def _write(self, case: Case) -> bytes:
        """System messages move to where this protocol has them."""
        messages = chat.messages(case.input)
        system = [m for m in messages if m["role"] in ("system", "developer")]
        body: dict[str, Json] = {
            "model": self.model,
            "max_tokens": MAX_TOKENS,
            "messages": [m for m in messages if m not in system],
        }
        if system:
            body["system"] = "\n\n".join(
                values.content_text(m.get("content")) or "" for m in system
            )
        return json.dumps({**body, **self.options, **case.request}).encode()

    def _read_reply(self, reply: HttpReply) -> Response:
        data = _join_events(reply) if is_stream(reply) else answer.json_of(reply)
        body = as_object(data)
        if not isinstance(body.get("content"), list):
            raise chat.missing_answer_failure(data, reply, "content")
        blocks = as_objects(body["content"])
        beyond = chat.extras(body)
        faults = TraceFaults()
        usage = answer.usage_of(body.get("usage"), faults)
        response = replace(
            answer.with_faults(beyond, faults),
            answer="".join(answer.text(b.get("text"), "content.text") or "" for b in blocks),
            usage=beyond.usage if usage == Usage() else usage,
            model=answer.text(body.get("model"), "model") or beyond.model,
            finish_reason=answer.text(body.get("stop_reason"), "stop_reason"),
        )
        if response.steps is not None:
            return response
        return chat.single_call_response(response, _steps(blocks) or None, "tools" in self.options)


def _steps(blocks: list[dict[str, Json]]) -> tuple[ToolCall, ...]:
    """Calls left to the caller, and those that the server made, with what came of them."""
    results = {str(block["tool_use_id"]): block for block in blocks if "tool_use_id" in block}
    calls: list[ToolCall] = []
    for block in blocks:
        if block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use"):
            result = results.get(str(block.get("id")), {})
            done = {"result": result.get("content"), "error": bool(result.get("is_error"))}
            calls.append(plain.step({**block, **done}, f"content[{len(calls)}]"))
    return tuple(calls)


def _join_events(reply: HttpReply) -> dict[str, Json]:
    """A stream's events as the body that would have come in one piece."""
    whole: dict[str, Json] = {}
    blocks: dict[int, dict[str, Json]] = {}
    pieces: dict[int, list[dict[str, Json]]] = {}
    usage: dict[str, Json] = {}
    for event in events(reply):
        kind, index = event.get("type"), event.get("index")
        if kind == "error":
            return event
        message, block, delta = map(event.get, ("message", "content_block", "delta"))
        if kind == "message_start" and isinstance(message, dict):
            whole = dict(message)
        elif kind == "content_block_start" and isinstance(block, dict):
            if isinstance(index, int):
                blocks[index], pieces[index] = dict(block), []
        elif kind == "content_block_delta" and isinstance(delta, dict):
            if isinstance(index, int) and index in blocks:
                pieces[index].append(delta)
        elif kind == "message_delta" and isinstance(delta, dict):
            whole.update(delta)
        started = whole.get("usage") if kind == "message_start" else event.get("usage")
        usage.update(started if isinstance(started, dict) else {})
    if not whole.get("stop_reason"):
        message = f"{reply.address} ended its stream before the end of the answer"
        raise AgentFailure(message, transport="cut_off")
    content = [_block(blocks[index], pieces[index]) for index in sorted(blocks)]
    return {**whole, "usage": usage, "content": content}


def _block(block: dict[str, Json], pieces: list[dict[str, Json]]) -> dict[str, Json]:
    said = [text for piece in pieces if isinstance(text := piece.get("text"), str)]
    given = [piece.get("partial_json") for piece in pieces]
    if said:
        begun = answer.text(block.get("text"), "content_block.text") or ""
        block["text"] = begun + "".join(said)
    if any(given):
        block["input"] = "".join(piece for piece in given if isinstance(piece, str))
    return block
