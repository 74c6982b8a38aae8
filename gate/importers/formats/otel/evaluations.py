"""What evaluators told of a trace: events `gen_ai.evaluation.result`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gate.agents.traces.otel_spans import TraceSpan
from gate.agents.traces.values import as_text
from gate.importers.formats.otel.span_filter import EVALUATION
from gate.importers.trials.names import metric_name
from gate.records import LARGEST, Json, MetricSpec, Score

TOOL = "otel"
_PREFIX = "gen_ai.evaluation."
_LABELS = {"pass": True, "passed": True, "fail": False, "failed": False}
_REASON = 2_000  # characters


class SpanScore(NamedTuple):
    """All that one evaluation said of a trace. `metric` is its name, `unscored` why it has no
    value.
    """

    metric: str
    value: float | None
    passed: bool | None
    reason: str
    unscored: str | None

    def score(self) -> Score:
        values = {} if self.unscored else {self.metric: self.value}
        told = None if self.unscored else self.passed
        return Score(values=values, passed=told, reason=self.reason, unscored=self.unscored)


def collect_scores(spans: Iterable[TraceSpan]) -> tuple[SpanScore, ...]:
    """By name, in the order in which they were told. Of several results of one evaluation the value
    is the mean, and all of them have to pass.
    """
    found: dict[str, list[Mapping[str, Json]]] = {}
    for span in spans:
        for event, told in span.events:
            if event == EVALUATION:
                name = as_text(told.get(f"{_PREFIX}name"))
                found.setdefault(metric_name(TOOL, name), []).append(told)
    return tuple(_summarize_scores(name, results) for name, results in found.items())


def opinion(results: Iterable[SpanScore]) -> bool | None:
    """Whether the trace passed: it failed where one of them says so; None: none says anything."""
    told = [result.passed for result in results if result.passed is not None]
    return all(told) if told else None


def spec(metric: str) -> MetricSpec:
    """Its scale is unknown, and so is whether more is better: it is taken so."""
    return MetricSpec(
        name=metric,
        column=metric,
        low=None,
        high=None,
        on_agent_error=None,
        description="mean of the scores of an evaluation that the traces tell",
    )


def _summarize_scores(metric: str, results: list[Mapping[str, Json]]) -> SpanScore:
    labels = [as_text(one.get(f"{_PREFIX}score.label")) for one in results]
    words = [_LABELS[label.lower()] for label in labels if label.lower() in _LABELS]
    passed = all(words) if words else None
    values = [one for told in results if (one := _number(told)) is not None]
    if values:
        value: float | None = math.fsum(values) / len(values)
    else:
        value = None if passed is None else float(passed)
    reasons = (as_text(one.get(f"{_PREFIX}explanation")) for one in results)
    said = " / ".join(dict.fromkeys(filter(None, (*labels, *reasons))))
    if passed is False:  # of several evaluations the reader sees which one
        said = f"{metric.partition('.')[2]}: {said}"
    return SpanScore(metric, value, passed, said[:_REASON], _why(value, results))


def _why(value: float | None, results: list[Mapping[str, Json]]) -> str | None:
    if value is not None:
        return None
    errors = [
        as_text(result["error.type"]) for result in results if result.get("error.type") is not None
    ]
    return f"the evaluation failed: {errors[0][:200]}" if errors else "no number, pass or fail"


def _number(told: Mapping[str, Json]) -> float | None:
    value = told.get(f"{_PREFIX}score.value")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) <= LARGEST else None
