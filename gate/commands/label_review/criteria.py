"""What people are asked: the criteria of the suite's judge, on the same scales."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gate.commands.label_review.manifest import Criterion
from gate.errors import UsageError
from gate.graders.rubrics.built_in import BUILT_IN
from gate.graders.rubrics.rubric import Criterion as OfRubric
from gate.graders.rubrics.rubric import Rubric
from gate.records import MetricSpec
from gate.store.session import SuiteMeta

DEFAULT = BUILT_IN["answer"]  # where no judge was asked
MOST_VALUES = 101  # of a scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The criteria to rate. `about`: rubric -> what it judges."""

    criteria: tuple[Criterion, ...]
    about: Mapping[str, str]


def judge_metrics(meta: SuiteMeta) -> dict[str, MetricSpec]:
    """The metrics that a judge scores."""
    return {name: spec for name, spec in meta.specs.items() if spec.asks == "judge"}


def criteria_of(meta: SuiteMeta, rubrics: Sequence[Rubric]) -> Asked:
    """The criteria of a suite. `rubrics`: those of its judges in gate.yml; a metric that none of
    them explains is asked by its name. Raises UsageError if there is nothing to ask.
    """
    specs = judge_metrics(meta)
    if not specs:
        default = tuple(_criterion(DEFAULT, name, {}, {}) for name in DEFAULT.criteria)
        return Asked(criteria=default, about={DEFAULT.name: DEFAULT.about})
    criteria = [
        _criterion(rubric, name, specs, meta.graders)
        for rubric in rubrics
        if not rubric.compare_with
        for name in rubric.criteria
    ]
    criteria = [criterion for criterion in criteria if criterion.metric or criterion.total]
    covered = {criterion.metric for criterion in criteria} | {
        criterion.total for criterion in criteria
    }
    criteria += [
        _criterion_of_metric(s, meta.graders)
        for n, s in specs.items()
        if n not in covered and _has_whole_scale(s)
    ]
    if not criteria:
        raise UsageError(
            f"none of {', '.join(sorted(specs))} is rated in whole numbers; give the "
            "gate.yml with its rubric as --config (comparisons of two answers are not "
            "reviewed)"
        )
    for criterion in criteria:
        _check_scale(criterion, specs)
    names = {criterion.rubric for criterion in criteria}
    about = {rubric.name: rubric.about for rubric in rubrics if rubric.name in names}
    return Asked(criteria=tuple(criteria), about=about)


def _criterion(
    rubric: Rubric, name: str, specs: Mapping[str, MetricSpec], graders: Mapping[str, str]
) -> Criterion:
    scale: OfRubric = rubric.criteria[name]
    metric, total = rubric.metric_of(name), rubric.total
    if specs:  # only what the session measured
        metric = metric if metric in specs else ""
        total = total if total in specs else ""
    spec = specs.get(metric) or specs.get(total)
    return Criterion(
        name=f"{rubric.name}.{name}",
        title=_title(name),
        question=scale.about,
        low=scale.low,
        high=scale.high,
        rubric=rubric.name,
        levels=dict(scale.levels),
        metric=metric,
        total=total,
        judge=graders.get(spec.column, "") if spec else "",
    )


def _criterion_of_metric(spec: MetricSpec, graders: Mapping[str, str]) -> Criterion:
    return Criterion(
        name=spec.name,
        title=_title(spec.name.rpartition(".")[2]),
        question=spec.description,
        low=int(spec.low or 0),
        high=int(spec.high or 0),
        rubric=spec.name,
        metric=spec.name,
        judge=graders.get(spec.column, ""),
    )


def _title(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def _has_whole_scale(spec: MetricSpec) -> bool:
    """Whether its scale is one of whole numbers; 0 to 1 is a share."""
    if spec.low is None or spec.high is None:
        return False
    ends_are_whole = float(spec.low).is_integer() and float(spec.high).is_integer()
    return ends_are_whole and 2 <= spec.high - spec.low < MOST_VALUES and spec.low >= 0


def _check_scale(criterion: Criterion, specs: Mapping[str, MetricSpec]) -> None:
    spec = specs.get(criterion.metric)
    if spec is not None and (spec.low, spec.high) != (criterion.low, criterion.high):
        raise UsageError(
            f"{criterion.metric} is {criterion.low} to {criterion.high} in gate.yml and was "
            f"{spec.low:g} to {spec.high:g} in the session; give the gate.yml of that run "
            "with --config, or run again"
        )


def group_by_total(criteria: Iterable[Criterion]) -> Iterator[tuple[str, tuple[Criterion, ...]]]:
    """Each metric that is the sum of several criteria, with these criteria."""
    groups: dict[str, list[Criterion]] = {}
    for criterion in criteria:
        if criterion.total:
            groups.setdefault(criterion.total, []).append(criterion)
    yield from ((metric, tuple(parts)) for metric, parts in groups.items())
