"""OpenAI's Responses: the request, and both forms of answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from gate.agents.http_client.reply import HttpReply
from gate.agents.traces.reading import read_trace
from gate.agents.wire import answer, chat, tracing
from gate.agents.wire.sse import events, is_stream
from gate.errors import AgentFailure
from gate.files.json_values import as_object
from gate.records import Json, Response

PATH = "/responses"
_ENDS = ("response.completed", "response.incomplete", "response.failed")


def request_body(given: Json, model: str, options: Mapping[str, Json]) -> bytes:
    """`options` are merged in."""
    body: dict[str, Json] = {"model": model} if model else {}
    body["input"] = given if isinstance(given, str) else chat.messages(given)
    return json.dumps({**body, **options}).encode()


def settings(request: Mapping[str, Json]) -> dict[str, Json]:
    """The settings of a case or suite, which have the names of chat completions, as they are called
    here.
    """
    return {"max_output_tokens" if k == "max_tokens" else k: v for k, v in request.items()}


def read(reply: HttpReply) -> Response:
    """The answer, streamed or not; what the server's own tools did are steps too. Raises
    AgentFailure, InfraFailure.
    """
    data = _last(reply) if is_stream(reply) else answer.json_of(reply)
    body = as_object(data)
    if not isinstance(body.get("output"), list) or body.get("status") == "failed":
        raise chat.missing_answer_failure(data, reply, "an output")
    beyond = chat.extras(body)
    trace = read_trace({**body, "object": "response"}, "openai_responses")
    return replace(
        beyond,
        answer=trace.answer or "",
        usage=trace.usage,
        model=trace.model,
        finish_reason=trace.finish_reason,
        **({} if beyond.steps is not None else tracing.response_fields(None, None, trace)),
    )


def _last(reply: HttpReply) -> Json:
    """The whole response, which the event that ends a stream has."""
    for event in events(reply):
        if event.get("type") in _ENDS:
            return event.get("response")
        if event.get("type") == "error":
            return event
    message = f"{reply.address} ended its stream before the end of the answer"
    raise AgentFailure(message, transport="cut_off")
