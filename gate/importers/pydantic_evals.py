"""`pydantic-evals`: the report of an experiment, written as JSON by EvaluationReportAdapter."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import ClassVar

from gate.agents.traces.values import as_text
from gate.errors import Place, Problem, UsageError
from gate.files.json_schema import SchemaCheck
from gate.files.json_stream import is_too_deep, iterate_members
from gate.files.json_values import (
    as_amount,
    as_count,
    as_list,
    as_number,
    as_object,
    as_string,
    string_or_none,
)
from gate.files.plain import MOST_JSON, plain
from gate.files.problems import Findings, refuse_problems
from gate.files.sniff import FirstLook
from gate.importers.trials import build, shapes
from gate.importers.trials.names import metric_name, suite_name
from gate.importers.trials.nobodys_fault import status_of
from gate.plugins import IMPORTERS
from gate.records import (
    LARGEST,
    MOST_ROUNDS,
    Case,
    CheckedJson,
    Json,
    MetricSpec,
    Response,
    Score,
    Trial,
)
from gate.records.codec import to_json
from gate.records.imported import Imported, ImportedSuite
from gate.text.figures import count
from gate.text.shortening import tidy

_MARKS = (b'"task_duration"', b'"error_stacktrace"')


@dataclass(slots=True, kw_only=True)
class _ReportTotals:
    """What a first reading counted."""

    names: Names
    ids: set[str]
    rounds: int = 1
    failed: int = 0


@IMPORTERS.register("pydantic-evals")
@dataclass(frozen=True, slots=True, kw_only=True)
class PydanticEvalsReport:
    """A suite, named after the dataset. A case passes when all its assertions hold."""

    reads: ClassVar[str] = "a report of pydantic-evals as JSON"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        told = found.has("name", "cases") or found.has("name", "failures")
        return told and any(mark in found.head for mark in _MARKS)

    def read(self, path: Path) -> Imported:
        head = head_of(path)
        dataset = head.get("dataset_name")
        dataset_name = tidy(str(dataset or head["name"]), 200)
        suite, totals = build.ToolSuite(TOOL, suite_name(dataset_name, "cases")), _check_cases(path)
        return Imported(
            files=(path,),
            provenance=build.provenance_of("pydantic-evals", tidy(str(head["name"]), 200)),
            suites={suite.name: _suite(totals, dataset_name)},
            trials=lambda: (
                trial(entry, suite, totals.names) for entry in refuse_problems(entries(path))
            ),
            notes=tuple(_notes(head, totals)),
        )


def _check_cases(path: Path) -> _ReportTotals:
    """Raises InvalidInput with everything that is wrong."""
    problems, totals = Findings(), _ReportTotals(names=Names(), ids=set())
    seen: dict[tuple[str, int], int | None] = {}
    for entry in problems.keep_good(entries(path)):
        key = (entry.case_id, entry.round)
        if key in seen:
            what = f"'{entry.case_id[:80]}' has round {entry.round} twice, see line {seen[key]}"
            problems.add(entry.place, f"{what} - keep one")
        seen[key] = entry.place.line
        totals.ids.add(entry.case_id)
        totals.rounds = max(totals.rounds, entry.planned)
        totals.failed += entry.failed
        if not entry.failed:
            totals.names.add(entry.data)
    if not seen and not problems:
        problems.add(Place(path.as_posix(), key="cases"), "not a list of cases")
    for name in totals.names.clashes():
        what = (
            f"'{name[:80]}' gets the same metric name as another result, as `a-b` and `a_b` do "
            "- rename one of them"
        )
        problems.add(Place(path.as_posix()), what)
    problems.refuse()
    return totals


def _suite(totals: _ReportTotals, dataset: str) -> ImportedSuite:
    names = totals.names
    judges = {metric_name(TOOL, n): f"pydantic-evals {one}" for n, one in names.judges.items()}
    deciding = ", ".join(sorted(names.decides))
    passed = build.name_judge(f"pydantic-evals {deciding}"[:300])
    specs = tuple(names.specs())
    return ImportedSuite(
        rounds=totals.rounds,
        cases=len(totals.ids),
        dataset=dataset,
        metrics=specs,
        graders={
            **{s.column: judges.get(s.column, "pydantic-evals") for s in specs},
            **(passed if names.decides else {}),
        },
    )


def _notes(head: Mapping[str, Json], totals: _ReportTotals) -> Iterator[str]:
    if not totals.names.decides:
        yield (
            "no case has an assertion, so it is unknown which cases passed; those that raised "
            "an exception failed"
        )
    if totals.failed:
        yield (
            f"{count(totals.failed, 'trial')} raised an exception: counted as failed here, left "
            "out of the means by pydantic-evals"
        )
    if failures := as_list(head.get("report_evaluator_failures")):
        yield f"{len(failures)} evaluators of the whole report failed and are left out"


TOOL = "pydantic_evals"
_USAGE = {  # metrics that its instrumentation counts, which are ours as well
    "input_tokens": "input",
    "output_tokens": "output",
    "total_tokens": "total",
    "cost": "cost_usd",
    "cache_read_tokens": "cached",
    "cache_read.input_tokens": "cached",
    "reasoning_tokens": "reasoning",
}
_TURNS = "requests"
_TIMED_OUT = re.compile(r"\bTimeout\w*|timed out", re.IGNORECASE)
_MOST_TEXT = 20_000  # characters of an error or a reason
MOST_NAMES = 200


@dataclass(slots=True, kw_only=True)
class Names:
    """What the report measures: name -> (lowest, highest) of a score or metric. `decides` and
    `seen` are evaluators by name: those with an assertion, and all that gave anything.
    """

    assertions: dict[str, None] = field(default_factory=dict)
    scores: dict[str, tuple[float, float]] = field(default_factory=dict)
    metrics: dict[str, None] = field(default_factory=dict)
    judges: dict[str, str] = field(default_factory=dict)  # name -> its evaluator
    decides: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)

    def add(self, data: Mapping[str, CheckedJson]) -> None:
        if len(self.assertions) + len(self.scores) + len(self.metrics) > MOST_NAMES:
            return
        for kind in ("assertions", "scores", "labels"):
            for name, result in (data.get(kind) or {}).items():
                source = evaluator(result)
                self.seen.add(source)
                self.judges.setdefault(name, source)
                if kind == "assertions":
                    self.assertions.setdefault(name)
                    self.decides.add(source)
                elif kind == "scores" and (value := as_number(result["value"])) is not None:
                    low, high = self.scores.get(name, (math.inf, -math.inf))
                    self.scores[name] = (min(low, value), max(high, value))
        for name in data.get("metrics") or {}:
            if name not in _USAGE and name != _TURNS:
                self.metrics.setdefault(name)

    def clashes(self) -> list[str]:
        """Names that become the same metric as another one."""
        named = {name: metric_name(TOOL, name) for name in (*self.assertions, *self.scores)}
        counted = {name: metric_name(TOOL, "metric", name) for name in self.metrics}
        columns = Counter((*named.values(), *counted.values()))
        both = [name for name in self.assertions if name in self.scores]
        return [name for name, column in {**named, **counted}.items() if columns[column] > 1] + both

    def specs(self) -> Iterator[MetricSpec]:
        """Scores: more is better; what a task counts: less is."""
        for name in self.assertions:
            yield build.score_metric(
                metric_name(TOOL, name), share=True, about="share of trials in which it is true"
            )
        for name, (low, high) in self.scores.items():
            share = low >= 0.0 and high <= 1.0
            yield build.score_metric(
                metric_name(TOOL, name), share=share, about="mean of this score"
            )
        for name in self.metrics:
            column, about = metric_name(TOOL, "metric", name), "mean of what the task recorded"
            yield build.score_metric(column, share=False, about=about, lower=True)


def evaluator(result: Mapping[str, Json]) -> str:
    """The name of what gave a result; with its version, where it has one."""
    source = result.get("source")
    name = as_string(source.get("name") if isinstance(source, dict) else source)
    version = result.get("evaluator_version")
    return tidy(f"{name} {version}" if isinstance(version, str) else name, 120)


def trial(entry: ReportCase, suite: build.ToolSuite, names: Names) -> Trial:
    data, case, nth = entry.data, _case(entry, suite), entry.round
    if entry.failed:
        said = data["error_message"][:_MOST_TEXT]
        status, code = status_of(said), "timeout" if _TIMED_OUT.search(said) else "agent_error"
        codes = (code,) if status == "agent_error" else ()
        error = said or "no message"
        return suite.trial(case, round=nth, status=status, failures=codes, error=error)
    lacking = {one["name"]: one for one in data.get("evaluator_failures") or ()}
    verdicts = {name: one["value"] for name, one in (data.get("assertions") or {}).items()}
    open_ = any(evaluator(one) not in names.seen - names.decides for one in lacking.values())
    duration = as_amount(data.get("task_duration"))
    return suite.trial(
        case,
        round=nth,
        passed=False if False in verdicts.values() else None if open_ or not verdicts else True,
        failures=[f"assertion_failed:{name}"[:200] for name, held in verdicts.items() if not held],
        scores={**dict(_score_failures(lacking)), **dict(_scores(data))},
        response=_response(data),
        latency_ms=None if duration is None else duration * 1000,
    )


def _case(entry: ReportCase, suite: build.ToolSuite) -> Case:
    inputs, expected = (to_json(entry.data.get(key)) for key in ("inputs", "expected_output"))
    category = as_object(entry.data.get("metadata")).get("category")
    return suite.case(
        entry.case_id,
        input=inputs if isinstance(inputs, (str, list, dict)) else as_text(inputs),
        keys={} if expected is None else {"expected_answer": as_text(expected)},
        category=string_or_none(category, 200) or None,
        place=entry.place,
    )


def _scores(data: Mapping[str, CheckedJson]) -> Iterator[tuple[str, Score]]:
    """A grader a result; what the task counted is one more."""
    for name, one in (data.get("assertions") or {}).items():
        column, held = metric_name(TOOL, name), one["value"]
        codes = () if held else (f"assertion_failed:{name}"[:200],)
        values = {column: float(held)}
        yield column, Score(values=values, passed=held, failures=codes, reason=_reason(one))
    for name, one in (data.get("scores") or {}).items():
        column, value = metric_name(TOOL, name), as_number(one["value"])
        lacking = "the score is not a number" if value is None else None
        told = {} if value is None else {column: value}
        yield column, Score(values=told, reason=_reason(one), unscored=lacking)
    for name, one in (data.get("labels") or {}).items():
        label = ": ".join(filter(None, (str(one["value"]), _reason(one))))
        yield metric_name(TOOL, "label", name), Score(reason=label[:_MOST_TEXT])
    counted = {
        metric_name(TOOL, "metric", name): as_number(value)
        for name, value in (data.get("metrics") or {}).items()
        if name not in _USAGE and name != _TURNS
    }
    if counted:
        yield f"{TOOL}.metrics", Score(values=counted)


def _score_failures(lacking: Mapping[str, CheckedJson]) -> Iterator[tuple[str, Score]]:
    """Under names of their own: an evaluator may be called as the result of another one."""
    for name, one in lacking.items():
        why = tidy(str(one.get("error_message") or "it raised an exception"), 300)
        yield metric_name(TOOL, "failed", name), Score(unscored=why)


def _reason(result: Mapping[str, CheckedJson]) -> str:
    return (result.get("reason") or "")[:_MOST_TEXT]


def _response(data: Mapping[str, CheckedJson]) -> Response:
    metrics = data.get("metrics") or {}
    used = {ours: metrics[name] for name, ours in _USAGE.items() if name in metrics}
    return Response(
        answer=as_text(to_json(data["output"])),
        usage=build.usage_of(**used),
        turns=as_count(metrics.get(_TURNS)),
        state=as_object(to_json(data.get("attributes"))),
    )


# ------------------------------------------------------------------------------------------- report


_LISTS = ("cases", "failures")
_EVERY: shapes.Shape = {"name": shapes.WORD, "source_case_name": shapes.TEXT}
_FAILED = shapes.object_of("name", name=shapes.STRING, error_message=shapes.STRING)


def _results(value: Json) -> CheckedJson:
    one = shapes.object_of("value", value=value, reason=shapes.TEXT)
    return {**shapes.OBJECT, "additionalProperties": one}


_CASE = shapes.object_of(
    *("name", "output"),
    **_EVERY,
    metrics={**shapes.OBJECT, "additionalProperties": shapes.NUMBER},
    attributes=shapes.OBJECT,
    scores=_results(shapes.NUMBER),
    labels=_results(shapes.TEXT),
    assertions=_results({"type": "boolean"}),
    task_duration=shapes.NUMBER,
    evaluator_failures={**shapes.LIST, "items": _FAILED},
)
_FAILURE = shapes.object_of("name", "error_message", **_EVERY, error_message=shapes.STRING)
_CHECKS = {"cases": SchemaCheck(_CASE), "failures": SchemaCheck(_FAILURE)}
_REPEATED = re.compile(r" \[(\d{1,5})/(\d{1,5})\]\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportCase:
    """A case, or (`failed`) one whose task raised. `planned`: how many rounds were to be."""

    place: Place
    data: Mapping[str, CheckedJson]
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
            f"{path}: has no `name` or no cases; write it with EvaluationReportAdapter.dump_json"
        )
    return head


def entries(path: Path) -> Iterator[ReportCase | Problem]:
    """Every case, checked one by one. Raises InvalidInput for what is no JSON."""
    for part in iterate_members(path.read_bytes(), path.as_posix(), _LISTS):
        if part.key in _LISTS and not part.item and part.data is not None:
            place = Place(path.as_posix(), part.line, part.key)
            yield Problem(place, "not a list - use the original file")
        elif part.item:
            yield _entry(part.key, part.data, Place(path.as_posix(), part.line))


def _entry(key: str, data: Json, place: Place) -> ReportCase | Problem:
    if wrong := _CHECKS[key].list_problems(data, Place(place.file, place.line, key)):
        return wrong[0]
    if is_too_deep(data):
        return Problem(place, "nested too deeply")
    if not _is_measurable(data):
        return Problem(place, f"a score or metric is over {LARGEST:g} - correct it, or remove it")
    checked: CheckedJson = data
    name, source = checked["name"], checked.get("source_case_name")
    round_, planned = 1, 1
    if source:
        match = _REPEATED.search(name)
        if match is None or name != source + match[0]:
            message = f"{name[:80]!r} must be {source[:80]!r} with [n/m] at its end"
            return Problem(place, f"{message} - rename it")
        round_, planned = int(match[1]), int(match[2])
    if not 1 <= round_ <= planned <= MOST_ROUNDS:
        message = f"{name[-40:]!r}: the round must be from 1 to {min(planned, MOST_ROUNDS)}"
        return Problem(place, f"{message} - rename it")
    return ReportCase(
        place=place,
        data=checked,
        failed=key == "failures",
        case_id=(source or name)[:500],
        round=round_,
        planned=planned,
    )


def _is_measurable(data: CheckedJson) -> bool:
    """Whether no score or metric is too large; NaN and null are no number: what was not scored."""
    scores = (result["value"] for result in (data.get("scores") or {}).values())
    numbers = chain((data.get("metrics") or {}).values(), scores)
    return all(value is None or value != value or abs(value) <= LARGEST for value in numbers)
