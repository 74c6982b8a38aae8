"""Recorded answers: a JSON object for each task that was tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from gate.agents.wire.answer import response
from gate.errors import AgentFailure, Place, Problem
from gate.files.json_schema import mismatches
from gate.files.json_stream import is_too_deep
from gate.files.json_values import as_amount, as_count, as_object
from gate.files.plain import plain
from gate.files.timestamps import iso, moment_of
from gate.graders.webarena_rules.recorded import STATE
from gate.importers.formats.webarena.results import TaskResult, mark_crashed
from gate.importers.formats.webarena.tasks import id_of, items
from gate.records import MOST_ROUNDS, Json
from gate.text.escaping import one_line

_ANSWER = (
    *("answer", "steps", "tool_calls", "usage", "cost_usd", "cost", "model"),
    *("finish_reason", "turns"),
)
_FORM: dict[str, Json] = {
    "type": "object",
    "properties": {
        "answer": {"type": ["string", "null"]},
        "error": {"type": ["string", "null"]},
        "success": {"type": ["boolean", "null"]},
        "state": {"type": ["object", "null"], "properties": dict(STATE)},
        **STATE,
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAnswers:
    """A file of them."""

    path: Path
    suite: str = "webarena"
    version: str = "webarena, recorded"
    agent: str = ""

    @property
    def files(self) -> tuple[Path, ...]:
        return (plain(self.path),)

    @property
    def expected(self) -> frozenset[str]:
        return frozenset()

    def results(self) -> Iterator[TaskResult | Problem]:
        for item in items(self.path):
            yield item if isinstance(item, Problem) else _result(item.data, item.place)

    def created_at(self) -> str | None:
        times = [result.started_at for result in self.results() if isinstance(result, TaskResult)]
        return min(filter(None, times), default=None)


def _result(data: Json, place: Place) -> TaskResult | Problem:
    if wrong := _fault(data):
        return Problem(place, wrong)
    state = {**(data.get("state") or {}), **{k: data[k] for k in STATE if data.get(k) is not None}}
    plain_answer = {key: data[key] for key in _ANSWER if data.get(key) is not None}
    try:
        said = response({"answer": "", **plain_answer})
    except AgentFailure as failure:
        return Problem(place, str(failure))
    result = TaskResult(
        task=id_of(data),
        place=place,
        round=as_count(data.get("round")) or 1,
        passed=data.get("success"),
        response=replace(said, state=state),
        latency_ms=as_amount(data.get("latency_ms")),
        started_at=iso(moment_of(data.get("started_at"))),
    )
    return mark_crashed(result, data["error"]) if data.get("error") else result


def _fault(data: Json) -> str:
    if not isinstance(data, dict) or is_too_deep(data):
        return "no object with task_id and answer"
    if not id_of(data):
        return f"task_id: '{one_line(str(data.get('task_id')), 40)}' is no whole number"
    if wrong := mismatches(_FORM, data):
        return f"{'.'.join(map(str, wrong[0].path))}: {wrong[0].message}"
    if data.get("answer") is None and not data.get("error"):
        return "neither an answer nor an error; an agent that said nothing has the answer ''"
    number = data.get("round")
    if number is not None and not 0 < (as_count(number) or 0) <= MOST_ROUNDS:
        return f"round: must be a whole number from 1 to {MOST_ROUNDS}"
    if data.get("success") and data.get("error"):
        return "a success and an error - which is it?"
    if data.get("started_at") is not None and not moment_of(data["started_at"]):
        return "started_at: no date and time such as 2026-05-12T14:30:52Z"
    return ""


def is_record(data: Json) -> bool:
    """Whether it is plainly one of these, and of no other benchmark."""
    record = as_object(data)
    signs = STATE.keys() & {*record, *as_object(record.get("state"))}
    return {"task_id", "answer"} <= record.keys() and bool(signs)
