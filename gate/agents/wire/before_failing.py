"""What an agent did before it failed, as far as its error says so: steps and tokens, no answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from gate.agents.traces import values
from gate.agents.traces.faults import TraceFaults
from gate.agents.traces.spending import usage_of
from gate.agents.wire import chat
from gate.errors import AgentFailure
from gate.records import Json, Response, Usage

MOST_BYTES = 8_000_000  # of an error that is looked into
_PLACES = ("error", "detail", "data")  # where servers put an error's own object


def find_done(failure: AgentFailure) -> Response | None:
    """A response without an answer; None: nothing is told of what was done. Never raises: an error
    is no place for anything to be wrong.
    """
    if isinstance(failure.done, Response):
        return failure.done
    for done in _iterate_objects(failure.done):
        with suppress(Exception):  # hostile, and the trial has failed as it is
            if (response := _read(done)) is not None:
                return response
    return None


def _iterate_objects(done: object) -> Iterator[dict[str, Json]]:
    """The error's object, then those in it that may have steps."""
    if isinstance(done, bytes):
        try:
            done = values.parse(done) if len(done) <= MOST_BYTES else None
        except (ValueError, RecursionError):
            return
    if isinstance(done, dict):
        yield done
        yield from (done[key] for key in _PLACES if isinstance(done.get(key), dict))


def _read(done: Mapping[str, Json]) -> Response | None:
    """Steps as beside an answer: `tool_calls` where there are no `steps`, or a trace."""
    steps = values.first(done, "steps", "tool_calls")
    beyond = chat.extras({**done, "steps": steps, "context": None, "safety_violations": None})
    usage = usage_of(done.get("usage"), TraceFaults())
    usage = beyond.usage if usage == Usage() else usage
    if beyond.steps is None and not beyond.omitted_steps and usage == Usage():
        return None
    model = done.get("model")
    return replace(
        beyond,
        answer="",
        kept=False,
        retrieved=None,
        usage=usage,
        model=model if isinstance(model, str) else beyond.model,
    )
