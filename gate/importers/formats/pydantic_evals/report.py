"""An EvaluationReport as JSON: its head, and its cases one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.errors import Place, Problem, UsageError
from gate.files.json_schema import SchemaCheck
from gate.files.json_stream import is_too_deep, iterate_members
from gate.files.plain import MOST_JSON, plain
from gate.records import LARGEST, MOST_ROUNDS, Json

_LISTS = ("cases", "failures")
_OBJECT: Json = {"type": ["object", "null"]}
_TEXT: Json = {"type": ["string", "null"]}
_FAILED: Json = {
    "type": ["array", "null"],
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "error_message": {"type": "string"}},
        "required": ["name"],
    },
}


def _results(value: Json) -> Json:
    one = {"type": "object", "properties": {"value": value, "reason": _TEXT}, "required": ["value"]}
    return {"type": ["object", "null"], "additionalProperties": one}


_EVERY: dict[str, Json] = {"name": {"type": "string", "minLength": 1}, "source_case_name": _TEXT}
CASE: Json = {
    "type": "object",
    "properties": {
        **_EVERY,
        "metadata": {},
        "metrics": {
            "type": ["object", "null"],
            "additionalProperties": {"type": ["number", "null"]},
        },
        "attributes": _OBJECT,
        "scores": _results({"type": ["number", "null"]}),
        "labels": _results({"type": ["string", "null"]}),
        "assertions": _results({"type": "boolean"}),
        "task_duration": {"type": ["number", "null"]},
        "evaluator_failures": _FAILED,
    },
    "required": ["name", "output"],
}
FAILURE: Json = {
    "type": "object",
    "properties": {**_EVERY, "error_message": {"type": "string"}},
    "required": ["name", "error_message"],
}
_CHECKS = {"cases": SchemaCheck(CASE), "failures": SchemaCheck(FAILURE)}
_REPEATED = re.compile(r" \[(\d{1,5})/(\d{1,5})\]\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportCase:
    """A case, or (`failed`) one whose task raised an exception: both at most once a round.
    `planned`: how many rounds there were to be.
    """

    place: Place
    data: Mapping[str, Json]
    failed: bool
    case_id: str
    round: int
    planned: int


def head_of(path: Path) -> dict[str, Json]:
    """What stands beside the cases. Raises UsageError for what is no report, InvalidInput."""
    if plain(path).stat().st_size > MOST_JSON:
        raise UsageError(f"{path}: larger than {MOST_JSON >> 20} MB - write several reports")
    head: dict[str, Json] = {}
    for part in iterate_members(path.read_bytes(), path.as_posix(), _LISTS):
        head[part.key] = None if part.item else part.data
    if not isinstance(head.get("name"), str) or not (head.keys() & set(_LISTS)):
        raise UsageError(
            f"{path}: no `name`, or no case in it; write it with EvaluationReportAdapter.dump_json"
        )
    return head


def entries(path: Path) -> Iterator[ReportCase | Problem]:
    """Every case, checked one by one. Raises InvalidInput for what is no JSON."""
    for part in iterate_members(path.read_bytes(), path.as_posix(), _LISTS):
        if part.key in _LISTS and not part.item and part.data is not None:
            yield Problem(Place(path.as_posix(), part.line, part.key), "no list - copy it again")
        elif part.item:
            yield _entry(part.key, part.data, Place(path.as_posix(), part.line))


def _entry(key: str, data: Json, place: Place) -> ReportCase | Problem:
    if wrong := _CHECKS[key].list_problems(data, Place(place.file, place.line, key)):
        return wrong[0]
    if is_too_deep(data):
        return Problem(place, "nested too deeply")
    if not all(map(_is_measurable, _numbers(data))):
        return Problem(place, f"a score or metric beyond {LARGEST:g} - correct it, or leave it out")
    name, source = data["name"], data.get("source_case_name")
    round_, planned = 1, 1
    if source:
        found = _REPEATED.search(name)
        if found is None or name != source + found[0]:
            return Problem(place, f"{name[:80]!r} is no run of {source[:80]!r} - which case is it?")
        round_, planned = int(found[1]), int(found[2])
    if not 1 <= round_ <= planned <= MOST_ROUNDS:
        return Problem(place, f"{name[-40:]!r}: round {round_} of {planned} - there is no such")
    return ReportCase(
        place=place,
        data=data,
        failed=key == "failures",
        case_id=(source or name)[:500],
        round=round_,
        planned=planned,
    )


def _numbers(data: Mapping[str, Json]) -> Iterator[Json]:
    yield from (data.get("metrics") or {}).values()
    yield from (result["value"] for result in (data.get("scores") or {}).values())


def _is_measurable(value: Json) -> bool:
    """NaN and null are no number: what was not scored."""
    return value is None or value != value or abs(value) <= LARGEST
