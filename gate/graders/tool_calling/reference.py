"""The case key `reference_trajectory`: a good trajectory, as messages or as a list of steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from gate.agents.traces.detecting import shape_of
from gate.agents.traces.reading import read_trace
from gate.agents.traces.trace import MAX_STEPS
from gate.errors import AgentFailure
from gate.files.json_schema import mismatches
from gate.files.json_schema_quick import compile_check
from gate.graders.tool_calling.expected import (
    EXPECTED_CALL,
    ExpectedCall,
    find_contradictions,
    read_expected_call,
)
from gate.records import CheckedJson, Json, ToolCall

KEY = "reference_trajectory"
SCHEMA: Json = {"type": ["array", "object"], "items": {"type": "object"}}

_STEP: CheckedJson = {  # what a recorded step has besides is no part of the reference
    "type": "object",
    "properties": {
        **EXPECTED_CALL["properties"],
        "arguments": EXPECTED_CALL["properties"]["args"],
        "turn": {"type": ["integer", "null"], "minimum": 0},
    },
    "required": ["name"],
}
_is_step = compile_check(_STEP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A reference. `turns`: the model call of each tool call, from 0; None if unknown. `total`: the
    number of model calls; None if only tool calls are given.
    """

    wanted: tuple[ExpectedCall, ...]
    turns: tuple[int, ...] | None
    total: int | None = None


def read_reference(value: Json) -> Reference:
    """The reference from messages in any shape of docs/trajectories.md, or from a list of steps
    {name, args} with optional `any_of`, `optional` and `turn`. Raises AgentFailure for anything
    else.
    """
    if _has_steps(value):
        return _read_steps(value)
    try:
        return _read_messages(value)
    except AgentFailure as failure:
        raise AgentFailure(f"{KEY}: {failure}") from None


def reference_tools(value: Json) -> frozenset[str] | None:
    """The tools that the reference calls; None without a reference, or if it cannot be read."""
    try:
        return frozenset(one.name for one in read_reference(value).wanted) if value else None
    except AgentFailure:
        return None


def reference_faults(value: Json) -> Iterator[str]:
    """What is wrong with a reference whose outer form was checked against SCHEMA."""
    if _has_steps(value):
        for n, step in enumerate(value):
            yield from (f"{KEY}[{n}]{message}" for message in _step_faults(step))
        return
    try:
        read_reference(value)
    except AgentFailure as failure:
        yield str(failure)


def _has_steps(value: Json) -> TypeGuard[list[CheckedJson]]:
    return isinstance(value, list) and shape_of(value) is None


def _step_faults(step: CheckedJson) -> Iterator[str]:
    wrong = mismatches(_STEP, step)
    for mismatch in wrong:
        yield "".join(f".{part}" for part in mismatch.path) + f": {mismatch.message}"
    if not wrong:
        yield from (f": {message}" for message in find_contradictions(_call(step)))


def _call(step: Mapping[str, Json]) -> Mapping[str, Json]:
    """`arguments`, as recorded steps call them, are `args`."""
    return {"args": step["arguments"], **step} if "arguments" in step else step


def _read_steps(steps: list[Mapping[str, CheckedJson]]) -> Reference:
    for n, step in enumerate(steps):
        for message in () if _is_step(step) else _step_faults(step):
            raise AgentFailure(f"{KEY}[{n}]{message}")
    turns = [step.get("turn") for step in steps]
    known_turns = [turn for turn in turns if turn is not None]
    return Reference(
        wanted=tuple(read_expected_call(_call(step)) for step in steps),
        turns=tuple(known_turns) if len(known_turns) == len(turns) and turns else None,
    )


def _read_messages(value: Json) -> Reference:
    trace = read_trace(value)
    if trace.steps is None:
        raise AgentFailure("it does not show the tool calls")
    if trace.omitted_steps:
        raise AgentFailure(f"it has more than {MAX_STEPS:,} calls")
    turns = [step.turn for step in trace.steps if step.turn is not None]
    return Reference(
        wanted=tuple(map(_expect_same, trace.steps)),
        turns=tuple(turns) if len(turns) == len(trace.steps) and trace.turns is not None else None,
        total=trace.turns,
    )


def _expect_same(call: ToolCall) -> ExpectedCall:
    if not isinstance(call.arguments, dict):
        raise AgentFailure(f"the arguments of a call of {call.name[:80]} are not a JSON object")
    allowed = {key: (value,) for key, value in call.arguments.items()}
    return ExpectedCall(name=call.name, allowed=allowed)
