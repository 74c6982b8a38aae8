"""Traces that come with an answer, or instead of one: where they stand, and what they add to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from gate.agents.traces import plain, values
from gate.agents.traces.detecting import is_whole, shape_of
from gate.agents.traces.faults import TraceFaults
from gate.agents.traces.reading import read_trace
from gate.agents.traces.spending import COUNTS, usage_of
from gate.agents.traces.trace import MAX_STEPS, Shape, Trace
from gate.errors import AgentFailure
from gate.files.json_values import is_number
from gate.records import CheckedJson, Json, Usage

TraceShape = Literal["auto", Shape]
KEYS = ("trace", "trajectory", "messages")


def split_trace(data: Json, shape: TraceShape, answers: Sequence[str]) -> tuple[Json, Trace | None]:
    """What the agent says itself, and the trace beside it; `answers` are the keys of an answer.

    Raises AgentFailure.
    """
    named = None if shape == "auto" else shape
    if is_whole(data) or (not isinstance(data, dict) and is_trace(data, shape)):
        return {}, read_trace(data, named)
    if not isinstance(data, dict):
        return data, None
    source = read_trace_beside(data, shape)
    if source is None and not any(key in data for key in answers) and _is_any(data, named):
        return {}, read_trace(data, named)
    return data, source


def is_trace(data: Json, shape: TraceShape) -> bool:
    """Whether what is no answer object is a trace: by its form, or because gate.yml says so."""
    return shape != "auto" or (isinstance(data, list) and shape_of(data) is not None)


def read_trace_beside(data: Mapping[str, Json], shape: TraceShape = "auto") -> Trace | None:
    """The trace under one of KEYS; None: there is none. Raises AgentFailure.

    Where no shape is named, a text or a number there belongs to something else and is left alone;
    other things that are no trace are left alone too, and told.
    """
    key = next((key for key in KEYS if data.get(key) not in (None, [], {})), None)
    if key is None:
        return None
    value = data[key]
    # What stands beside messages may belong to them: usage, a model.
    source = data if key == "messages" and isinstance(value, list) else value
    try:
        return _read_source(source, None if shape == "auto" else shape)
    except AgentFailure as failure:
        raise AgentFailure(f"{key}: {failure}") from None


def _read_source(source: Json, named: Shape | None) -> Trace | None:
    if named is None and isinstance(source, str):
        try:
            return read_trace(source)
        except AgentFailure:
            return None
    if _is_any(source, named):
        return read_trace(source, named)
    if isinstance(source, list) and all(map(_is_call, source)):
        return _trace_of_steps(source)
    if not isinstance(source, (list, dict)):
        return None
    faults = TraceFaults()
    faults.tell("shape")
    return Trace(shape=None, steps=None, faults=faults.sentences())


def response_fields(
    fields: Json, turns: int | None, trace_found: Trace | None, *, key: str = "steps"
) -> dict[str, CheckedJson]:
    """The fields of Response that tell of steps. The agent's own steps and number of turns
    (`fields`) win over those of the trace; a bare number of steps does not, as a trace knows more.
    `key`: what messages call the steps.
    """
    if is_number(fields):
        listed = (
            None
            if trace_found is not None and trace_found.steps is not None
            else _trace_of_count(fields, key)
        )
    else:
        listed = None if fields is None else _trace_of_steps(fields, key)
    traces = [trace for trace in (listed, trace_found) if trace is not None]
    if not traces:
        return {} if turns is None else {"turns": turns}
    return {
        "steps": traces[0].steps,
        "omitted_steps": traces[0].omitted_steps,
        "turns": traces[-1].turns if turns is None else turns,
        "trace_faults": tuple(fault for trace in traces for fault in trace.faults),
    }


def usage(fields: Mapping[str, Json], trace_found: Trace | None, faults: TraceFaults) -> Usage:
    """The usage as the agent says it, under `usage` or beside its answer; where it says nothing, as
    its trace does.
    """
    usage_told = fields.get("usage")
    if usage_told is None:
        usage_told = {key: fields[key] for key in COUNTS if fields.get(key) is not None}
    counts = usage_of(usage_told, faults)
    return trace_found.usage if trace_found is not None and counts == Usage() else counts


def _trace_of_steps(value: Json, key: str = "steps") -> Trace:
    """The first steps, and how many more there are."""
    items, faults = values.as_list(value, key), TraceFaults()
    steps = [plain.step(item, f"{key}[{n}]", faults) for n, item in enumerate(items[:MAX_STEPS])]
    return Trace(
        shape=None,
        steps=tuple(steps),
        omitted_steps=max(0, len(items) - MAX_STEPS),
        faults=faults.sentences(),
    )


def _trace_of_count(value: Json, key: str) -> Trace:
    """Steps of which the number alone is told; unknown where it can be none."""
    faults = TraceFaults()
    if values.is_amount(value) and value == int(value):
        return Trace(shape=None, steps=(), omitted_steps=int(value))
    faults.tell("number", key)
    return Trace(shape=None, steps=None, faults=faults.sentences())


def _is_call(item: Json) -> bool:
    return isinstance(item, dict) and any(key in item for key in ("name", "tool", "function"))


def _is_any(data: Json, named: Shape | None) -> bool:
    return named is not None or shape_of(data) is not None
