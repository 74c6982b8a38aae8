"""A conversation that another tool kept, as an answer with its steps and turns."""

from __future__ import annotations

from dataclasses import replace

from gate.agents.traces.reading import read_trace
from gate.agents.traces.trace import Trace
from gate.errors import AgentFailure
from gate.files.json_values import as_list
from gate.records import Json, Response
from gate.text.shortening import tidy


def conversation(messages: Json, *, shows_calls: bool) -> Response:
    """Messages as OpenAI writes them, not nested too deeply. `shows_calls`: where none has a call,
    none was made; else the steps are then unknown. What cannot be read is an empty answer that says
    why in its faults.
    """
    if not messages:
        return Response(answer="")
    try:
        trace = read_trace(messages, "openai")
    except AgentFailure as error:
        message = f"the conversation cannot be read: {tidy(str(error), 200)}"
        return Response(answer="", trace_faults=(message,))
    return replace(
        response_of(trace),
        answer=trace.answer or _last_said(messages),
        steps=trace.steps if trace.steps or shows_calls else None,
    )


def response_of(trace: Trace) -> Response:
    """What a trace tells of an answer."""
    return Response(
        answer=trace.answer or "",
        retrieved=trace.retrieved,
        steps=trace.steps,
        usage=trace.usage,
        model=trace.model,
        finish_reason=trace.finish_reason,
        turns=trace.turns,
        omitted_steps=trace.omitted_steps,
        trace_faults=trace.faults,
    )


def _last_said(messages: Json) -> str:
    """What the agent said last, where the conversation ends with a call."""
    listed = as_list(messages)
    mine = (m for m in reversed(listed) if isinstance(m, dict) and m.get("role") == "assistant")
    return next((said for m in mine if isinstance(said := m.get("content"), str) and said), "")
