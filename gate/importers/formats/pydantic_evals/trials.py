"""A case of pydantic-evals as a trial: assertions say pass, scores and metrics are numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from gate.agents.traces.values import as_text
from gate.files.json_values import (
    as_amount,
    as_count,
    as_object,
    as_string,
    string_or_none,
)
from gate.importers.formats.pydantic_evals.report import ReportCase
from gate.importers.trials.build import case_of, score_metric, trial_of, usage_of
from gate.importers.trials.names import metric_name
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.records import Case, Json, MetricSpec, Response, Score, Trial, Usage
from gate.text.escaping import one_line

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

    def add(self, data: Mapping[str, Json]) -> None:
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
                elif kind == "scores" and (value := _number(result["value"])) is not None:
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
            yield score_metric(
                metric_name(TOOL, name), share=True, about="share of trials it holds for"
            )
        for name, (low, high) in self.scores.items():
            share = low >= 0.0 and high <= 1.0
            yield score_metric(metric_name(TOOL, name), share=share, about="mean of this score")
        for name in self.metrics:
            column = metric_name(TOOL, "metric", name)
            yield replace(
                score_metric(column, share=False, about="mean of what the task counts"),
                direction="lower",
            )


def evaluator(result: Mapping[str, Json]) -> str:
    """The name of what gave a result; with its version, where it has one."""
    source = result.get("source")
    name = as_string(source.get("name") if isinstance(source, dict) else source)
    version = result.get("evaluator_version")
    return one_line(f"{name} {version}" if isinstance(version, str) else name, 120)


def trial(entry: ReportCase, suite: str, names: Names) -> Trial:
    return _failed_trial(entry, suite) if entry.failed else _answered_trial(entry, suite, names)


def _failed_trial(entry: ReportCase, suite: str) -> Trial:
    said = entry.data["error_message"][:_MOST_TEXT]
    nobody = is_nobodys(said)
    codes = () if nobody else ("timeout" if _TIMED_OUT.search(said) else "agent_error",)
    return trial_of(
        TOOL,
        suite,
        _case(entry, suite),
        round=entry.round,
        status="infra_error" if nobody else "agent_error",
        passed=None if nobody else False,
        failures=codes,
        error=said or "no message",
    )


def _answered_trial(entry: ReportCase, suite: str, names: Names) -> Trial:
    data = entry.data
    lacking = {one["name"]: one for one in data.get("evaluator_failures") or ()}
    told = {name: one["value"] for name, one in (data.get("assertions") or {}).items()}
    open_ = any(evaluator(one) not in names.seen - names.decides for one in lacking.values())
    passed = False if False in told.values() else None if open_ or not told else True
    failures = [f"assertion_failed:{name}"[:200] for name, held in told.items() if not held]
    duration = as_amount(data.get("task_duration"))
    return trial_of(
        TOOL,
        suite,
        _case(entry, suite),
        round=entry.round,
        passed=passed,
        failures=failures,
        scores={**dict(_score_failures(lacking)), **dict(_scores(data))},
        response=_response(data),
        latency_ms=None if duration is None else duration * 1000,
    )


def _case(entry: ReportCase, suite: str) -> Case:
    data, keys = entry.data, dict[str, Json]()
    expected = _finite(data.get("expected_output"))
    if expected is not None:
        keys["expected_answer"] = as_text(expected)
    category = as_object(data.get("metadata")).get("category")
    return case_of(
        TOOL,
        suite,
        entry.case_id,
        input=_input_of(_finite(data.get("inputs"))),
        keys=keys,
        category=string_or_none(category, 200) or None,
        place=entry.place,
    )


def _input_of(value: Json) -> Json:
    return value if isinstance(value, (str, list, dict)) else as_text(value)


def _scores(data: Mapping[str, Json]) -> Iterator[tuple[str, Score]]:
    """A grader a result; what the task counted is one more."""
    for name, one in (data.get("assertions") or {}).items():
        column, held = metric_name(TOOL, name), one["value"]
        codes = () if held else (f"assertion_failed:{name}"[:200],)
        values = {column: float(held)}
        yield column, Score(values=values, passed=held, failures=codes, reason=_reason(one))
    for name, one in (data.get("scores") or {}).items():
        column, value = metric_name(TOOL, name), _number(one["value"])
        lacking = "the score is no number" if value is None else None
        told = {} if value is None else {column: value}
        yield column, Score(values=told, reason=_reason(one), unscored=lacking)
    for name, one in (data.get("labels") or {}).items():
        label = ": ".join(filter(None, (str(one["value"]), _reason(one))))
        yield metric_name(TOOL, "label", name), Score(reason=label[:_MOST_TEXT])
    counted = {
        metric_name(TOOL, "metric", name): _number(value)
        for name, value in (data.get("metrics") or {}).items()
        if name not in _USAGE and name != _TURNS
    }
    if counted:
        yield f"{TOOL}.metrics", Score(values=counted)


def _score_failures(lacking: Mapping[str, Json]) -> Iterator[tuple[str, Score]]:
    """Under names of their own: an evaluator may be called as the result of another one."""
    for name, one in lacking.items():
        why = one_line(str(one.get("error_message") or "it raised an exception"), 300)
        yield metric_name(TOOL, "failed", name), Score(unscored=why)


def _reason(result: Mapping[str, Json]) -> str:
    return (result.get("reason") or "")[:_MOST_TEXT]


def _response(data: Mapping[str, Json]) -> Response:
    metrics, turns = data.get("metrics") or {}, as_count((data.get("metrics") or {}).get(_TURNS))
    return Response(
        answer=as_text(_finite(data["output"])),
        usage=_usage(metrics),
        turns=turns,
        state=_finite(data.get("attributes") or {}),
    )


def _usage(metrics: Mapping[str, Json]) -> Usage:
    return usage_of(**{ours: metrics[name] for name, ours in _USAGE.items() if name in metrics})


def _number(value: Json) -> float | None:
    if not isinstance(value, (int, float)):
        return None
    return None if math.isnan(value) else float(value)


def _finite(value: Json) -> Json:
    """Without NaN and Infinity, which no report can hold."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return {k: _finite(v) for k, v in value.items()} if isinstance(value, dict) else value
