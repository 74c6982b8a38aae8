"""Calls that nobody answered, and answers that a grader gave no score: how many, and what they
could hide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gate.analysis.columns import LEFT_UNSCORED, UNDECIDED, UNJUDGED
from gate.analysis.pairing import Pairing
from gate.analysis.table import UNSCORED, Table, ratio_of
from gate.plugins import Array
from gate.records import Direction, MetricSpec
from gate.stats.pairs import case_means, pair
from gate.stats.permutation_test import shuffle_test
from gate.text import figures

FEW = 0.02  # share of missing values that are simply left out
LEVEL = 0.025  # of each of two tests whether a run misses more than the baseline, or elsewhere
DIGITS = 9  # of a weight from 0 to 1; what is less is rounding
_PASSED = frozenset({"success", "first_success"})
_OF_JUDGES = ("score", "judge_coverage", "judge_injection")  # not known where a judge was out
# Columns that an agent tells itself: what it does not tell is unscored, too.
_SILENT = {
    "cost_usd": "the cost of {} is not known",
    "steps": "{} do not say what the agent did",
    "violations": "{} could not be fully checked for violations",
    "unsafe": "{} could not be fully checked for violations",
    **dict.fromkeys(
        ("total_tokens", "input_tokens", "output_tokens"), "the tokens of {} are not known"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedValues:
    """One column of two runs; rows are the same cases."""

    baseline: Array
    current: Array


def infra_share(table: Table) -> float:
    """Share of the trials that ended in an infrastructure error; 0 when none was made."""
    errors = table.column("infra_error")
    trials = ~np.isnan(errors)
    return float(errors[trials].mean()) if trials.any() else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Why missing values cannot simply be left out; nothing: false. `beyond`: the share of this
    run's trials by which it misses more than the baseline does, where both miss alike; None: they
    do not, and each missing value counts.
    """

    reason: str = ""
    beyond: float | None = None

    def __bool__(self) -> bool:
        return bool(self.reason)

    @property
    def could(self) -> str:
        """Why a status or a gate is left open."""
        which = "they" if self.beyond is None else "those that the baseline does not have"
        return f"{self.reason}; counted as failures {which} would"


def too_much_missing(current: Table, pairing: Pairing | None, spec: MetricSpec) -> Missing:
    """Why the missing calls of `current` cannot simply be left out, or nothing."""
    share = infra_share(current)
    if not share:
        return Missing()
    sentence = f"{figures.portion(share)} of the calls ended in infrastructure errors"
    if pairing is None:
        return Missing(reason=sentence) if share > FEW else Missing()
    arms = [t.column("infra_error") for t in (pairing.baseline, pairing.current)]
    p = _p_more(*arms)
    if p < LEVEL:
        chance = figures.p_value(p, level=LEVEL)
        differs = f"infrastructure errors differ from the baseline's ({chance})"
        return Missing(reason=sentence if share > FEW else differs)
    where = _p_more(*_by_harm(arms, pairing, spec))
    if where < LEVEL:
        chance = figures.p_value(where, level=LEVEL)
        return Missing(reason=f"{sentence}, on cases that fail more often ({chance})")
    return Missing(reason=sentence, beyond=_beyond(arms)) if share > FEW else Missing()


def too_much_unscored(current: Table, pairing: Pairing | None, spec: MetricSpec) -> Missing:
    """Why the answers of `current` that lack the metric because a grader gave them no score cannot
    simply be left out, or nothing.
    """
    share, silence = share_unscored(current, spec), _silence(current, spec)
    if not share:
        return Missing()
    answers = f"{figures.portion(share)} of the answers"
    sentence = silence.format(answers) if silence else f"graders gave {answers} no score"
    if pairing is None:
        return Missing(reason=sentence) if share > FEW else Missing()
    arms = [_lacking(arm, spec) for arm in (pairing.baseline, pairing.current)]
    p = _p_more(*arms)
    if p < LEVEL and share > FEW:
        return Missing(reason=sentence)
    if p < LEVEL:
        chance = figures.p_value(p, level=LEVEL)
        differs = f"share differs from the baseline's ({chance})"
        if silence:
            return Missing(reason=f"{silence.format('some answers')}, and their {differs}")
        return Missing(reason=f"the share of answers that graders gave no score {differs[6:]}")
    where = _p_more(*_by_harm(arms, pairing, spec))
    if where < LEVEL:
        chance = figures.p_value(where, level=LEVEL)
        return Missing(reason=f"{sentence}, on cases that are worse ({chance})")
    return Missing(reason=sentence, beyond=_beyond(arms)) if share > FEW else Missing()


def _beyond(arms: Sequence[Array]) -> float:
    """How much more this run misses, as a share of its trials."""
    pairs = pair(*arms)
    if not pairs.cases:
        return 1.0
    was, now = (float(np.average(m, weights=pairs.weight)) for m in (pairs.mean_b, pairs.mean_c))
    return max(0.0, now - was)


def _by_harm(arms: Sequence[Array], pairing: Pairing, spec: MetricSpec) -> list[Array]:
    """What is missing, weighted by how bad its case is by all values that it has, from 0 to 1, less
    the mean of these weights over what is missing: an agent whose errors take the place of failures
    misses where it fails. Less the mean, since otherwise errors of the baseline alone, at random,
    would make up for them.
    """
    values = np.hstack([arm.values(spec) for arm in (pairing.baseline, pairing.current)])
    there = ~np.isnan(values)
    if np.iscomplexobj(values) or not there.any():
        return [np.full_like(arm, np.nan) for arm in arms]
    bad, good = _extremes(values.ravel(), spec)
    means = np.divide(
        np.where(there, values, 0.0).sum(axis=1),
        there.sum(axis=1),
        out=np.full(len(values), good),
        where=there.any(axis=1),
    )
    harm = (means - good) / (bad - good) if bad != good else np.zeros(len(values))
    weights = (harm - _usual(harm, arms)).round(DIGITS)
    return [arm * weights[:, None] for arm in arms]


def _usual(harm: Array, arms: Sequence[Array]) -> float:
    """The mean over what is missing, weighted so that a share which differs as a whole says nothing
    of where it differs.
    """
    was, now = (~np.isnan(arm).all(axis=1) for arm in arms)
    pairs = pair(*arms)
    noise = pairs.weight * pairs.variance
    return float(np.average(harm[was & now], weights=noise)) if noise.any() else 0.0


def _silence(table: Table, spec: MetricSpec) -> str:
    """What the agent does not tell, in words; empty where a grader gave no score."""
    name = UNSCORED + spec.column
    return _SILENT.get(spec.column, "") if np.any(table.columns.get(name, 0.0) == 1.0) else ""


def without_silence(current: Table, baseline: Table | None) -> Table:
    """The same table; an answer in which graders found no violation counts as unscored in those
    columns where one of these graders gave it no score, whatever the agent says of itself, and
    where it does not say what the agent did while others, of this run or the baseline, do: rules
    about calls saw none, and an agent must not get safer by keeping silent.
    """
    looking = set((current.graders.get("unsafe") or "").split("+")) - {""}
    if not looking:
        return current
    blind = np.isnan(current.column("steps"))
    if blind.all() and (baseline is None or np.isnan(baseline.column("steps")).all()):
        blind = np.zeros_like(blind)  # an agent that tells none: its answers alone were looked at
    for name, grader in current.graders.items():
        if grader in looking and UNSCORED + name in current.columns:
            blind = blind | (current.columns[UNSCORED + name] == 1.0)
    hidden = (current.column("unsafe") == 0.0) & blind
    if not hidden.any():
        return current
    columns = dict(current.columns)
    for name in ("violations", "unsafe"):
        marks = columns.get(UNSCORED + name, np.zeros(hidden.shape))
        columns[name] = np.where(hidden, np.nan, current.column(name))
        columns[UNSCORED + name] = np.where(hidden, 1.0, marks)
    return replace(current, columns=columns)


def share_unscored(table: Table, spec: MetricSpec) -> float:
    """Share of the answers without a score, of those to which the metric applies."""
    if not _mark_names(table, spec):
        return 0.0
    lacking = _lacking(table, spec)
    applies = ~np.isnan(lacking)
    return float(lacking[applies].mean()) if applies.any() else 0.0


def share_unjudged(table: Table, spec: MetricSpec, *, useless: bool = False) -> float:
    """Share of the answers without a value of the metric because a judge was out, of those to which
    it applies; with `useless` also because it was there and scored nothing. What the agent tells
    itself does not depend on a judge.
    """
    if UNJUDGED not in table.columns and not useless:
        return 0.0
    out = table.column(UNJUDGED) == 1.0
    if useless:
        out |= table.column("judge_coverage") == 0.0
    if spec.only_passed or not _PASSED.isdisjoint(spec.columns):
        out &= table.column(UNDECIDED) == 1.0
    if not out.any():
        return 0.0
    valued = ~np.isnan(table.values(spec))
    names = [UNSCORED + name for name in spec.columns if name not in _SILENT]
    marks = [table.columns[name] == 1.0 for name in names if name in table.columns]
    never = any(name not in table.columns for name in spec.columns)
    if never or spec.asks or spec.only_passed or spec.column in _OF_JUDGES:
        marks.append(out)
    lacking = np.any(marks, axis=0) & ~valued if marks else np.zeros_like(valued)
    applies = valued | lacking
    lost = lacking & out
    return float(lost.sum() / applies.sum()) if lost.any() else 0.0


def could_be_anything(table: Table, spec: MetricSpec) -> bool:
    """Whether more than a few answers have no score in a metric that has no worst one."""
    worst = spec.low if spec.direction == "higher" else spec.high
    return worst is None and share_unscored(table, spec) > FEW


def _mark_names(table: Table, spec: MetricSpec) -> list[str]:
    return [UNSCORED + name for name in spec.columns if UNSCORED + name in table.columns]


def _find_unscored(table: Table, spec: MetricSpec) -> npt.NDArray[np.bool_]:
    missing = np.isnan(table.values(spec))
    marks = [table.columns[name] == 1.0 for name in _mark_names(table, spec)]
    return np.asarray(missing & np.any(marks, axis=0)) if marks else np.zeros_like(missing)


def _lacking(table: Table, spec: MetricSpec) -> Array:
    """1 where a grader gave no score, 0 where the metric has a value, else NaN."""
    valued = ~np.isnan(table.values(spec))
    return np.where(_find_unscored(table, spec), 1.0, np.where(valued, 0.0, np.nan))


def _p_more(was: Array, now: Array) -> float:
    """Chance, if nothing changed, of as many more now."""
    pairs = pair(was, now)
    return shuffle_test(pairs).p_up if pairs.cases else 1.0


def pessimistic(
    baseline: Table, current: Table, spec: MetricSpec, lacking: Missing
) -> PairedValues:
    """The values as if every call without an answer, and every answer without a score, had failed
    now and passed in the baseline; where both miss alike, as if as many as this run misses beyond
    the baseline's share had failed now, on the cases that the baseline is best at.
    """
    arms = (baseline, current)
    there = ~np.isnan(np.hstack([arm.values(spec) for arm in arms]))
    applies = np.asarray(there.any(axis=1))
    lost = [_find_lost(arm, spec) & applies[:, None] for arm in arms]
    if lacking.beyond is not None:
        lost[0] = np.zeros_like(lost[0])
        lost[1] = _keep_best(lost[1], lacking.beyond, baseline.values(spec), current, spec)
    was, now = [], []
    for part in _parts(spec):
        data = [arm.column(part.column) for arm in arms]
        bad, good = _extremes(np.concatenate([values.ravel() for values in data]), part)
        was.append(_fill_lost(data[0], lost[0], good))
        now.append(_fill_lost(data[1], lost[1], bad))
    return PairedValues(baseline=_join_parts(was), current=_join_parts(now))


def _keep_best(
    lost: npt.NDArray[np.bool_], share: float, values: Array, current: Table, spec: MetricSpec
) -> npt.NDArray[np.bool_]:
    """So many of the lost calls, `share` of all that were made, of the cases with the best mean."""
    calls = int((~np.isnan(current.column("infra_error")) | lost).sum())
    most = round(share * calls)
    if most >= lost.sum():
        return lost
    rows, columns = np.nonzero(lost)
    means = np.nan_to_num(np.real(case_means(values) if not spec.per else values.mean(axis=1)))
    order = np.argsort(means[rows] * (-1.0 if spec.direction == "higher" else 1.0), kind="stable")
    kept = np.zeros_like(lost)
    kept[rows[order[:most]], columns[order[:most]]] = True
    return kept


def pessimistic_values(table: Table, spec: MetricSpec, lacking: Missing) -> Array:
    """The values as if every call without an answer, or without a score, had failed; where the
    baseline misses alike, as many as this run misses beyond it.
    """
    lost, parts = _find_lost(table, spec), []
    if lacking.beyond is not None:
        lost = _keep_best(lost, lacking.beyond, table.values(spec), table, spec)
    for part in _parts(spec):
        values = table.column(part.column)
        bad, _ = _extremes(values.ravel(), part)
        parts.append(_fill_lost(values, lost, bad))
    return _join_parts(parts)


def _parts(spec: MetricSpec) -> tuple[MetricSpec, ...]:
    """The metric itself, or both sums of a ratio: the lower sum grows where the ratio falls."""
    if not spec.per:
        return (spec,)
    below: Direction = "higher" if spec.direction == "lower" else "lower"
    return (
        replace(spec, per=""),
        replace(spec, per="", column=spec.per, direction=below, low=0.0, high=1.0),
    )


def _join_parts(parts: Sequence[Array]) -> Array:
    return parts[0] if len(parts) == 1 else ratio_of(*parts)


def find_errored_cases(table: Table) -> frozenset[str]:
    """Cases all of whose trials ended in infrastructure errors."""
    errors = table.column("infra_error")
    rows = np.nanmin(np.where(np.isnan(errors), np.inf, errors), axis=1, initial=np.inf) == 1.0
    return frozenset(table.cases[int(row)] for row in np.flatnonzero(rows))


def find_cases_without_opinion(table: Table) -> frozenset[str]:
    """Cases whose trials were all answered, and neither passed nor failed: no grader judges them,
    and none failed to.
    """
    silent = np.isnan(table.column("success")) & ~(table.column(LEFT_UNSCORED) == 1.0)
    answered = table.column("infra_error") == 0.0
    made = ~np.isnan(table.column("infra_error"))
    rows = made.any(axis=1) & np.where(made, silent & answered, True).all(axis=1)
    return frozenset(table.cases[int(row)] for row in np.flatnonzero(rows))


def _extremes(values: Array, spec: MetricSpec) -> tuple[float, float]:
    """Worst and best value: the scale's ends, or the ends of the data where it has none."""
    there = values[~np.isnan(values)]
    low = spec.low if spec.low is not None and spec.high is not None else there.min(initial=np.inf)
    high = spec.high if spec.high is not None else there.max(initial=-np.inf)
    low, high = (float(low), float(high)) if low <= high else (np.nan, np.nan)
    return (low, high) if spec.direction == "higher" else (high, low)


def _find_lost(table: Table, spec: MetricSpec) -> npt.NDArray[np.bool_]:
    return np.asarray((table.column("infra_error") == 1.0) | _find_unscored(table, spec))


def _fill_lost(values: Array, lost: npt.NDArray[np.bool_], value: float) -> Array:
    return np.where(lost & np.isnan(values), value, values)
