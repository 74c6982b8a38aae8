"""`deepeval`: the test run that deepeval keeps, or its results dumped from Python."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from gate.errors import Place, Problem
from gate.files.json_values import as_object, as_objects, as_string, line_or_none
from gate.files.problems import Findings
from gate.files.sniff import FirstLook
from gate.importers.formats import deepeval
from gate.importers.trials.build import name_judge, provenance_of, score_metric
from gate.importers.trials.names import mark, suite_name
from gate.importers.trials.stated import Figure, compare_stated
from gate.plugins import IMPORTERS
from gate.records import Json, MetricSpec
from gate.records.imported import Imported, ImportedSuite
from gate.text.figures import count
from gate.text.shortening import tidy


@IMPORTERS.register("deepeval")
@dataclass(frozen=True, slots=True, kw_only=True)
class DeepEval:
    """`suite`: its name; without it that of the dataset, or `deepeval`."""

    suite: str = ""

    reads: ClassVar[str] = "a test run (test_run_*.json), or a folder with one"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        if found.is_folder:
            runs = [name for name in found.names if name.startswith("test_run_")]
            return any(name.endswith(".json") for name in runs) or (
                ".latest_run_full.json" in found.names
            )
        dumped = found.has("metrics_data", "conversational") or found.has("test_results")
        return found.has("testCases") or found.has("testRunData") or dumped

    def read(self, path: Path) -> Imported:
        """Raises InvalidInput with every problem."""
        file = deepeval.file_of(path)
        run = deepeval.run_in(file)
        _check(run)
        suite = suite_name(self.suite or as_string(run.head.get("dataset_alias")), deepeval.TOOL)
        totals: dict[str, _Totals] = {}
        for one in deepeval.place_cases(run, suite):
            totals.setdefault(one.suite.name, _Totals()).add(one)
        return Imported(
            files=(file,),
            created_at=deepeval.find_start(run),
            provenance=provenance_of(deepeval.TOOL, _agent(run)),
            suites={name: _suite(own) for name, own in totals.items()},
            trials=lambda: map(deepeval.trial, deepeval.place_cases(deepeval.run_in(file), suite)),
            notes=tuple(_notes(run)),
        )


_MOST = 240  # characters of what judged


@dataclass(slots=True, kw_only=True)
class _Totals:
    """What the cases of one suite come to."""

    rounds: int = 0
    cases: set[str] = field(default_factory=set)
    metrics: dict[str, list[deepeval.Metric]] = field(
        default_factory=dict
    )  # column -> without their texts
    deciding: set[tuple[str, float | None, str]] = field(default_factory=set)

    def add(self, placed: deepeval.PlacedCase) -> None:
        self.rounds = max(self.rounds, placed.round)
        self.cases.add(placed.case_id)
        for metric in placed.result.metrics:
            self.metrics.setdefault(deepeval.column_of(metric), []).append(metric)
            if not metric.flaky:
                self.deciding.add((metric.name, metric.threshold, metric.model))


def _suite(own: _Totals) -> ImportedSuite:
    judges = {
        column: _format_metrics({(metric.name, None, metric.model) for metric in group})
        for column, group in own.metrics.items()
    }
    whole = _format_metrics(own.deciding)
    return ImportedSuite(
        rounds=own.rounds,
        cases=len(own.cases),
        dataset="test cases of a deepeval run",
        metrics=tuple(_spec(column, own.metrics[column]) for column in sorted(own.metrics)),
        graders={**name_judge(whole), **judges},
    )


def _format_metrics(metrics: set[tuple[str, float | None, str]]) -> str:
    """Metrics with their thresholds and models: what another one passed is not the same."""
    parts = [
        f"{name}{'' if threshold is None else f' {threshold:g}'}{f' ({model})' if model else ''}"
        for name, threshold, model in sorted(metrics, key=str)
    ]
    whole = tidy(f"{deepeval.TOOL}: {', '.join(parts)}", None)
    return whole if len(whole) <= _MOST else f"{whole[:_MOST]}… {mark(whole)}"


def _spec(column: str, group: Sequence[deepeval.Metric]) -> MetricSpec:
    """deepeval's scores go from 0 to 1, but for those of own metrics."""
    about = f"mean score of deepeval's {tidy(group[0].name, 80)}"
    scores = [metric.score for metric in group if metric.score is not None]
    share = all(0.0 <= score <= 1.0 for score in scores)
    spec = score_metric(column, share=share, about=about, lower=_less_is_better(group))
    return replace(spec, unit=spec.unit or "points", on_agent_error=0.0)


def _less_is_better(group: Sequence[deepeval.Metric]) -> bool:
    """Whether every verdict says that scores below the threshold pass, as with toxicity."""
    below = [
        (metric.score < metric.threshold) == metric.success
        for metric in group
        if metric.score is not None
        and metric.threshold is not None
        and metric.success is not None
        and not math.isclose(metric.score, metric.threshold)
    ]
    return bool(below) and all(below)


def _check(run: deepeval.DeepEvalRun) -> None:
    findings = Findings()
    for case in run.cases:
        if wrong := deepeval.contradiction(case):
            findings.add(case.place, wrong)
    findings.refuse()
    findings.take(*_totals(run))
    findings.refuse()


def _totals(run: deepeval.DeepEvalRun) -> Iterator[Problem]:
    place = Place(run.path.as_posix())
    verdicts = [case.data.get("success") for case in run.cases]
    figures = _figures(verdicts, ("test_passed", "test_failed"), "such cases")
    yield from compare_stated(run.head, figures, place)
    if any(case.inner for case in run.cases):
        return  # the sums have the metrics of spans, too
    for totals in as_objects(run.head.get("metrics_scores")):
        name = as_string(totals.get("metric"))
        mine = [metric for case in run.cases for metric in case.metrics if metric.name == name]
        verdicts = [one.success for one in mine if one.score is not None]
        figures = _figures(verdicts, ("passes", "fails") if name else (), "such cases of it")
        where = replace(place, key=f"metrics_scores[{name[:80]}]")
        yield from compare_stated(totals, figures, where)


def _figures(verdicts: Sequence[Json], keys: Sequence[str], who: str) -> Iterator[Figure]:
    """How many passed and how many failed. `keys`: for each of the two."""
    for key, verdict in zip(keys, (True, False), strict=False):
        yield Figure(key, (verdicts.count(verdict),), f"there are {verdicts.count(verdict)} {who}")


def _agent(run: deepeval.DeepEvalRun) -> str:
    """The run's identifier, or the model among its hyperparameters."""
    model = as_object(run.head.get("hyperparameters")).get("model")
    return line_or_none(run.head.get("identifier") or model) or deepeval.TOOL


def _notes(run: deepeval.DeepEvalRun) -> Iterator[str]:
    yield "imported from a deepeval test run; deepeval judged the answers"
    failed = [one for one in run.cases if one.data.get("success") is False]
    broken = sum(
        deepeval.failure(one) is None and deepeval.judge_case(one).passed is None for one in failed
    )
    if broken:
        yield (
            f"{broken} of {count(len(run.cases), 'case')} unscored, because a metric ended in an "
            "error and no other metric failed; deepeval counts that as failed"
        )
    cost = sum(metric.cost for case in run.cases for metric in case.metrics)
    if cost:
        yield f"deepeval's judging cost ${cost:.4g}; this is not part of the agent's cost"
