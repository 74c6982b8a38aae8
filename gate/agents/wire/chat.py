"""OpenAI's chat completions as many servers speak them: the request, and both forms of answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gate.agents.http_client.reply import HttpReply
from gate.agents.traces import plain, values
from gate.agents.traces.faults import TraceFaults
from gate.agents.traces.trace import MAX_STEPS, Trace
from gate.agents.wire import answer, sse, tracing
from gate.agents.wire.sse import is_stream
from gate.errors import AgentFailure, InfraFailure
from gate.files.json_values import as_object, as_string
from gate.records import CheckedJson, Json, Response, ToolCall, Usage
from gate.text.late_pattern import late_pattern

# What an error body inside HTTP 200 or a stream says when it is not the agent's fault
# (docs/semantics.md 4).
_NOBODYS_FAULT = late_pattern(
    r"authenticat|unauthori[sz]ed|api.?key|provider key|(invalid|expired|missing).{0,12}token"
    r"|quota|rate.?limit|too many requests|\boverloaded\b"
    r"|insufficient.{0,12}(balance|funds|credit)",
    re.IGNORECASE,
)
_BEYOND = frozenset(("retrieved", "context", "steps", "turns", "safety_violations", *tracing.KEYS))
_PLACES = ("gate", "metadata")  # where a server may put what the protocol has no key for


class NoAnswer(AgentFailure):
    """The body holds something else than an answer, such as an error."""


def messages(given: Json) -> list[dict[str, Json]]:
    """A case's input as messages: as it is, or as what the user says."""
    listed = given if isinstance(given, list) else []
    named = [one for one in listed if isinstance(one, dict) and isinstance(one.get("role"), str)]
    if named and len(named) == len(listed):
        return named
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return [{"role": "user", "content": text}]


def request_body(given: Json, model: str, options: Mapping[str, Json]) -> bytes:
    """`options` are merged in; a stream is asked to end with its token counts."""
    body: dict[str, Json] = {"model": model} if model else {}
    body["messages"] = messages(given)
    if options.get("stream"):
        body["stream_options"] = {"include_usage": True}
    return json.dumps({**body, **options}).encode()


def read(reply: HttpReply, *, tools_offered: bool) -> Response:
    """The answer, streamed or not. Raises AgentFailure, or InfraFailure for an error body about
    authentication or quota.

    An answer that says nothing about tools means: none was called, if some were offered; else that
    is unknown.
    """
    data = join_chunks(reply) if is_stream(reply) else answer.json_of(reply)
    choice, data = _choice(data, reply), as_object(data)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise AgentFailure(f"{reply.address}: choices[0] has no message")
    beyond = extras(data)
    faults = TraceFaults()
    usage = answer.usage_of(data.get("usage"), faults)
    told: dict[str, CheckedJson] = {
        "answer": _content(message, reply.address),
        "usage": beyond.usage if usage == _NO_USAGE else usage,
        "model": answer.text(data.get("model"), "model") or beyond.model,
        "finish_reason": answer.text(choice.get("finish_reason"), "finish_reason"),
        "trace_faults": (*beyond.trace_faults, *faults.sentences()),
    }
    # Nearly always nothing: to make a record costs a third of changing one.
    response = Response(**told) if beyond is _NOTHING else replace(beyond, **told)
    return (
        response
        if response.steps is not None
        else single_call_response(response, _calls(message), tools_offered)
    )


def single_call_response(
    response: Response, calls: tuple[ToolCall, ...] | None, tools_offered: bool
) -> Response:
    """The answer of a model that was asked once: its calls are left to its caller.

    Who offered no tools and hears of none does not know what went on behind the model's name.
    """
    if calls is None and not tools_offered:
        return response
    steps = calls or ()
    kept = tuple(replace(step, turn=0) for step in steps[:MAX_STEPS])
    return replace(response, steps=kept, turns=1, omitted_steps=len(steps) - len(kept))


def extras(data: Mapping[str, Json]) -> Response:
    """What the body says beyond the protocol (no answer): at the top, under `gate` or `metadata`.

    Other servers use `trace` and `context` for other things; those do not count.
    """
    places = [p for p in (data, *map(data.get, _PLACES)) if isinstance(p, dict)]
    if all(map(_BEYOND.isdisjoint, places)):
        return _NOTHING
    fields: dict[str, Json] = dict.fromkeys(_BEYOND)
    for place in reversed(places):  # the first one wins
        told = {key: place[key] for key in _BEYOND & place.keys() if place[key] is not None}
        fields.update(told)
    context = fields["context"] if isinstance(fields["context"], (str, list)) else None
    trace = tracing.read_trace_beside(fields)
    trace_told, faults = trace or Trace(shape=None), TraceFaults()
    retrieved = answer.documents(fields["retrieved"], "retrieved")
    beyond = Response(
        answer="",
        retrieved=trace_told.retrieved if retrieved is None else retrieved,
        context=answer.context_text(context),
        usage=trace_told.usage,
        model=trace_told.model,
        safety_violations=answer.violations(fields["safety_violations"]),
        **tracing.response_fields(fields["steps"], answer.turns_of(fields, faults), trace),
    )
    return answer.with_faults(beyond, faults)


_NOTHING, _NO_USAGE = Response(answer=""), Usage()


def _choice(data: Json, reply: HttpReply) -> dict[str, Json]:
    choices = data.get("choices") if isinstance(data, dict) else None
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    raise missing_answer_failure(data, reply, "choices")


def missing_answer_failure(
    data: Json, reply: HttpReply, missing: str
) -> AgentFailure | InfraFailure:
    """What a body without its answer comes to; nobody's fault where keys or quota were wrong."""
    message = reply.error_text(data)
    failed = isinstance(data, dict) and (data.get("status") == "error" or "error" in data)
    if failed and is_nobodys_fault(message):
        return InfraFailure(f"{reply.address} refused: {message}")
    return NoAnswer(f"{reply.address} answered without {missing}: {message}")


def is_nobodys_fault(message: str) -> bool:
    """Whether an error speaks of keys, quota or load."""
    return _NOBODYS_FAULT.search(message) is not None


def _content(message: Mapping[str, Json], address: str) -> str:
    """A refusal is an answer."""
    content = values.content_text(message.get("content"))
    if content is None:
        raise AgentFailure(f"{address}: choices[0].message.content is not a text")
    return content or answer.text(message.get("refusal"), "refusal") or ""


def _calls(message: Mapping[str, Json]) -> tuple[ToolCall, ...] | None:
    """The tool calls that the agent leaves to its caller; None when the message has no word."""
    if message.get("function_call"):  # before 2023-11
        return (plain.step(message["function_call"], "choices[0].message.function_call"),)
    if "tool_calls" not in message:
        return None
    where = "choices[0].message.tool_calls"
    calls = values.as_list(message["tool_calls"] or [], where)
    return tuple(plain.step(call, f"{where}[{n}]") for n, call in enumerate(calls))


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
    """A message of a stream, as far as it has arrived."""

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
