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
# Keys whose place in the agent's own answer a message names.
_PLACED = ("retrieved", "context", "steps", "model", "finish_reason", "safety_violations")

# Traces are read with the same eyes.
parse, first, text = values.parse, values.first, values.text
answer_text, cost_of, usage_of = values.as_text, values.cost_of, spending.usage_of


def json_of(reply: HttpReply) -> Json:
    """The body as JSON. Raises AgentFailure that shows how the body begins."""
    try:
        return parse(reply.body)
    except ValueError:
        kind = reply.headers.get("content-type", "").partition(";")[0].strip()
        kind_found = f"{reply.mask(kind)}, not JSON" if kind and "json" not in kind else "not JSON"
        excerpt = reply.excerpt() or "(nothing)"
        message, page = f"{reply.address} answered with {kind_found}: {excerpt}", reply.is_html
        raise AgentFailure(message, transport="html" if page else None) from None


def response(
    data: Json,
    *,
    model: str | None = None,
    section: str = "agent",
    trace: TraceShape = "auto",
    paths: Mapping[str, str] | None = None,
) -> Response:
    """An answer object of a plain agent (docs/agents.md), or a trace. Raises AgentFailure.

    `model` is used where the object names none; `trace` is the shape of the trace that comes with
    it or instead of it. Of a judge (`section` of gate.yml) an object that has other keys is the
    judgement itself. `paths`: where the agent's own answer has a key of the object, for messages.
    """
    if section in get_args(Role):
        judged = isinstance(data, dict) and not _is_answer(data)
        fields, trace_found = {ANSWERS[0]: data} if judged else data, None
    else:
        fields, trace_found = tracing.split_trace(data, trace, ANSWERS)
    fields = values.as_object(fields, "the answer")
    key = next((name for name in ANSWERS if name in fields), None)
    if key is None and trace_found is None:
        found = values.list_keys(fields)
        raise AgentFailure(f"the answer needs one of the keys answer, output, text; it {found}")
    place = {name: name for name in _PLACED} | dict(paths or {})
    trace_told = Trace(shape=None) if trace_found is None else trace_found
    given, steps = first(fields, *ANSWERS), first(fields, "steps", "tool_calls")
    faults = TraceFaults()
    usage = tracing.usage(fields, trace_found, faults)
    cost = cost_of(first(fields, "cost_usd", "cost"))
    retrieved = documents(fields.get("retrieved"), place["retrieved"])
    told_by_agent = Response(
        answer=answer_text(trace_told.answer if given is None else given),
        retrieved=trace_told.retrieved if retrieved is None else retrieved,
        context=context_text(fields.get("context"), place["context"]),
        usage=usage if cost is None else replace(usage, cost_usd=cost),
        model=text(fields.get("model"), place["model"]) or trace_told.model or model,
        finish_reason=text(fields.get("finish_reason"), place["finish_reason"])
        or trace_told.finish_reason,
        safety_violations=violations(fields.get("safety_violations"), place["safety_violations"]),
        state=values.as_object({} if fields.get("state") is None else fields["state"], "state"),
        **tracing.response_fields(steps, turns_of(fields, faults), trace_found, key=place["steps"]),
    )
    return with_faults(told_by_agent, faults)


def turns_of(data: Mapping[str, Json], faults: TraceFaults) -> int | None:
    """`turns`: how many times the model was called, where it is such a number."""
    turns = faults.number(data.get("turns"), "turns")
    return None if turns is None else int(turns)


def with_faults(response: Response, faults: TraceFaults) -> Response:
    """The answer with what is odd about its numbers."""
    sentences = faults.sentences()
    return (
        replace(response, trace_faults=(*response.trace_faults, *sentences))
        if sentences
        else response
    )


def _is_answer(data: Mapping[str, Json]) -> bool:
    named = [key for key in ANSWERS if key in data]
    return bool(named) and _BESIDE.issuperset(data.keys() - named)


def documents(value: Json, key: str) -> tuple[Document, ...] | None:
    """`retrieved`: ids, or objects {id, score, text}, best first."""
    if value is None:
        return None
    entries = enumerate(values.as_list(value, key))
    return tuple(plain.document(item, f"{key}[{n}]") for n, item in entries)


def context_text(value: Json, key: str = "context") -> str | None:
    """A text, or a list of texts or of objects with `text`, joined by empty lines."""
    if value is None or isinstance(value, str):
        return value
    passages = values.as_list(value, key)
    parts = [item.get("text") if isinstance(item, dict) else item for item in passages]
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) < len(parts):
        raise AgentFailure(f"{key} is not a text or a list of texts")
    return "\n\n".join(texts)


def violations(value: Json, key: str = "safety_violations") -> tuple[str, ...] | None:
    """Texts, or objects with a `type`, `name` or `message`."""
    if value is None:
        return None
    codes = [
        first(item, "type", "name", "message") if isinstance(item, dict) else item
        for item in values.as_list(value, key)
    ]
    texts = [code for code in codes if isinstance(code, str)]
    if len(texts) < len(codes):
        raise AgentFailure(f"{key} is not a list of texts")
    return tuple(texts)
