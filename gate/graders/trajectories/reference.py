"""The case key `reference_trajectory` as a path that an agent's steps can be compared with."""

from __future__ import annotations

from gate.errors import AgentFailure
from gate.graders.tool_calling.expected import ExpectedCall
from gate.graders.tool_calling.reference import KEY, read_reference
from gate.graders.trajectories.path import COMPARED, Path, PathStep, path_of
from gate.records import Case, Json, ToolCall


def reference_length(value: Json) -> int | None:
    """The number of calls of the reference; None without one. Raises AgentFailure for a value that
    the check of a dataset refuses.
    """
    return len(read_reference(value).wanted) or None if value else None


def reference_path(case: Case) -> Path | None:
    """The path of the reference; None without one, or if it cannot be read. A call with incomplete
    arguments matches any.
    """
    value = case.keys.get(KEY)
    try:
        calls = read_reference(value).wanted if value else ()
    except AgentFailure:
        return None
    if not calls:
        return None
    return Path(steps=tuple(map(_step, calls[:COMPARED])), omitted=max(0, len(calls) - COMPARED))


def _step(call: ExpectedCall) -> PathStep:
    allowed = call.allowed or {}
    arguments = {key: values[0] for key, values in allowed.items() if len(values) == 1}
    (step,) = path_of([ToolCall(name=call.name, arguments=arguments)]).steps
    exact = call.allowed is not None and len(arguments) == len(allowed) and not call.optional
    return step if exact else PathStep(tool=step.tool)
