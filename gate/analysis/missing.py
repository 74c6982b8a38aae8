"""Calls that nobody answered, and answers that a grader gave no score: how many, and what they
could hide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.analysis.pairing import Pairing
from gate.plugins import Array
from gate.records import MetricSpec
from gate.stats.pairs import pair
from gate.stats.shuffle import shuffle_test
from gate.table import UNSCORED, Table

FEW = 0.02  # share of missing values that are simply left out
LEVEL = 0.05  # at which the shares of two runs differ


@dataclass(frozen=True, slots=True, kw_only=True)
class Arms:
    """One column of two runs; rows are the same cases."""

    baseline: Array
    current: Array


def infra_share(table: Table) -> float:
    """Share of the trials that ended in an infrastructure error; 0 when none was made."""
    errors = table.column("infra_error")
    made = ~np.isnan(errors)
    return float(errors[made].mean()) if made.any() else 0.0


def too_much_missing(current: Table, pairing: Pairing | None) -> str:
    """Why the missing calls of `current` cannot simply be left out, or nothing."""
    share = infra_share(current)
    if share > FEW:
        return f"{100 * share:.1f} % of the calls ended in infrastructure errors"
    if pairing is None:
        return ""
    was, now = (t.column("infra_error") for t in (pairing.baseline, pairing.current))
    p = _p_unlike(was, now)
    return f"infrastructure errors differ from the baseline's (p = {p:.2g})" if p < LEVEL else ""


def too_much_unscored(current: Table, pairing: Pairing | None, spec: MetricSpec) -> str:
    """Why the answers of `current` that lack the metric because a grader gave them no score cannot
    simply be left out, or nothing.
    """
    share = left_unscored(current, spec)
    if share > FEW:
        return f"graders gave {100 * share:.1f} % of the answers no score"
    if pairing is None:
        return ""
    arms = (pairing.baseline, pairing.current)
    if not any(UNSCORED + spec.column in arm.columns for arm in arms):
        return ""
    p = _p_unlike(*(_lacking(arm, spec) for arm in arms))
    told = "the share of answers that graders gave no score differs from the baseline's"
    return f"{told} (p = {p:.2g})" if p < LEVEL else ""


def left_unscored(table: Table, spec: MetricSpec) -> float:
    """Share of the answers without a score, of those to which the metric applies."""
    if UNSCORED + spec.column not in table.columns:
        return 0.0
    lacking = _lacking(table, spec)
    applies = ~np.isnan(lacking)
    return float(lacking[applies].mean()) if applies.any() else 0.0


def _unscored(table: Table, spec: MetricSpec) -> npt.NDArray[np.bool_]:
    marked = table.column(UNSCORED + spec.column) == 1.0
    return np.asarray(marked & np.isnan(table.column(spec.column)))


def _lacking(table: Table, spec: MetricSpec) -> Array:
    """1 where a grader gave no score, 0 where the metric has a value, else NaN."""
    valued = ~np.isnan(table.column(spec.column))
    return np.where(_unscored(table, spec), 1.0, np.where(valued, 0.0, np.nan))


def _p_unlike(was: Array, now: Array) -> float:
    """Two-sided p of the hypothesis that both are alike."""
    pairs = pair(was, now)
    if not pairs.cases:
        return 1.0
    test = shuffle_test(pairs)
    return min(1.0, 2.0 * min(test.p_down, test.p_up))


def pessimistic(baseline: Table, current: Table, spec: MetricSpec) -> Arms:
    """The column as if every call without an answer, and every answer without a score, had failed
    now and passed in the baseline.
    """
    was, now = baseline.column(spec.column), current.column(spec.column)
    applies = np.asarray(~np.isnan(np.hstack([was, now])).all(axis=1))
    bad, good = _extremes(np.concatenate([was.ravel(), now.ravel()]), spec)
    return Arms(
        baseline=_filled(was, baseline, spec, applies, good),
        current=_filled(now, current, spec, applies, bad),
    )


def pessimistic_column(table: Table, values: Array, spec: MetricSpec) -> Array:
    """A column as if every call without an answer, or without a score, had failed."""
    bad, _ = _extremes(values.ravel(), spec)
    return _filled(values, table, spec, np.ones(len(values), dtype=np.bool_), bad)


def errored_cases(table: Table) -> frozenset[str]:
    """Cases all of whose trials ended in infrastructure errors."""
    errors = table.column("infra_error")
    rows = np.nanmin(np.where(np.isnan(errors), np.inf, errors), axis=1, initial=np.inf) == 1.0
    return frozenset(table.cases[int(row)] for row in np.flatnonzero(rows))


def _extremes(values: Array, spec: MetricSpec) -> tuple[float, float]:
    """Worst and best value: the scale's ends, or the ends of the data where it has none."""
    there = values[~np.isnan(values)]
    low = spec.low if spec.low is not None and spec.high is not None else there.min(initial=np.inf)
    high = spec.high if spec.high is not None else there.max(initial=-np.inf)
    low, high = (float(low), float(high)) if low <= high else (np.nan, np.nan)
    return (low, high) if spec.direction == "higher" else (high, low)


def _filled(
    values: Array, table: Table, spec: MetricSpec, applies: npt.NDArray[np.bool_], value: float
) -> Array:
    lost = (table.column("infra_error") == 1.0) | _unscored(table, spec)
    return np.where(lost & np.isnan(values) & applies[:, None], value, values)
