"""The three protocols the sample agent speaks: reading requests, shaping replies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gate.agents.sample_agent.analyst import MODEL
from gate.records import Json, Response, Usage
from gate.records.codec import to_json

_PIECE = re.compile(r"\S+\s*|\s+")
_WORDS_PER_CHUNK = 8


class BadRequest(Exception):
    """A request that cannot be answered; `status` is the HTTP status that says so."""

    def __init__(self, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    question: str
    model: str
    system: str
    stream: bool
    include_usage: bool


def chat_request(body: Json) -> ChatRequest:
    """The last user message and the last system message of a chat completion request; all others
    are left out, as OpenAgent does. Raises BadRequest.
    """
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
        raise BadRequest("the body must be a JSON object with a list 'messages'")
    question = _last(body["messages"], "user")
    if not question.strip():
        raise BadRequest("'messages' holds no user message with text")
    options = body.get("stream_options")
    return ChatRequest(
        question=question,
        model=str(body.get("model") or MODEL),
        system=_last(body["messages"], "system"),
        stream=body.get("stream") is True,
        include_usage=isinstance(options, dict) and options.get("include_usage") is True,
    )


def plain_question(body: Json) -> str:
    """The question of `{"question": ...}`. Raises BadRequest."""
    question = body.get("question") if isinstance(body, dict) else None
    if not isinstance(question, str) or not question.strip():
        raise BadRequest("the body must be a JSON object with a text 'question'")
    return question


def trace(response: Response) -> dict[str, Json]:
    """What an evaluator wants beside the answer."""
    return {
        "retrieved": to_json(response.retrieved),
        "steps": to_json(response.steps),
        "turns": response.turns,
        "context": response.context,
        "safety_violations": to_json(response.safety_violations),
    }


def plain_answer(response: Response, *, latency_ms: float) -> Json:
    return {
        "answer": response.answer,
        "model": response.model,
        "usage": to_json(response.usage),
        "latency_ms": round(latency_ms, 3),
        **trace(response),
    }


def openai_completion(response: Response, *, number: str, created: int) -> Json:
    """A chat.completion with the trace as further top-level keys."""
    message = {"role": "assistant", "content": response.answer}
    return {
        **_head("chat.completion", number, created, MODEL),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": usage(response.usage),
        **trace(response),
    }


def openagent_completion(
    response: Response, request: ChatRequest, *, number: str, created: int
) -> Json:
    """OpenAgent's body: the model is the one asked for, and there is no trace in it."""
    choice: Json = {
        "index": 0,
        "message": {"role": "assistant", "content": response.answer},
        "finish_reason": "stop",
        "content_filter_results": {},
    }
    details = {"prompt_tokens_details": None, "completion_tokens_details": None}
    return {
        **_head("chat.completion", number, created, request.model),
        "choices": [choice],
        "usage": {**usage(response.usage), **details},
        "system_fingerprint": "",
    }


def chunks(
    response: Response, request: ChatRequest, *, number: str, created: int, with_trace: bool
) -> Iterator[str]:
    """The data lines of a streamed completion; the last is `[DONE]`.

    The trace stands in the chunk that ends the answer, the usage in one of its own after it.
    """
    head = _head("chat.completion.chunk", number, created, MODEL if with_trace else request.model)

    def chunk(delta: Mapping[str, Json], finish: str | None, **more: Json) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return json.dumps({**head, "choices": [choice], **more})

    yield chunk({"role": "assistant", "content": ""}, None)
    pieces = _PIECE.findall(response.answer)
    for start in range(0, len(pieces), _WORDS_PER_CHUNK):
        yield chunk({"content": "".join(pieces[start : start + _WORDS_PER_CHUNK])}, None)
    yield chunk({}, "stop", **(trace(response) if with_trace else {}))
    if request.include_usage or not with_trace:
        yield json.dumps({**head, "choices": [], "usage": usage(response.usage)})
    yield "[DONE]"


def usage(used: Usage) -> dict[str, Json]:
    return {
        "prompt_tokens": used.input_tokens,
        "completion_tokens": used.output_tokens,
        "total_tokens": used.total_tokens,
    }


def openai_error(message: str, *, kind: str, code: str | None) -> Json:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def openagent_status(status: str, message: str = "") -> Json:
    """OpenAgent's envelope; its errors come with HTTP 200."""
    return {"status": status, "msg": message, "data": None, "data2": None}


def _head(kind: str, number: str, created: int, model: str) -> dict[str, Json]:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": created, "model": model}


def _last(messages: list[Json], role: str) -> str:
    """The text of the last message of that role; empty without one."""
    matching = [m for m in messages if isinstance(m, dict) and m.get("role") == role]
    return _text(matching[-1].get("content")) if matching else ""


def _text(content: Json) -> str:
    if isinstance(content, list):
        parts = [p.get("text") for p in content if isinstance(p, dict) and p.get("type") == "text"]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""
