"""Calls that nobody answered, and answers that a grader gave no score: how many, and what they
could hide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gate.analysis.columns import UNDECIDED, UNJUDGED
from gate.analysis.pairing import Pairing
from gate.analysis.table import UNSCORED, Table, ratio_of
from gate.plugins import Array
from gate.records import Direction, MetricSpec
from gate.stats.pairs import pair
from gate.stats.shuffle import shuffle_test

FEW = 0.02  # share of missing values that are simply left out
LEVEL = 0.05  # at which the shares of two runs differ
_PASSED = frozenset({"success", "first_success"})
_OF_JUDGES = ("score", "judge_coverage")  # not known where a judge was out
# Columns that an agent tells itself: what it does not tell is unscored, too.
_SILENT = {
    "cost_usd": "the cost of {} is not known",
    "steps": "{} do not say what the agent did",
    "violations": "{} could not be looked at in full for violations",
    "unsafe": "{} could not be looked at in full for violations",
    **dict.fromkeys(
        ("total_tokens", "input_tokens", "output_tokens"), "the tokens of {} are not known"
    ),
}


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
    share, told = left_unscored(current, spec), _silence(current, spec)
    if share > FEW:
        answers = f"{100 * share:.1f} % of the answers"
        return told.format(answers) if told else f"graders gave {answers} no score"
    if pairing is None:
        return ""
    arms = (pairing.baseline, pairing.current)
    if not any(_marked(arm, spec) for arm in arms):
        return ""
    p = _p_unlike(*(_lacking(arm, spec) for arm in arms))
    if p >= LEVEL:
        return ""
    if told:
        few = told.format("some answers")
        return f"{few}, and their share differs from the baseline's (p = {p:.2g})"
    lack = "the share of answers that graders gave no score"
    return f"{lack} differs from the baseline's (p = {p:.2g})"


def _silence(table: Table, spec: MetricSpec) -> str:
    """What the agent does not tell, in words; empty where a grader gave no score."""
    own = UNSCORED + spec.column
    return _SILENT.get(spec.column, "") if np.any(table.columns.get(own, 0.0) == 1.0) else ""


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
    for name, one in current.graders.items():
        if one in looking and UNSCORED + name in current.columns:
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


def left_unscored(table: Table, spec: MetricSpec) -> float:
    """Share of the answers without a score, of those to which the metric applies."""
    if not _marked(table, spec):
        return 0.0
    lacking = _lacking(table, spec)
    applies = ~np.isnan(lacking)
    return float(lacking[applies].mean()) if applies.any() else 0.0


def unjudged_share(table: Table, spec: MetricSpec, *, useless: bool = False) -> float:
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
    own = [UNSCORED + name for name in spec.columns if name not in _SILENT]
    marks = [table.columns[name] == 1.0 for name in own if name in table.columns]
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
    return worst is None and left_unscored(table, spec) > FEW


def _marked(table: Table, spec: MetricSpec) -> list[str]:
    return [UNSCORED + name for name in spec.columns if UNSCORED + name in table.columns]


def _unscored(table: Table, spec: MetricSpec) -> npt.NDArray[np.bool_]:
    found = np.isnan(table.values(spec))
    marks = [table.columns[name] == 1.0 for name in _marked(table, spec)]
    return np.asarray(found & np.any(marks, axis=0)) if marks else np.zeros_like(found)


def _lacking(table: Table, spec: MetricSpec) -> Array:
    """1 where a grader gave no score, 0 where the metric has a value, else NaN."""
    valued = ~np.isnan(table.values(spec))
    return np.where(_unscored(table, spec), 1.0, np.where(valued, 0.0, np.nan))


def _p_unlike(was: Array, now: Array) -> float:
    """Two-sided p of the hypothesis that both are alike."""
    pairs = pair(was, now)
    if not pairs.cases:
        return 1.0
    test = shuffle_test(pairs)
    return min(1.0, 2.0 * min(test.p_down, test.p_up))


def pessimistic(baseline: Table, current: Table, spec: MetricSpec) -> Arms:
    """The values as if every call without an answer, and every answer without a score, had failed
    now and passed in the baseline.
    """
    arms = (baseline, current)
    there = ~np.isnan(np.hstack([arm.values(spec) for arm in arms]))
    applies = np.asarray(there.any(axis=1))
    was, now = [], []
    for part in _parts(spec):
        data = [arm.column(part.column) for arm in arms]
        bad, good = _extremes(np.concatenate([values.ravel() for values in data]), part)
        was.append(_filled(data[0], _lost(baseline, spec) & applies[:, None], good))
        now.append(_filled(data[1], _lost(current, spec) & applies[:, None], bad))
    return Arms(baseline=_whole(was), current=_whole(now))


def pessimistic_values(table: Table, spec: MetricSpec) -> Array:
    """The values as if every call without an answer, or without a score, had failed."""
    found = []
    for part in _parts(spec):
        values = table.column(part.column)
        bad, _ = _extremes(values.ravel(), part)
        found.append(_filled(values, _lost(table, spec), bad))
    return _whole(found)


def _parts(spec: MetricSpec) -> tuple[MetricSpec, ...]:
    """Of a ratio both sums: the one below grows where the whole gets less."""
    if not spec.per:
        return (spec,)
    below: Direction = "higher" if spec.direction == "lower" else "lower"
    return (
        replace(spec, per=""),
        replace(spec, per="", column=spec.per, direction=below, low=0.0, high=1.0),
    )


def _whole(parts: Sequence[Array]) -> Array:
    return parts[0] if len(parts) == 1 else ratio_of(*parts)


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


def _lost(table: Table, spec: MetricSpec) -> npt.NDArray[np.bool_]:
    return np.asarray((table.column("infra_error") == 1.0) | _unscored(table, spec))


def _filled(values: Array, lost: npt.NDArray[np.bool_], value: float) -> Array:
    return np.where(lost & np.isnan(values), value, values)
