"""A test run of deepeval 4: its cases and their metrics, checked.

Read are `test_run_*.json` and `.latest_run_full.json` (keys in camelCase), `evaluate(...)`'s result
as `model_dump` has it, and a list of its test results (snake_case).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from gate.errors import InvalidInput, Place, Problem, UsageError
from gate.files.json_schema import SchemaCheck
from gate.files.json_stream import PYTHON
from gate.files.json_values import (
    as_boolean,
    as_number,
    as_object,
    as_objects,
    as_string,
    as_strings,
)
from gate.files.plain import json_of, plain
from gate.files.problems import Findings
from gate.files.timestamps import iso, moment_of
from gate.records import CheckedJson, Json

TOOL = "deepeval"
_NAMED = re.compile(r"test_run_(\d{8}_\d{6})")  # local time, of which it does not write the zone
_LATEST = ".latest_run_full.json"
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")

_LISTS = (
    *("testCases", "conversationalTestCases", "test_results"),
    *("test_cases", "conversational_test_cases"),
)

_TEXT: Json = {"type": ["string", "null"]}
_TEXTS: Json = {"type": ["array", "null"]}
_VERDICT: Json = {"type": ["boolean", "null"]}
_METRIC: Json = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "success": _VERDICT,
        "score": {"type": ["number", "null"]},
        "threshold": {"type": ["number", "null"]},
        "error": _TEXT,
        "flaky": _VERDICT,
    },
    "required": ["name"],
}
CASE: dict[str, Json] = {
    "type": "object",
    "properties": {
        "name": _TEXT,
        "success": _VERDICT,
        "metrics_data": {"type": ["array", "null"], "items": _METRIC},
        "turns": {"type": ["array", "null"], "items": {"type": "object"}},
        "tools_called": _TEXTS,
        "tags": _TEXTS,
        "metadata": {"type": ["object", "null"]},
        "trace": {"type": ["object", "null"]},
        "expectations_data": {"type": ["object", "null"]},
    },
}
_CHECK = SchemaCheck(CASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """`score` is None where there is none, or none that is a number."""

    name: str
    score: float | None = None
    success: bool | None = None
    threshold: float | None = None
    error: str | None = None
    flaky: bool = False
    model: str = ""
    reason: str = ""
    cost: float = 0.0

    @property
    def broke(self) -> bool:
        """It could not judge; deepeval writes that as a failure."""
        return self.error is not None or self.score is None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepEvalCase:
    """`data`: with the keys of its own level in snake_case. `inner`: metrics of the spans."""

    place: Place
    data: Mapping[str, CheckedJson] = field(repr=False)
    metrics: tuple[Metric, ...]
    inner: tuple[Metric, ...] = ()

    def text(self, key: str) -> str:
        """Also of parts, where pictures are among them."""
        value = self.data.get(key)
        if isinstance(value, list):
            return "\n".join(as_strings(value))
        return as_string(value)

    @property
    def trace(self) -> Mapping[str, Json]:
        return as_object(self.data.get("trace"))

    @property
    def conversational(self) -> bool:
        return isinstance(self.data.get("turns"), list)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepEvalRun:
    path: Path
    head: Mapping[str, Json]
    cases: tuple[DeepEvalCase, ...] = field(repr=False)


def file_of(path: Path) -> Path:
    """The run itself; of a folder the one run in it, or the latest that `.deepeval` keeps. Raises
    UsageError.
    """
    if path.name.lower().endswith((".db", ".sqlite")):
        raise UsageError(f"{path}: SQLite is not supported; run with DEEPEVAL_RESULTS_FOLDER set")
    if not path.is_dir():
        return plain(path)
    runs = sorted(path.glob("test_run_*.json")) or sorted(path.glob(_LATEST))
    if len(runs) != 1:
        there = f"{len(runs)} test runs" if runs else "no test_run_*.json"
        raise UsageError(f"{path}: has {there}; give the file of one run")
    return plain(runs[0])


def run_in(path: Path) -> DeepEvalRun:
    """Raises InvalidInput with everything that is wrong with its cases, UsageError for a link."""
    data = json_of(path, decoder=PYTHON)
    head = as_object(data)
    head = as_object(head.get("testRunData")) or head
    found = Findings()
    written = list(_iterate_cases(data if isinstance(data, list) else head, path))
    cases = tuple(_cases(written, found))
    if not written:
        found.add(Place(path.as_posix()), "has no test case - run the evaluation again")
    found.refuse()
    return DeepEvalRun(path=path, head=_snake(head), cases=cases)


def find_start(run: DeepEvalRun) -> str | None:
    """When its first trace began; else what the file's name says."""
    traces = (one.trace.get("startTime") or one.trace.get("start_time") for one in run.cases)
    told = sorted(one for one in traces if isinstance(one, str))[:1]
    named = _NAMED.match(run.path.name)
    told += [named[1].replace("_", "T")] if named else []
    return next(filter(None, (iso(moment_of(one)) for one in told)), None)


def _iterate_cases(data: Json, path: Path) -> Iterator[tuple[Place, Json]]:
    if isinstance(data, list):
        lists = {"": data}
    else:
        given = as_object(data)
        lists = {key: listed for key in _LISTS if isinstance(listed := given.get(key), list)}
    if not lists:
        message = "not a deepeval test run: it has no `testCases`"
        raise InvalidInput([Problem(Place(path.as_posix()), message)])
    for key, listed in lists.items():
        for n, one in enumerate(listed):
            yield Place(path.as_posix(), None, f"{key}[{n}]"), one


def _cases(written: list[tuple[Place, Json]], found: Findings) -> Iterator[DeepEvalCase]:
    for place, one in written:
        data = _snake(one) if isinstance(one, dict) else one
        if wrong := _CHECK.list_problems(data, place):
            message = wrong[0].message
            if wrong[0].place.key.startswith(f"{place.key}.metrics_data"):
                message = f"{message} - dump the results with `model_dump`, not with `str`"
            found.add(wrong[0].place, message)
            continue
        checked = as_object(data)
        yield DeepEvalCase(
            place=place,
            data=checked,
            metrics=tuple(_metrics(checked)),
            inner=tuple(_inner(checked.get("trace"))),
        )


def _snake(data: Mapping[str, Json]) -> dict[str, Json]:
    """Keys of this level alone."""
    return {_HUMP.sub(lambda hump: f"_{hump[1].lower()}", key): one for key, one in data.items()}


def _metrics(data: Mapping[str, CheckedJson]) -> Iterator[Metric]:
    for one in data.get("metrics_data") or ():
        yield _metric(_snake(one))
    expected = data.get("expectations_data")
    if isinstance(expected, dict):  # the test run keeps them apart from the metrics
        own = _snake(expected)
        own["success"] = as_boolean(own.get("success"))
        yield _metric({**own, "name": "expectations"})


def _metric(data: Mapping[str, CheckedJson]) -> Metric:
    error = data.get("error")
    return Metric(
        name="expectations" if data.get("expectations_data") else str(data["name"]),
        score=as_number(data.get("score")),
        success=data.get("success"),
        threshold=as_number(data.get("threshold")),
        error=str(error) if error else None,
        flaky=data.get("flaky") is True,
        model=as_string(data.get("evaluation_model")),
        reason=as_string(data.get("reason")),
        cost=as_number(data.get("evaluation_cost")) or 0.0,
    )


def _inner(trace: Json) -> Iterator[Metric]:
    """Metrics of a trace's spans, which decide on the case as well."""
    lists = (spans for key, spans in as_object(trace).items() if key.lower().endswith("spans"))
    for span in chain.from_iterable(map(as_objects, lists)):
        for written in as_objects(_snake(span).get("metrics_data")):
            if isinstance(written.get("name"), str):
                metric = _snake(written)
                metric["success"] = as_boolean(metric.get("success"))
                yield _metric(metric)
