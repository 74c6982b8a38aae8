"""A grader of the user's, in its process: what its class is, what it measures, how it judges."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass, replace
from typing import Any, cast

from gate.errors import GraderFailure, UsageError
from gate.records import Case, CheckedJson, Json, MetricSpec, Question, Reply, Response, Score
from gate.records.codec import from_json, schema_of, to_json, to_lean_json
from gate.user_code.roles import RequestHandler

_MEMBERS = ("keys", "needs", "metrics", "grade")


def answer(desk: RequestHandler, method: str, *arguments: Json, **_: object) -> object:
    """`method`: the name of a function here; its arguments come as JSON."""
    return _METHODS[method](desk, *arguments)


def examine(desk: RequestHandler, spec: str) -> object:
    """What can be told of the class before it is made."""
    cls = desk.load(spec)
    missing = [name for name in _MEMBERS if not hasattr(cls, name)]
    fits = isinstance(cls, type) and is_dataclass(cls)
    lacks = f" ({', '.join(missing)} missing)" if missing else ""
    form = "a dataclass with keys, needs, metrics, grade"
    fault = "" if fits and not missing else f"'{spec}' is not a grader: {form}{lacks}"
    return {"fault": fault, "schema": schema_of(cast("type", cls)) if fits else {}, **_manner(cls)}


def make(desk: RequestHandler, spec: str, options: Mapping[str, Json]) -> object:
    """An instance, by its number, and all that it says of itself."""
    grader: Any = from_json(cast("type", desk.load(spec)), options)
    rooted = getattr(grader, "rooted", None)
    if callable(rooted):
        grader = rooted(desk.workspace.root)
    metrics = tuple(grader.metrics())
    if not all(isinstance(spec_of_metric, MetricSpec) for spec_of_metric in metrics):
        raise UsageError(f"'{spec}': metrics() must return MetricSpecs")
    return {
        "of": desk.keep(grader),
        "keys": dict(grader.keys),
        "needs": list(grader.needs),
        "metrics": to_json(metrics),
        "decides": getattr(grader, "decides", True) is not False,
        "fills": list(getattr(grader, "fills", ())),
        "abouts": dict(getattr(grader, "abouts", {})),
        "asks": hasattr(grader, "questions"),
        "checks": hasattr(grader, "case_faults"),
        "digest_text": getattr(grader, "digest_text", str)(),
        **_manner(grader),
    }


def grade(desk: RequestHandler, of: int, case: Json, response: Json) -> object:
    return _score(desk.object_of(of).grade(_case(case), _response(response)))


def ask(desk: RequestHandler, of: int, case: Json, response: Json) -> object:
    questions = tuple(desk.object_of(of).questions(_case(case), _response(response)))
    if not all(isinstance(one, Question) for one in questions):
        raise GraderFailure("the grader's questions() must return Questions")
    return to_json(questions)


def read(desk: RequestHandler, of: int, case: Json, response: Json, replies: CheckedJson) -> object:
    votes = [tuple(from_json(Reply, vote) for vote in given) for given in replies]
    return _score(desk.object_of(of).read(_case(case), _response(response), votes))


def check(desk: RequestHandler, of: int, keys: CheckedJson) -> object:
    return [str(fault) for fault in desk.object_of(of).case_faults(keys)]


def _manner(grader: object) -> dict[str, object]:
    return {
        "role": getattr(grader, "role", None),
        "partly_offline": getattr(grader, "partly_offline", False) is True,
        "knows_modes": getattr(grader, "knows_modes", False) is True,
    }


def _case(data: Json) -> Case:
    return from_json(Case, data)


def _response(data: Json) -> Response:
    return from_json(Response, data)


def _score(score: object) -> object:
    """As JSON, with plain finite floats: a grader may return numpy's. Raises GraderFailure."""
    if not isinstance(score, Score):
        raise GraderFailure(f"the grader returned {type(score).__name__}, not a Score")
    values = {str(k): None if v is None else float(v) for k, v in score.values.items()}
    for column, value in values.items():
        if value is not None and not math.isfinite(value):
            raise GraderFailure(f"the grader returned {value} for {column}")
    passed = None if score.passed is None else bool(score.passed)
    codes = tuple(map(str, score.failures))
    return to_lean_json(replace(score, values=values, passed=passed, failures=codes))


_METHODS: dict[str, Callable[..., object]] = {
    "examine": examine,
    "make": make,
    "grade": grade,
    "ask": ask,
    "read": read,
    "check": check,
}
