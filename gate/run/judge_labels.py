"""What people's labels mean for a run: people's own ratings, which metrics of a judge they correct,
and which of these may not gate because the judge does not agree enough with people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from gate.analysis.labels import (
    LABELS,
    LabelContext,
    ReviewLabels,
    keep_fitting,
    notes,
    read_labels,
    with_judge,
    without_suites,
)
from gate.files.plain_file import is_there
from gate.files.rows import DatasetSource
from gate.plugins import Grader, GraderTraits, read_traits
from gate.records import Agreement, Config, Label, Measure, MetricSpec, PluginSpec, Ratings
from gate.run.prepare import SuitePlan
from gate.suites.protection.rules import Rules
from gate.text import figures

SUCCESS = "agent.success_rate"
PASSED = frozenset({"success", "first_success"})  # columns that come from pass and fail


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSuite:
    """What the review of labels needs to know of one suite. `deciders`: for each grader that
    decides on passing, the metrics of its judge; none if it asks no model. `limits`: metric ->
    value from which on an answer passes.
    """

    known: LabelContext
    deciders: tuple[tuple[str, ...], ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)

    @property
    def opinions(self) -> dict[str, MetricSpec]:
        return {n: spec for n, spec in self.known.specs.items() if spec.asks == "judge"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelReview:
    """The result of the labels. `labels`: suite -> metric -> the labels made for this judge;
    `people`: suite -> metric -> what all labels say; `advisory`: suite -> metric -> why it does not
    gate.
    """

    labels: Mapping[str, Mapping[str, tuple[Label, ...]]] = field(default_factory=dict)
    agreements: tuple[Agreement, ...] = ()
    people: Mapping[str, tuple[Ratings, ...]] = field(default_factory=dict)
    advisory: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()  # what labels cannot do
    found: ReviewLabels = field(default_factory=ReviewLabels)
    file: str = LABELS

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the report: rows that were left out, metrics that do not gate, warnings."""
        powerless = (
            note for name, metrics in self.advisory.items() for note in _powerless(name, metrics)
        )
        return (*notes(self.found, self.file), *powerless, *self.warnings)


def review_plans(rules: Rules, config: Config, plans: Iterable[SuitePlan]) -> LabelReview:
    """The labels of the side whose rules judge, for the suites of a run. Raises InfrastructureError
    if the base cannot be read.

    Reading from the base may cost a request. Without a judge labels decide nothing, so they are
    read from the base only if this folder has such a file or gate.yml names one.
    """
    suites = {plan.name: judged_suite_of(plan) for plan in plans}
    judge, file = config.judge, file_of(config.judge)
    there = "labels" in (judge.options if judge else {}) or is_there(rules.root / file, file)
    left_out = frozenset(suite.name for suite in config.suites) - suites.keys()
    find = partial(rules.judging_file, file)
    return review_labels(find, suites, least_of(judge), there=there, left_out=left_out)


def judged_suite_of(plan: SuitePlan) -> JudgedSuite:
    """The JudgedSuite of a plan, whose dataset is known. A judge whose code was edited is another
    judge.
    """
    same = {
        column: digest
        for column, digest in plan.grader_digests.items()
        if column not in plan.edited
    }
    judged = list_deciders(plan.graders.values(), plan.specs, same)
    return replace(judged, known=replace(judged.known, cases=plan.all_ids, digests=plan.digests))


def list_deciders(
    graders: Iterable[Grader], specs: Mapping[str, MetricSpec], digests: Mapping[str, str]
) -> JudgedSuite:
    """The JudgedSuite of these graders. `digests`: column -> hash of its grader and judge."""
    limits: dict[str, float] = {}
    deciders = []
    for grader in graders:
        limits |= _limits(grader)
        if read_traits(GraderTraits, grader).decides:
            judge_metrics = [spec.name for spec in grader.metrics() if spec.asks == "judge"]
            deciders.append(tuple(judge_metrics))
    return JudgedSuite(
        known=LabelContext(specs=specs, graders=digests), deciders=tuple(deciders), limits=limits
    )


def file_of(judge: PluginSpec | None) -> str:
    """The path of the labels, relative to the folder of gate.yml."""
    return str((judge.options if judge else {}).get("labels") or LABELS)


def least_of(judge: PluginSpec | None) -> float | None:
    """`judge.min_agreement`; None: no agreement is required."""
    least = (judge.options if judge else {}).get("min_agreement")
    return None if least is None else float(least)


def review_labels(
    find: Callable[[], DatasetSource | None],
    suites: Mapping[str, JudgedSuite],
    least: float | None,
    *,
    there: bool = False,
    left_out: frozenset[str] = frozenset(),
) -> LabelReview:
    """The review of the labels that `find` reads. It is called only if a judge decides something,
    or the labels are known to be `there`. `least`: the agreement that a gate requires, None for
    none; `left_out`: suites of gate.yml that this run leaves out.
    """
    judged_suites = {name: suite for name, suite in suites.items() if suite.opinions}
    if not judged_suites and not there:
        return LabelReview()
    source = find()
    file = source.name if source else LABELS
    rows = without_suites(read_labels(source), left_out)
    fitting = keep_fitting(rows, {name: suite.known for name, suite in suites.items()}, file)
    labels = {name: _labels_of_judge(fitting, name, suite) for name, suite in judged_suites.items()}
    agreements = tuple(
        _agreement(fitting, name, suite, metric, labels_of_metric)
        for name, suite in judged_suites.items()
        for metric, labels_of_metric in labels[name].items()
    )
    advisory: dict[str, Mapping[str, str]] = {}
    warnings: list[str] = []
    for name, suite in judged_suites.items():
        kappas = {
            agreement.metric: agreement for agreement in agreements if agreement.suite == name
        }
        warnings += _other_judge(name, suite, fitting, labels[name])
        if least is not None:
            advisory[name] = _advisory(suite, kappas, least)
            warnings += _still_counted(name, suite, advisory[name])
    return LabelReview(
        labels=labels,
        agreements=agreements,
        people=_people(fitting, suites),
        advisory=advisory,
        warnings=tuple(warnings),
        found=fitting,
        file=file,
    )


def _labels_of_judge(
    fitting: ReviewLabels, name: str, suite: JudgedSuite
) -> dict[str, tuple[Label, ...]]:
    """Metric -> labels beside this judge; only where there are any."""
    graders = suite.known.graders
    by_metric = {
        metric: with_judge(fitting.select(name, metric), graders.get(spec.column))
        for metric, spec in suite.opinions.items()
    }
    return {metric: some for metric, some in by_metric.items() if some}


def _people(
    fitting: ReviewLabels, suites: Mapping[str, JudgedSuite]
) -> dict[str, tuple[Ratings, ...]]:
    """Suite -> what its labels say, by metric."""
    if not fitting.rows:
        return {}
    from gate.analysis.agreement import measure_ratings

    by_suite: dict[str, dict[str, list[Label]]] = {}
    for row in fitting.rows:
        by_suite.setdefault(row.suite, {}).setdefault(row.metric, []).append(row)
    return {
        name: tuple(
            measure_ratings(
                suites[name].known.specs.get(metric) or _spec_without_scale(metric), rows
            )
            for metric, rows in sorted(metrics.items())
        )
        for name, metrics in by_suite.items()
    }


def _spec_without_scale(metric: str) -> MetricSpec:
    return MetricSpec(name=metric, column=metric, low=None, high=None)


def _agreement(
    fitting: ReviewLabels, name: str, suite: JudgedSuite, metric: str, labels: tuple[Label, ...]
) -> Agreement:
    from gate.analysis.agreement import measure_agreement

    spec, digest = suite.opinions[metric], suite.known.graders.get(suite.opinions[metric].column)
    agreement = measure_agreement(name, spec, labels, suite.limits.get(metric))
    others = sum(label.judge_digest != digest for label in fitting.select(name, metric))
    return replace(agreement, other_judge=others)


def _limits(grader: Grader) -> Iterator[tuple[str, float]]:
    """What an answer needs on each metric to pass, by a grader that has a rubric."""
    if read_traits(GraderTraits, grader).role != "judge":
        return
    from gate.graders.rubrics.built_in import BUILT_IN
    from gate.graders.rubrics.rubric import Rubric

    named_rubric = getattr(grader, "rubric", None)
    rubric = BUILT_IN.get(named_rubric) if isinstance(named_rubric, str) else named_rubric
    if not isinstance(rubric, Rubric):
        return
    for criterion, least in {**rubric.least, **getattr(grader, "least", {})}.items():
        yield rubric.metric_of(rubric.criterion_named(criterion)), float(least)
    own_total = getattr(grader, "least_total", None)
    total = rubric.least_total if own_total is None else own_total
    if total is not None and rubric.total:
        low, high = rubric.total_bounds
        yield rubric.total, (total - low) / (high - low)


# ------------------------------------------------------------------------------- what may not gate


def _advisory(
    suite: JudgedSuite, agreements: Mapping[str, Agreement], least: float
) -> dict[str, str]:
    """The lower bound must reach it: few labels show nothing, however well they agree."""
    advisory = {}
    for metric in suite.opinions:
        agreement = agreements.get(metric)
        if agreement is None or agreement.kappa.low is None or agreement.kappa.low < least:
            shown = (
                _format_kappa(agreement.kappa, agreement.labels)
                if agreement
                else "no person has rated answers that this judge scored"
            )
            wanted = f"judge.min_agreement {figures.limit(least, '')}"
            advisory[metric] = f"does not gate: {wanted} has not been shown ({shown})"
    judges = [metrics for metrics in suite.deciders if metrics]
    if judges and len(judges) == len(suite.deciders) and _are_all_advisory(judges, advisory):
        why = "does not gate: only judges that may not gate decide what passes"
        advisory |= {
            name: why
            for name, spec in suite.known.specs.items()
            if not PASSED.isdisjoint(spec.columns)
        }
    return advisory


def _are_all_advisory(judges: Sequence[tuple[str, ...]], advisory: Mapping[str, str]) -> bool:
    return all(metric in advisory for metrics in judges for metric in metrics)


def _format_kappa(kappa: Measure, labels: int) -> str:
    by = figures.count(labels, "label")
    if kappa.value is None or kappa.low is None or kappa.high is None:
        return f"{by}: {kappa.reason}"
    return (
        f"weighted kappa with people {figures.value(kappa.value, '')}, "
        f"{figures.span_in_words(kappa.low, kappa.high, '')} by {by}"
    )


def _powerless(name: str, advisory: Mapping[str, str]) -> Iterator[str]:
    """One note for all metrics of a suite that share a reason."""
    groups: dict[str, list[str]] = {}
    for metric, why in advisory.items():
        groups.setdefault(why, []).append(metric)
    for why, metrics in groups.items():
        verb = why if len(metrics) == 1 else why.replace("does not gate", "do not gate", 1)
        yield f"{name}: {figures.join_words((f'`{one}`' for one in metrics), most=5)} {verb}"


def _still_counted(name: str, suite: JudgedSuite, advisory: Mapping[str, str]) -> Iterator[str]:
    """Success is the word of all graders that decide, and cannot be had without the judge's."""
    judges = {metric for metrics in suite.deciders for metric in metrics}
    if SUCCESS not in advisory and judges & advisory.keys():
        yield (
            f"{name}: `{SUCCESS}` still gates and includes the judge's pass or fail; "
            "remove `least` and `least_total` to exclude it"
        )


def _other_judge(
    name: str,
    suite: JudgedSuite,
    fitting: ReviewLabels,
    labels_by_metric: Mapping[str, Sequence[Label]],
) -> Iterator[str]:
    """ReviewLabels that say nothing of this judge: nothing is corrected by them."""
    left = [m for m in suite.opinions if m not in labels_by_metric and fitting.select(name, m)]
    if left:
        labels = sum(len(fitting.select(name, metric)) for metric in left)
        yield (
            f"{name}: {figures.count(labels, 'label')} on "
            f"{figures.join_words((f'`{one}`' for one in left), most=5)} were made for "
            "another judge, rubric or options and are not used; draw new answers to rate "
            "with `gate review sample`"
        )
