"""Recorded rounds of an unchanged agent: what of them can be dealt out as main and pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gate.analysis.pairing import MIN_PAIRED, too_few_left
from gate.analysis.pooling import pool
from gate.analysis.resample_arms import (
    Deck,
    Shuffler,
    Sides,
    any_order,
    make_deck,
    one_against_others,
    rounds_recorded,
    with_rounds,
)
from gate.analysis.table import UNSCORED, Table, append_rounds
from gate.errors import UsageError
from gate.records import GateRule
from gate.records.baseline import BaselineRun
from gate.records.calibration import CalibrationShape
from gate.store.baseline.file import BaselineFile, newest
from gate.verdict.calibration.rehearse import Rehearsal, RehearsalArms
from gate.verdict.decide import decide

UNTESTED = ("missing", "new", "accepted", "not_comparable")
KEPT = (
    "success",
    "infra_error",
    "steps",
    "unsafe",
)  # columns that a verdict reads besides its metrics'


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRounds:
    """`kept` of each of the `runs`, oldest first, stand in `table`."""

    table: Table
    runs: tuple[BaselineRun, ...]

    @property
    def newest(self) -> str:
        return max((run.created_at for run in self.runs), default="")

    def without(self, session_ids: frozenset[str]) -> RecordedRounds:
        """The rounds without the runs of these session ids."""
        wanted = [run.session_id not in session_ids for run in self.runs for _ in range(run.kept)]
        runs = tuple(run for run in self.runs if run.session_id not in session_ids)
        return RecordedRounds(table=with_rounds(self.table, wanted), runs=runs)


def join_rounds(parts: Sequence[RecordedRounds]) -> RecordedRounds:
    """All rounds of at least one part, in order of time; a run that several parts have counts
    once.
    """
    first, *others = sorted(parts, key=lambda part: part.newest)
    rounds = first
    for part in others:
        more = part.without(frozenset(run.session_id for run in rounds.runs))
        if more.runs:
            table = append_rounds(rounds.table, more.table, keep_absent=True)
            rounds = RecordedRounds(table=table, runs=(*rounds.runs, *more.runs))
    return rounds


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSuite:
    """The rounds of one suite, and how a run asks it."""

    name: str
    table: Table
    runs: tuple[BaselineRun, ...]  # as in Rounds
    rounds: int  # that a run plans
    batch: int = 1  # trials between two looks, at least
    gates: tuple[GateRule, ...] = ()
    drift: Mapping[str, float] = field(default_factory=dict)  # metric -> session effect's variance
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationSuite:
    """A suite whose rounds can be dealt out. `blocking`: names of its blocking metrics."""

    recorded: RecordedSuite
    deck: Deck
    blocking: frozenset[str] = frozenset()

    @property
    def cases(self) -> int:
        return len(self.deck.table.cases)

    @property
    def rounds(self) -> int:
        """Planned of those that the current arm gets."""
        return min(self.recorded.rounds, self.deck.current)

    def deal_arms(self, gate: Rehearsal, rng: Shuffler) -> RehearsalArms:
        return self._arms(self.deck.deal(rng), self.deck.current, self.recorded.drift, gate, rng)

    def leave_out(self, session_id: str, gate: Rehearsal, rng: Shuffler) -> RehearsalArms | None:
        """One run against the pool that the others make; None where they share too few cases."""
        runs = self.recorded.runs
        number = next((n for n, run in enumerate(runs) if run.session_id == session_id), None)
        if number is None or len(runs) < 2:
            return None
        sides = one_against_others(self.recorded.table, runs, number)
        if too_few_left(len(sides.current.cases), len(self.recorded.table.cases)):
            return None
        others = BaselineFile(table=sides.baseline, runs=(*runs[:number], *runs[number + 1 :]))
        stored = newest(others, kept_rounds(self.recorded, gate))
        pooled = pool(stored.table, stored.runs)
        most = min(gate.cap(self.recorded.rounds), sides.current.rounds)
        narrowed = Sides(
            baseline=_keep_blocking(pooled.table, self.blocking),
            current=_keep_blocking(sides.current, self.blocking),
        )
        return self._arms(narrowed, most, pooled.drift, gate, rng)

    def _arms(
        self, sides: Sides, most: int, drift: Mapping[str, float], gate: Rehearsal, rng: Shuffler
    ) -> RehearsalArms:
        cases, rounds = len(sides.current.cases), min(self.recorded.rounds, most)
        return RehearsalArms(
            name=self.recorded.name,
            sides=sides,
            place=any_order(cases, rng),
            rounds=rounds,
            looks=gate.looks(cases, rounds, most, self.recorded.batch),
            gates=self.recorded.gates,
            drift=drift,
        )

    def shape(self, gate: Rehearsal) -> CalibrationShape:
        return CalibrationShape(
            suite=self.recorded.name,
            cases=self.cases,
            recorded=rounds_recorded(self.recorded.table),
            runs=len(self.recorded.runs),
            baseline=self.deck.baseline,
            planned=self.rounds,
            at_most=self.deck.current,
            drawn=self.deck.draws,
        )


def kept_rounds(suite: RecordedSuite, gate: Rehearsal) -> int:
    """Of a case in the pool of such a suite."""
    return gate.config.baseline.rounds_to_keep(cases=len(suite.table.cases), rounds=suite.rounds)


def find_subjects(
    suites: Sequence[RecordedSuite], gate: Rehearsal, rng: Shuffler
) -> tuple[list[CalibrationSuite], list[str]]:
    """The suites that can be judged, and why the others cannot. Raises UsageError when none can."""
    usable, why = [], []
    for suite in suites:
        cap, keep = gate.cap(suite.rounds), kept_rounds(suite, gate)
        subject = CalibrationSuite(
            recorded=suite,
            deck=make_deck(suite.table, baseline=keep, current=cap, alike=gate.fresh),
        )
        problem = _too_few(subject)
        blocking: frozenset[str] = frozenset()
        if not problem:
            blocking, problem = _blocking(subject, gate, rng)
        if problem:
            why.append(f"suite '{suite.name}' is left out: {problem}")
            continue
        cards = replace(subject.deck, table=_keep_blocking(subject.deck.table, blocking))
        usable.append(replace(subject, deck=cards, blocking=blocking))
    if not usable:
        raise UsageError("gate calibrate: " + "; ".join(why or ["no suite was recorded"]))
    return usable, why


def _too_few(subject: CalibrationSuite) -> str:
    recorded = len(subject.recorded.table.cases)
    if not too_few_left(subject.cases, recorded):
        return ""
    have = f"{subject.cases} of its cases have two recorded rounds"
    wanted = MIN_PAIRED if recorded >= MIN_PAIRED else 1
    return (
        f"{have} and {wanted} {'are' if wanted > 1 else 'is'} needed; give more sessions of "
        "this suite"
    )


def _blocking(
    subject: CalibrationSuite, gate: Rehearsal, rng: Shuffler
) -> tuple[frozenset[str], str]:
    """Names of the metrics that can block, or why there is none."""
    arms = subject.deal_arms(gate, rng)
    verdict = decide(
        [arms.at(arms.most, fresh=gate.fresh)],
        gates=gate.gates,
        regression=gate.regression,
        policy=gate.config.policy,
    )
    rows = [r for r in verdict.comparisons if r.level == "block" and r.status not in UNTESTED]
    if rows and all(row.status == "inconclusive" and row.reason for row in rows):
        return frozenset(), rows[0].reason  # nothing could ever be blocked
    if rows:
        return frozenset(row.metric for row in rows), ""
    if verdict.outcome in ("error", "not_comparable"):
        return frozenset(), verdict.reason
    return frozenset(), "no metric of it blocks"


def _keep_blocking(table: Table, metrics: frozenset[str]) -> Table:
    """Without the metrics that only warn, and without a column of errors where there is none."""
    specs = {name: spec for name, spec in table.specs.items() if name in metrics}
    names = {name for spec in specs.values() for name in spec.columns}
    wanted = {*names, *(UNSCORED + name for name in names), *KEPT}
    columns = {
        name: values
        for name, values in table.columns.items()
        if name in wanted and not (name == "infra_error" and not (values > 0.0).any())
    }
    return replace(table, specs=specs, columns=columns)
