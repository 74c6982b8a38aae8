"""A streamed chat completion put together as the body that would have come in one piece."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gate.agents.http_client.reply import HttpReply
from gate.agents.wire import answer, sse
from gate.errors import AgentFailure
from gate.files.json_values import as_string
from gate.records import Json


@dataclass(slots=True, kw_only=True)
class _Call:
    """A tool call, or the legacy function call, whose pieces are still coming."""

    id: Json = None
    name: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)

    def add(self, piece: Mapping[str, Json]) -> None:
        function = piece.get("function")
        if not isinstance(function, dict):
            return
        self.id = piece.get("id") or self.id
        self.name.append(as_string(function.get("name")))
        self.arguments.append(as_string(function.get("arguments")))

    def to_body(self) -> dict[str, Json]:
        function = {"name": "".join(self.name), "arguments": "".join(self.arguments)}
        return {"id": self.id, "function": function}


@dataclass(slots=True, kw_only=True)
class _Message:
    """As far as it has come."""

    content: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: dict[int, _Call] = field(default_factory=dict)
    finish_reason: Json = None

    def add(self, choice: Mapping[str, Json]) -> None:
        self.finish_reason = choice.get("finish_reason") or self.finish_reason
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return
        self.content.append(as_string(delta.get("content")))
        self.refusal.append(as_string(delta.get("refusal")))
        pieces = delta.get("tool_calls")
        if isinstance(delta.get("function_call"), dict):
            pieces = [{"index": 0, "function": delta["function_call"]}]
        for piece in pieces if isinstance(pieces, list) else ():
            if isinstance(piece, dict) and isinstance(piece.get("index", 0), int):
                self.calls.setdefault(piece.get("index", 0), _Call()).add(piece)

    def to_body(self) -> dict[str, Json]:
        message: dict[str, Json] = {
            "content": "".join(self.content),
            "refusal": "".join(self.refusal) or None,
        }
        if self.calls:
            message["tool_calls"] = [self.calls[index].to_body() for index in sorted(self.calls)]
        return {"message": message, "finish_reason": self.finish_reason}


def join_chunks(reply: HttpReply) -> dict[str, Json]:
    """The whole body; keys beyond `choices` are those of the last chunk that has them.

    A body without `choices` where the server sent an error instead. Raises AgentFailure when the
    stream ends before the answer does.
    """
    body: dict[str, Json] = {}
    message = _Message()
    done = False
    for chunk in sse.events(reply):
        done = done or "done" in chunk
        choices = chunk.get("choices")
        if choices is None and answer.first(chunk, "error", "msg") is not None:
            return chunk
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            message.add(choices[0])
        body.update({k: v for k, v in chunk.items() if k != "choices" and v is not None})
    if not done and not message.finish_reason:
        raise AgentFailure(
            f"{reply.address} ended its stream before the end of the answer", transport="cut_off"
        )
    return {**body, "choices": [message.to_body()]}
