"""Labels as numbers: how far the judge agrees with people, and its metrics corrected by them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gate.analysis.estimates import estimates, family_of, finite
from gate.analysis.labels import list_reviewers
from gate.analysis.session_effect import is_mean
from gate.analysis.table import Table
from gate.records import Agreement, Corrected, Estimate, Label, Measure, MetricSpec, Ratings
from gate.stats.agreement import AgreementEstimate, Design, krippendorff_alpha, weighted_kappa
from gate.stats.correction import (
    CorrectedMean,
    LabelledCases,
    average_by_case,
    correct_mean,
    mean_difference,
)
from gate.stats.pairs import Array, case_means, case_variances


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedAnswers:
    """The rated answers of one metric. `ratings`: reviewers x answers, NaN where one gave none;
    `judge`: one value an answer.
    """

    ratings: Array
    judge: Array
    design: Design
    step: float  # the smallest difference between two ratings

    @property
    def median(self) -> Array:
        return np.asarray(np.nanmedian(self.ratings, axis=0))

    def by_case(self) -> LabelledCases:
        """Reviewers, then answers, averaged."""
        mean = np.nanmean(self.ratings, axis=0)
        return average_by_case(mean, self.judge, self.design, step=self.step)


def collect_answers(labels: Sequence[Label], spec: MetricSpec) -> RatedAnswers:
    """`labels`: of one suite, metric and judge; at least one. An answer that no judge scored has
    NaN as the judge's value.
    """
    reviewers = {name.casefold(): at for at, name in enumerate(list_reviewers(labels))}
    groups: dict[tuple[str, str], list[Label]] = {}
    for label in labels:
        groups.setdefault((label.case_id, label.answer_digest), []).append(label)
    ratings = np.full((len(reviewers), len(groups)), np.nan)
    for at, rated in enumerate(groups.values()):
        for label in rated:
            ratings[reviewers[label.reviewer.strip().casefold()], at] = label.human
    first = [rated[0] for rated in groups.values()]
    return RatedAnswers(
        ratings=ratings,
        judge=np.array([np.mean([_score_of(one) for one in rated]) for rated in groups.values()]),
        design=Design(
            cases=_number_names([label.case_id for label in first]),
            strata=_number_names([f"{label.period}\0{label.stratum}" for label in first]),
            weights=np.array([label.weight for label in first]),
        ),
        step=_step(ratings, spec),
    )


def _score_of(label: Label) -> float:
    return math.nan if label.judge is None else label.judge


def measure_ratings(spec: MetricSpec, labels: Sequence[Label]) -> Ratings:
    """`labels`: of one suite and metric, beside whatever judge or none; at least one."""
    answers = collect_answers(labels, spec)
    people = replace(answers, judge=np.zeros(len(answers.judge))).by_case()
    mean = correct_mean(0.0, 0.0, people)
    alpha = krippendorff_alpha(answers.ratings, design=answers.design)
    return Ratings(
        metric=spec.name,
        labels=len(labels),
        answers=answers.ratings.shape[1],
        reviewers=answers.ratings.shape[0],
        mean=float(np.average(people.human, weights=people.weights)),
        ci95=None if mean.reason else (_clip(spec, mean.low), _clip(spec, mean.high)),
        agreement=_to_measure(alpha),
    )


def measure_agreement(
    suite: str, spec: MetricSpec, labels: Sequence[Label], limit: float | None
) -> Agreement:
    """`labels`: as for `collect_answers`, at least one; `limit`: from which an answer passes."""
    answers = collect_answers(labels, spec)
    people, judge, design = answers.median, answers.judge, answers.design
    everybody = np.vstack([answers.ratings, judge])
    return Agreement(
        suite=suite,
        rubric=labels[0].rubric,
        metric=spec.name,
        labels=len(labels),
        answers=len(judge),
        cases=len(np.unique(design.cases)),
        reviewers=list_reviewers(labels),
        kappa=_to_measure(weighted_kappa(people, judge, design=design)),
        kappa_linear=_to_measure(weighted_kappa(people, judge, weights="linear", design=design)),
        alpha_people=_to_measure(krippendorff_alpha(answers.ratings, design=design)),
        alpha_all=_to_measure(krippendorff_alpha(everybody, design=design)),
        bias=_to_measure(mean_difference(answers.by_case())),
        pass_limit=limit,
        confusion=None if limit is None else _confusion(people >= limit, judge >= limit),
    )


def correct_estimates(table: Table, labels: Mapping[str, Sequence[Label]]) -> dict[str, Estimate]:
    """The estimates of a run, those of a judge that people checked with a corrected value beside.

    `labels`: metric -> as for `collect_answers`, at least one.
    """
    corrected = estimates(table, table.specs)
    for name, rated in labels.items():
        estimate, spec = corrected.get(name), table.specs.get(name)
        if estimate is not None and spec is not None and estimate.value is not None:
            corrected[name] = replace(estimate, corrected=_correct_estimate(spec, table, rated))
    return corrected


def _correct_estimate(spec: MetricSpec, table: Table, labels: Sequence[Label]) -> Corrected | None:
    """None for too few labels, and for a metric that is no mean of its calls."""
    if not (is_mean(spec) and math.isclose(family_of(spec).reduce(np.array([[1.0]])), 1.0)):
        return None
    run = _summarise_judge(table.column(spec.column), table.column("agent_error") == 1.0)
    rated = collect_answers(labels, spec)
    mean = correct_mean(run.mean, run.variance, rated.by_case())
    if mean.reason or not run.share:
        return None
    kappa = weighted_kappa(rated.median, rated.judge, design=rated.design)
    value, low, high = (
        _clip(spec, run.failed + run.share * number) for number in (mean.value, mean.low, mean.high)
    )
    return Corrected(
        value=value, ci_low=low, ci_high=high, n_labels=len(labels), agreement=finite(kappa.value)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgeMean:
    """The judge's mean over the answers of a run, its variance, the share that answers are of all
    calls, and what the failed calls add to the mean of all. People have rated answers only.
    """

    mean: float
    variance: float
    share: float
    failed: float


def _summarise_judge(values: Array, failed: npt.NDArray[np.bool_]) -> _JudgeMean:
    """The variance is the noise of the rounds, as in the metric's interval; where cases ran once it
    is the scatter between them, which is more.
    """
    measured = ~np.isnan(values)
    there = measured.any(axis=1)
    answered = measured & ~failed
    share = float(_shares(answered, measured)[there].mean()) if there.any() else 0.0
    if not share:
        return _JudgeMean(mean=0.0, variance=0.0, share=0.0, failed=0.0)
    lost = float(case_means(np.where(answered, 0.0, values))[there].mean())
    overall = float(case_means(values)[there].mean())
    left = np.where(answered, values, np.nan)
    means, variances, calls = case_means(left), case_variances(left), answered.sum(axis=1)
    rows, n = calls > 0, int((calls > 0).sum())
    variance = float((variances[rows] / calls[rows]).sum()) / n**2
    if (calls == 1).any():
        variance = float(means[rows].var(ddof=1)) / n if n > 1 else 0.0
    return _JudgeMean(mean=(overall - lost) / share, variance=variance, share=share, failed=lost)


def _shares(some: npt.NDArray[np.bool_], of: npt.NDArray[np.bool_]) -> Array:
    return np.asarray(some.sum(axis=1) / np.maximum(of.sum(axis=1), 1))


def _clip(spec: MetricSpec, number: float) -> float:
    low = -math.inf if spec.low is None else spec.low
    high = math.inf if spec.high is None else spec.high
    return min(high, max(low, number))


def _to_measure(estimate: AgreementEstimate | CorrectedMean) -> Measure:
    if estimate.reason:
        return Measure(reason=estimate.reason)
    return Measure(value=estimate.value, low=estimate.low, high=estimate.high)


def _confusion(
    people: npt.NDArray[np.bool_], judge: npt.NDArray[np.bool_]
) -> tuple[int, int, int, int]:
    pairs = ((True, True), (True, False), (False, True), (False, False))
    both, only, other, neither = (int(((people == h) & (judge == j)).sum()) for h, j in pairs)
    return both, only, other, neither


def _number_names(names: Sequence[str]) -> npt.NDArray[np.int64]:
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _step(ratings: Array, spec: MetricSpec) -> float:
    """Where all ratings are alike it is the whole scale."""
    values = np.unique(ratings[~np.isnan(ratings)])
    if len(values) > 1:
        return float(np.diff(values).min())
    if spec.low is None or spec.high is None:
        return abs(float(values[0])) or 1.0
    return spec.high - spec.low
