"""What deepeval keeps of an answer: its text, tools, context, tokens, time; or why none came."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from gate.files.json_values import as_amount, as_list, as_objects, line_or_none
from gate.importers.formats.deepeval.run import DeepEvalCase
from gate.importers.trials.build import usage_of
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.records import Json, Response, ToolCall, TrialStatus

ERROR, TIMEOUT, NO_OUTPUT = "agent_error", "timeout", "no_output"
_SHOWN = 500  # characters of an error
_TIMED_OUT = re.compile(r"timed out|time-?out", re.IGNORECASE)


def failure(case: DeepEvalCase) -> tuple[TrialStatus, str, str] | None:
    """Status, code and message of an answer that never came; None: it did. deepeval has each of
    them as a failed case.
    """
    if case.conversational or case.text("actual_output"):
        return None
    said = next(_errors(case.trace), "")
    if case.trace.get("status") == "ERRORED":
        if is_nobodys(said):
            return "infra_error", ERROR, said
        return "agent_error", TIMEOUT if _TIMED_OUT.search(said) else ERROR, said or "no message"
    if case.data.get("success") is False and all(metric.broke for metric in case.metrics):
        return "agent_error", NO_OUTPUT, "no output that a metric could judge"
    return None


def _errors(trace: Mapping[str, Json]) -> Iterator[str]:
    """Errors in which spans ended, those of the agent first."""
    kinds = sorted((key for key in trace if key.lower().endswith("spans")), key=_agents_first)
    for key in kinds:
        errors = (line_or_none(span.get("error"), _SHOWN) for span in as_objects(trace[key]))
        yield from filter(None, errors)


def _agents_first(key: str) -> tuple[bool, str]:
    return not key.startswith("agent"), key


def answer_of(case: DeepEvalCase) -> Response:
    turns = case.data.get("turns") if case.conversational else None
    told = [turn for turn in turns or () if turn.get("role") == "assistant"]
    last = told[-1].get("content") if told else None
    return Response(
        answer=last if isinstance(last, str) else case.text("actual_output"),
        steps=_steps([case.data] if turns is None else told),
        context=_context([case.data] if turns is None else told),
        usage=usage_of(
            input=case.data.get("input_token_count"),
            output=case.data.get("output_token_count"),
            cost_usd=case.data.get("token_cost"),
        ),
        turns=None if turns is None else len(told),
    )


def latency_ms(case: DeepEvalCase) -> float | None:
    """deepeval's `completionTime`, in seconds; else how long the trace took. Its `runDuration` is
    that of the metrics.
    """
    seconds = as_amount(case.data.get("completion_time"))
    if seconds is not None:
        return seconds * 1000.0
    ends = [
        case.trace.get(camel) or case.trace.get(snake)
        for camel, snake in (("startTime", "start_time"), ("endTime", "end_time"))
    ]
    try:
        first, last = (datetime.fromisoformat(str(one)) for one in ends)
        return as_amount((last - first).total_seconds() * 1000.0)
    except (ValueError, TypeError):  # not there, or with and without a zone
        return None


def _steps(places: list[Mapping[str, Json]]) -> tuple[ToolCall, ...] | None:
    """Unknown where none of them says anything of tools."""
    listed = [(n, _first(one, "tools_called", "toolsCalled")) for n, one in enumerate(places)]
    if not any(isinstance(calls, list) for _, calls in listed):
        return None
    return tuple(
        _step(call, n)
        for n, calls in listed
        for call in as_objects(calls)
        if isinstance(call.get("name"), str)
    )


def _step(call: Mapping[str, Json], turn: int) -> ToolCall:
    return ToolCall(
        name=call["name"],
        arguments=_first(call, "inputParameters", "input_parameters"),
        result=call.get("output"),
        turn=turn,
    )


def _context(places: list[Mapping[str, Json]]) -> str | None:
    listed = [_first(place, "retrieval_context", "retrievalContext") for place in places]
    texts = [_text(item) for items in listed for item in as_list(items)]
    known = any(isinstance(items, list) for items in listed)
    return "\n\n".join(filter(None, texts)) if known else None


def _text(item: Json) -> str:
    if isinstance(item, dict):
        item = item.get("context", item)
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)


def _first(data: Mapping[str, Json], *keys: str) -> Json:
    return next((data[key] for key in keys if data.get(key) is not None), None)
