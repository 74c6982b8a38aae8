"""Is the world in the expected state after the agent has finished, as its environment reports?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from gate.errors import GraderFailure, UsageError
from gate.plugins import GRADERS
from gate.records import Case, CheckedJson, Json, MetricSpec, Response, Score

METRIC = "agent.goal_state"
KEY = "expected_state"
_CODES = 50
_SHOWN = 60  # characters of a value in a reason
_NAMED = 5  # facts that a reason explains
_PATH = 150  # characters of a path in a code
_NOT_TOLD = "the agent does not report the state of its environment - it should return `state`"
_DEEP = f"{KEY} or the state is nested too deeply to compare"
_GONE = object()


@GRADERS.register("state")
@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The share of expected facts that are true in `state`, which the agent's environment reports;
    passes when all are. `expect`: expected in every case; the case's `expected_state` overrides it.
    """

    expect: Mapping[str, Json] = field(default_factory=dict)
    tolerance: float = 1e-6  # of numbers, absolute

    keys: ClassVar[Mapping[str, Json]] = {KEY: {"type": "object"}}

    def __post_init__(self) -> None:
        if not self.tolerance >= 0:
            raise UsageError("state: a tolerance cannot be below 0")
        for fault in _faults(self.expect):
            raise UsageError(f"state: expect.{fault}")

    @property
    def needs(self) -> tuple[str, ...]:
        return () if self.expect else (KEY,)

    def metrics(self) -> tuple[MetricSpec, ...]:
        about = "share of the expected facts that hold in the environment when the agent is done"
        return (MetricSpec(name=METRIC, column=METRIC, unit="share", description=about),)

    def case_faults(self, keys: Mapping[str, CheckedJson]) -> Iterator[str]:
        try:
            yield from [f"{KEY}.{fault}" for fault in _faults(keys.get(KEY) or {})]
        except RecursionError:
            yield _DEEP

    def grade(self, case: Case, response: Response) -> Score:
        try:
            wanted = {**dict(_facts(self.expect)), **dict(_facts(case.keys.get(KEY) or {}))}
            if not wanted:
                return Score(values={METRIC: None})
            if not response.state:
                return Score(unscored=_NOT_TOLD)
            values_found = {path: _at(response.state, path) for path in wanted}
            missed = [p for p, fact in wanted.items() if not self._holds(values_found[p], fact)]
        except RecursionError:
            raise GraderFailure(_DEEP) from None
        held = len(wanted) - len(missed)
        sentences = [f"{path} is {_format_value(values_found[path])}" for path in missed[:_NAMED]]
        return Score(
            values={METRIC: held / len(wanted)},
            passed=not missed,
            failures=tuple(dict.fromkeys(_code(p, values_found[p]) for p in missed))[:_CODES],
            reason="; ".join((f"{held} of {len(wanted)} facts hold", *sentences))[:2000],
        )

    def _holds(self, value: object, wanted: CheckedJson) -> bool:
        if not _is_fact(wanted):
            return _are_equal(value, wanted, self.tolerance)
        given = wanted.get("tolerance")
        allowed = self.tolerance if given is None else float(given)
        accepted = wanted["any_of"] if "any_of" in wanted else [wanted["value"]]
        return any(_are_equal(value, choice, allowed) for choice in accepted)


def right_state(expected: Mapping[str, Json]) -> dict[str, Json]:
    """A state in which all that is expected holds; its keys are dotted paths."""
    return {
        path: (fact["any_of"][0] if "any_of" in fact else fact["value"]) if _is_fact(fact) else fact
        for path, fact in _facts(expected)
    }


def _is_fact(value: Json) -> bool:
    """{value, tolerance} or {any_of, tolerance}; any other object holds further facts."""
    return isinstance(value, dict) and (
        ({*value} <= {"value", "tolerance"} and "value" in value)
        or ({*value} <= {"any_of", "tolerance"} and "any_of" in value)
    )


def _facts(expected: Mapping[str, Json], above: str = "") -> Iterator[tuple[str, CheckedJson]]:
    """(dotted path, what is expected there)."""
    for key, value in expected.items():
        path = f"{above}{key}"
        if isinstance(value, dict) and value and not _is_fact(value):
            yield from _facts(value, f"{path}.")
        else:
            yield path, value


def _faults(expected: Mapping[str, Json]) -> Iterator[str]:
    """What can never hold, or says nothing."""
    for path, wanted in _facts(expected):
        if not _is_fact(wanted):
            continue
        given = wanted.get("tolerance")
        number = isinstance(given, (int, float)) and not isinstance(given, bool)
        if given is not None and not (number and given >= 0):
            yield f"{path[:_PATH]}: tolerance must be a number of 0 or more"
        if "any_of" in wanted and not (isinstance(wanted["any_of"], list) and wanted["any_of"]):
            yield f"{path[:_PATH]}: any_of must be a list of one or more values"


def _at(state: Mapping[str, Json], path: str) -> object:
    """What stands there; a key that has dots itself is found, too."""
    if path in state:
        return state[path]
    here: object = state
    for part in path.split("."):
        if isinstance(here, dict):
            here = here.get(part, _GONE)
        elif isinstance(here, list) and part.isdecimal() and len(part) < 10:
            here = here[int(part)] if int(part) < len(here) else _GONE
        else:
            return _GONE
    return here


def _are_equal(value: object, wanted: Json, tolerance: float) -> bool:
    """True is no 1, and a number no text; lists and objects are equal part by part."""
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    if isinstance(value, (int, float)) and isinstance(wanted, (int, float)):
        return value == wanted or _are_near(value, wanted, tolerance)
    if isinstance(value, list) and isinstance(wanted, list):
        same = len(value) == len(wanted)
        return same and all(_are_equal(a, b, tolerance) for a, b in zip(value, wanted, strict=True))
    if isinstance(value, dict) and isinstance(wanted, dict):
        same = value.keys() == wanted.keys()
        return same and all(_are_equal(value[key], wanted[key], tolerance) for key in wanted)
    return bool(value == wanted)


def _are_near(value: float, wanted: float, tolerance: float) -> bool:
    try:
        return abs(value - wanted) <= tolerance
    except OverflowError:  # a whole number that no float can hold
        return False


def _code(path: str, value: object) -> str:
    return f"{'state_missing' if value is _GONE else 'state_mismatch'}:{path[:_PATH]}"


def _format_value(value: object) -> str:
    if value is _GONE:
        return "not there"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
