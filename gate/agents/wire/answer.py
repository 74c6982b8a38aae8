"""What agents send, made into a Response: one place for the key names and types that are accepted.

Everything here is hostile: a wrong type is an AgentFailure that names the key, never a crash.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

from gate.agents.http_client.reply import HttpReply
from gate.agents.traces import plain, spending, values
from gate.agents.traces.faults import TraceFaults
from gate.agents.traces.trace import Trace
from gate.agents.wire import tracing
from gate.agents.wire.tracing import TraceShape
from gate.errors import AgentFailure
from gate.records import Document, Json, Response, Role

ANSWERS = ("answer", "output", "text")
_BESIDE = {  # what else an answer object may have
    *("retrieved", "context", "steps", "tool_calls", "usage", "cost_usd", "cost", "model"),
    *("finish_reason", "safety_violations", "state", *spending.COUNTS),
}

# Traces are read with the same eyes.
parse, first, text = values.parse, values.first, values.text
answer_text, cost_of, usage_of = values.as_text, values.cost_of, spending.usage_of


def json_of(reply: HttpReply) -> Json:
    """The body as JSON. Raises AgentFailure that shows how the body begins."""
    try:
        return parse(reply.body)
    except ValueError:
        kind = reply.headers.get("content-type", "").partition(";")[0].strip()
        found = f"{reply.mask(kind)}, not JSON" if kind and "json" not in kind else "not JSON"
        said = reply.excerpt() or "(nothing)"
        message, page = f"{reply.address} answered with {found}: {said}", reply.is_html
        raise AgentFailure(message, transport="html" if page else None) from None


def response(
    data: Json,
    *,
    model: str | None = None,
    section: str = "agent",
    trace: TraceShape = "auto",
) -> Response:
    """An answer object of a plain agent (docs/agents.md), or a trace. Raises AgentFailure.

    `model` is used where the object names none; `trace` is the shape of the trace that comes with
    it or instead of it. Of a judge (`section` of gate.yml) an object that has other keys is the
    judgement itself.
    """
    if section in get_args(Role):
        judged = isinstance(data, dict) and not _is_answer(data)
        own, found = {ANSWERS[0]: data} if judged else data, None
    else:
        own, found = tracing.split_trace(data, trace, ANSWERS)
    values.as_object(own, "the answer")
    key = next((name for name in ANSWERS if name in own), None)
    if key is None and found is None:
        raise AgentFailure("the answer has none of the keys answer, output, text")
    told = Trace(shape=None) if found is None else found
    given, steps = first(own, *ANSWERS), first(own, "steps", "tool_calls")
    faults = TraceFaults()
    usage = tracing.usage(own, found, faults)
    cost = cost_of(first(own, "cost_usd", "cost"))
    retrieved = documents(own.get("retrieved"), "retrieved")
    told_by_agent = Response(
        answer=answer_text(told.answer if given is None else given),
        retrieved=told.retrieved if retrieved is None else retrieved,
        context=context_text(own.get("context"), "context"),
        usage=usage if cost is None else replace(usage, cost_usd=cost),
        model=text(own.get("model"), "model") or told.model or model,
        finish_reason=text(own.get("finish_reason"), "finish_reason") or told.finish_reason,
        safety_violations=violations(own.get("safety_violations")),
        state=values.as_object({} if own.get("state") is None else own["state"], "state"),
        **tracing.response_fields(steps, turns_of(own, faults), found),
    )
    return with_faults(told_by_agent, faults)


def turns_of(data: Mapping[str, Json], faults: TraceFaults) -> int | None:
    """`turns`: how many times the model was called, where it is such a number."""
    found = faults.number(data.get("turns"), "turns")
    return None if found is None else int(found)


def with_faults(found: Response, faults: TraceFaults) -> Response:
    """The answer with what is odd about its numbers."""
    told = faults.sentences()
    return replace(found, trace_faults=(*found.trace_faults, *told)) if told else found


def _is_answer(data: Mapping[str, Json]) -> bool:
    named = [key for key in ANSWERS if key in data]
    return bool(named) and _BESIDE.issuperset(data.keys() - named)


def documents(value: Json, key: str) -> tuple[Document, ...] | None:
    """`retrieved`: ids, or objects {id, score, text}, best first."""
    if value is None:
        return None
    found = enumerate(values.as_list(value, key))
    return tuple(plain.document(item, f"{key}[{n}]") for n, item in found)


def context_text(value: Json, key: str) -> str | None:
    """A text, or a list of texts or of objects with `text`, joined by empty lines."""
    if value is None or isinstance(value, str):
        return value
    found = values.as_list(value, key)
    parts = [item.get("text") if isinstance(item, dict) else item for item in found]
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) < len(parts):
        raise AgentFailure(f"{key} is not a text or a list of texts")
    return "\n\n".join(texts)


def violations(value: Json, key: str = "safety_violations") -> tuple[str, ...] | None:
    """Texts, or objects with a `type`, `name` or `message`."""
    if value is None:
        return None
    found = [
        first(item, "type", "name", "message") if isinstance(item, dict) else item
        for item in values.as_list(value, key)
    ]
    if not all(isinstance(item, str) for item in found):
        raise AgentFailure(f"{key} is not a list of texts")
    return tuple(found)
