"""A/A from recorded rounds of an unchanged agent: how often would the gate block it?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from gate.analysis.resample_arms import Shuffler, shuffler
from gate.records import Config
from gate.records.calibration import (
    AlarmRate,
    ByRun,
    Calibration,
    Flag,
    LeftOut,
    MetricRates,
    Splits,
)
from gate.stats.intervals import clopper_pearson
from gate.suites.config.levels import tolerance_of
from gate.verdict.calibration.recorded_rounds import CalibrationSuite, RecordedSuite, find_subjects
from gate.verdict.calibration.rehearse import Key, Rehearsal, RehearsalResult

CONFIDENCE = 0.95
FEWEST_RUNS = 3
DIFFERS = 0.01  # chance below which runs are not alike
WORSE, BETTER = "regression", "improvement"


def calibrate(
    suites: Sequence[RecordedSuite],
    config: Config,
    *,
    reps: int,
    seed: int,
    report_progress: Callable[[int], None] = lambda done: None,
) -> Calibration:
    """How often the gate blocks an agent that did not change, all suites judged as one run.

    Equal arguments give equal figures. `report_progress` gets the number of `reps` done so far.
    Raises UsageError where too little was recorded.
    """
    rng, gate = shuffler(seed), Rehearsal(config=config)
    chosen, left_out = find_subjects(suites, gate, rng)
    seen = []
    for done in range(reps):
        report_progress(done)
        arms = [one.deal_arms(gate, rng) for one in chosen]
        seen.append(_Seen(gate.run(arms), {key for arm in arms for key in gate.list_untested(arm)}))
    splits = _splits(seen, chosen, gate)
    days = {run.created_at[:10] for one in chosen for run in one.recorded.runs}
    return Calibration(
        alpha=config.regression.alpha,
        confidence=CONFIDENCE,
        seed=seed,
        fresh=gate.fresh,
        shapes=tuple(one.shape(gate) for one in chosen),
        splits=splits,
        by_run=None if gate.fresh else _by_run(chosen, gate, rng),
        one_day=len(days) == 1,
        notes=(*_notes(suites), *left_out),
    )


def _notes(suites: Sequence[RecordedSuite]) -> Iterator[str]:
    for suite in suites:
        yield from (f"{suite.name}: {note}" if len(suites) > 1 else note for note in suite.notes)


# --------------------------------------------------------------------------------- dealt at random


class _Seen(NamedTuple):
    """One rehearsal, and what would have been blocked without a test."""

    ended: RehearsalResult
    untested: set[Key]

    @property
    def is_undecided(self) -> bool:
        return not self.ended.keys(WORSE) and bool(self.ended.keys("suspected", "inconclusive"))


def _splits(seen: Sequence[_Seen], chosen: Sequence[CalibrationSuite], gate: Rehearsal) -> Splits:
    arms_asked = 2 if gate.fresh else 1
    return Splits(
        blocked=_rate(bool(one.ended.keys(WORSE)) for one in seen),
        untested=_rate(bool(one.untested) for one in seen),
        undecided=_rate(one.is_undecided for one in seen),
        calls=sum(one.ended.calls for one in seen) / len(seen),
        planned=arms_asked * sum(one.cases * one.rounds for one in chosen),
        at_most=arms_asked * sum(one.cases * one.deck.current for one in chosen),
        metrics=tuple(rates for one in chosen for rates in _by_metric(seen, one, gate)),
    )


def _by_metric(
    seen: Sequence[_Seen], subject: CalibrationSuite, gate: Rehearsal
) -> Iterator[MetricRates]:
    for name, spec in subject.deck.table.specs.items():
        key, allowed = (subject.recorded.name, name), tolerance_of(spec, gate.regression)
        yield MetricRates(
            suite=subject.recorded.name,
            metric=name,
            unit=spec.unit,
            tolerance=allowed.value,
            relative=allowed.relative,
            blocked=_rate(key in one.ended.keys(WORSE) for one in seen),
            untested=_rate(key in one.untested for one in seen),
        )


def _rate(outcomes: Iterable[bool]) -> AlarmRate:
    each = list(outcomes)
    bounds = clopper_pearson(sum(each), len(each), CONFIDENCE)
    return AlarmRate(
        times=sum(each),
        of=len(each),
        share=sum(each) / len(each),
        low=bounds.low,
        high=bounds.high,
    )


# ------------------------------------------------------------------------------------------ by run


def _by_run(chosen: Sequence[CalibrationSuite], gate: Rehearsal, rng: Shuffler) -> ByRun | None:
    """Each run as a pull request against the others; None for fewer than three.

    The smallest chance of all runs counts as often as there are runs (Bonferroni): they share
    their rounds.
    """
    every = {run.session_id: run for one in chosen for run in one.recorded.runs}
    runs = sorted(every.values(), key=lambda run: (run.created_at, run.session_id))
    judged = []
    for run in runs:
        arms_of_runs = [one.leave_out(run.session_id, gate, rng) for one in chosen]
        arms = [one for one in arms_of_runs if one is not None]
        if arms:
            result = gate.run([arm.at_once() for arm in arms])
            judged.append(
                LeftOut(
                    run=run.session_id,
                    created_at=run.created_at,
                    blocked=bool(gate.run(arms).keys(WORSE)),
                    p_value=_chance(result),
                    flags=tuple(_flags(result)),
                )
            )
    if len(judged) < FEWEST_RUNS:
        return None
    p_value = min(1.0, len(judged) * min(one.p_value for one in judged))
    return ByRun(
        runs=tuple(judged),
        blocked=_rate(one.blocked for one in judged),
        p_value=p_value,
        drifts=p_value < DIFFERS,
    )


def _chance(ended: RehearsalResult) -> float:
    """The chance of the largest of these differences, to either side, if nothing changed
    (Bonferroni).
    """
    p_values = [p for row in ended.rows for p in (row.p_value, row.p_better) if p is not None]
    return min(1.0, len(p_values) * min(p_values, default=1.0))


def _flags(ended: RehearsalResult) -> Iterator[Flag]:
    for row in ended.rows:
        if row.status in (WORSE, BETTER):
            yield Flag(
                suite=row.suite,
                metric=row.metric,
                delta=row.delta,
                unit=row.unit,
                relative=row.relative,
                worse=row.status == WORSE,
            )
