"""Which rounds of a stored baseline count: the newest runs that agree with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gate.analysis.estimates import default_tolerance, family_of
from gate.analysis.session_effect import drifts, is_mean, session_effects
from gate.analysis.table import Table, last_rounds, mark_asked
from gate.records import Evidence, MetricSpec
from gate.records.baseline import BaselineRun
from gate.stats.change import NO_TOLERANCE
from gate.stats.session_effect import SessionEffect
from gate.text import figures

DIFFERS = 0.01  # two-sided p-value below which a run is no longer the same agent
MATTERS = 0.1  # of the tolerance: a session effect of this size is mentioned
SUCCESS = "success"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The rounds to compare with, and which runs they come from (newest last)."""

    table: Table
    runs: tuple[str, ...]
    headers: tuple[BaselineRun, ...] = ()  # of these runs
    left_out: tuple[str, ...] = ()  # which run ended the pool, and why
    remarks: tuple[str, ...] = ()
    effects: Mapping[str, SessionEffect] = field(default_factory=dict)  # metric -> what is known
    drift: Mapping[str, float] = field(default_factory=dict)  # metric -> plugins.Family.compare

    @property
    def notes(self) -> tuple[str, ...]:
        """What a report says about the pool."""
        return (*self.left_out, *self.remarks)

    @property
    def rounds(self) -> int:
        """The number of rounds of the case that has most: samples leave some without."""
        return int(mark_asked(self.table).sum(axis=1).max(initial=0))


def pool(table: Table, runs: Sequence[BaselineRun], changes: Sequence[str] = ()) -> Pool:
    """`table`: all stored rounds, oldest first; `runs`: in the same order, `kept` rounds of each.
    `changes`: the moments at which somebody accepted a change of the agent.

    Goes from the newest run backwards until one differs from the newer ones by more than chance
    and the session effect explain, or has none of their cases and graders any more.
    """
    effects = session_effects(table, runs, changes)
    kept = [run for run in runs if run.kept]
    used: list[BaselineRun] = []
    pooled, left_out = last_rounds(table, 0), ""
    for number, run in reversed(list(enumerate(kept))):
        newest = last_rounds(table, pooled.rounds + run.kept)
        if why := _why_not(pooled, newest, drifts(effects, pooled, used)):
            older = f" and {figures.count(number, 'older run')}" if number else ""
            left_out = f"{_format_run(run)}{older} left out: {why}"
            break
        used.insert(0, run)
        pooled = newest
    return Pool(
        table=pooled,
        runs=tuple(run.session_id for run in used),
        headers=tuple(used),
        left_out=(left_out,) if left_out else (),
        remarks=_remarks(pooled, effects),
        effects=effects,
        drift=drifts(effects, pooled, used),
    )


def _format_run(run: BaselineRun) -> str:
    commit = f"commit {run.commit[:7]}, " if run.commit else ""
    return f"run {run.session_id} ({commit}{run.created_at[:10]})"


# ------------------------------------------------------------------------------- which runs agree


@dataclass(frozen=True, slots=True, kw_only=True)
class _Difference:
    spec: MetricSpec
    evidence: Evidence  # the older run against the newer ones

    @property
    def p(self) -> float:
        """Two-sided."""
        return min(1.0, 2.0 * min(self.evidence.p_worse, self.evidence.p_better))


def _why_not(pooled: Table, table: Table, drift: Mapping[str, float]) -> str:
    """Why a run does not belong to the newer ones; empty when it does. `table`: its rounds, then
    those of the `pooled` newer ones.

    Success has the whole level to itself, the graders' other numbers share as much again
    (Bonferroni): a change that moves a score alone is a change, too, but twenty scores must not
    end a pool twenty times as often. Time, tokens and cost do not count: load and prices move them.
    """
    specs = _graded_metrics(table)
    if not specs or not pooled.rounds:
        return ""
    rounds = table.rounds - pooled.rounds
    if all(np.isnan(table.column(spec.column)[:, :rounds]).all() for spec in specs):
        return "other cases or graders"
    tested = [_difference(pooled, table, spec, drift.get(spec.name, 0.0)) for spec in specs]
    compared = [
        effect for effect in tested if effect.evidence.n_paired
    ]  # none: samples without a common case
    others = max(1, sum(effect.spec.column != SUCCESS for effect in compared))
    level = {True: DIFFERS, False: DIFFERS / others}
    differing = [effect for effect in compared if effect.p < level[effect.spec.column == SUCCESS]]
    if not differing:
        return ""
    worst = min(differing, key=lambda effect: (effect.spec.column != SUCCESS, effect.p))
    delta = figures.change(worst.evidence.delta, worst.spec.unit, relative=worst.evidence.relative)
    chance = figures.p_value(worst.p, level=DIFFERS)
    return f"{worst.spec.name} differs by {delta} from the newer runs ({chance})"


def _graded_metrics(table: Table) -> list[MetricSpec]:
    """What graders say, one metric a column that has values."""
    by_column = {
        spec.column: spec
        for spec in table.specs.values()
        if is_mean(spec) and (spec.column == SUCCESS or spec.column in table.graders)
    }
    return [spec for column, spec in by_column.items() if not np.isnan(table.column(column)).all()]


def _difference(pooled: Table, table: Table, spec: MetricSpec, drift: float) -> _Difference:
    older = table.column(spec.column)[:, : table.rounds - pooled.rounds]
    evidence = family_of(spec).compare(
        pooled.column(spec.column), older, spec, tolerance=NO_TOLERANCE, drift=drift
    )
    return _Difference(spec=spec, evidence=evidence)


# ----------------------------------------------------------------------------- the session effect


def _remarks(pooled: Table, effects: Mapping[str, SessionEffect]) -> tuple[str, ...]:
    """One sentence when runs differ beyond chance by a size that a reader would care about."""
    seen = [pooled.specs[name] for name in effects if _matters(pooled, pooled.specs[name], effects)]
    if not seen:
        return ()
    seen.sort(key=lambda spec: (spec.column != SUCCESS, spec.column not in pooled.graders))
    sizes = [f"{spec.name} by ±{format_spread(spec, effects[spec.name])}" for spec in seen]
    runs = max(effects[spec.name].runs for spec in seen)
    return (
        "the baseline's runs differ by more than chance, and the comparison allows for it: "
        f"{figures.join_words(sizes)} ({figures.count(runs, 'run')})",
    )


def format_spread(spec: MetricSpec, effect: SessionEffect) -> str:
    """One standard deviation of the session effect in the metric's unit."""
    return figures.size(effect.sd, spec.unit, relative=False)


def _matters(pooled: Table, spec: MetricSpec, effects: Mapping[str, SessionEffect]) -> bool:
    allowed = default_tolerance(spec)
    mean = abs(family_of(spec).reduce(pooled.column(spec.column))) if allowed.relative else 1.0
    effect = effects[spec.name]
    return effect.seen and effect.sd >= MATTERS * allowed.value * mean
