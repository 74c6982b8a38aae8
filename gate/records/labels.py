"""What people say of a judge: labels, its agreement with them, the corrected estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One row of reviews/labels.jsonl: a reviewer's rating of one answer on one metric."""

    suite: str
    case_id: str
    case_digest: str  # of the case that was answered
    round: int  # from 1
    answer_digest: str  # sha256 of the answer's text
    rubric: str
    metric: str  # dimension.metric, on whose scale `human` and `judge` are
    human: float
    judge: float | None  # what the judge said of this answer; None: it was unscored
    judge_digest: str  # of the judge and its rubric (SuiteMeta.graders of the metric's column)
    reviewer: str  # a name or handle
    labelled_at: str  # ISO 8601
    period: str = ""  # of the rotation
    stratum: str = ""  # of the sample, in its period; empty: it had none
    weight: float = 1.0  # 1 / the chance that the answer was sampled, up to a common factor
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number with its two-sided interval at 95 %. `value` None: it cannot be told, `reason` says
    why.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far people and the judge agree on one metric of one suite.

    `confusion`: answers by (human passed, judge passed) at the metric's lower limit: both, human
    only, judge only, neither; None where there is no limit.
    """

    suite: str
    rubric: str
    metric: str
    labels: int  # with this judge
    answers: int
    cases: int
    reviewers: tuple[str, ...]
    kappa: Measure  # of the judge and the median of the reviewers, quadratic weights
    kappa_linear: Measure
    alpha_people: Measure  # Krippendorff's, among the reviewers
    alpha_all: Measure  # the judge counted as one of them
    bias: Measure  # mean of judge - human
    pass_limit: float | None = None
    confusion: tuple[int, int, int, int] | None = None
    other_judge: int = 0  # labels that were made beside another judge


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """What people said of one metric, whoever judged the same answers: all labels count that fit
    the cases as they are now.
    """

    metric: str
    labels: int
    answers: int
    reviewers: int
    mean: float  # over cases, by the weights of the sample
    ci95: tuple[float, float] | None  # of the mean; None: too few cases
    agreement: Measure  # Krippendorff's alpha of the reviewers among themselves


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What `gate review agreement` found in a file of labels. `least`: `judge.min_agreement`;
    `advisory`: suite -> metric -> why it does not gate; `wrong`, `stale`: rows left out, and why.
    """

    file: str
    least: float | None
    agreements: tuple[Agreement, ...]
    advisory: Mapping[str, Mapping[str, str]]
    notes: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """An estimate of a judge's metric as people would have rated; interval at 95 %."""

    value: float
    ci_low: float
    ci_high: float
    n_labels: int
    agreement: float | None = None  # weighted kappa of the judge and people
