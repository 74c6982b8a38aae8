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
from gate.verdict.calibration.rehearse import Arms, Rehearsal
from gate.verdict.decide import decide

UNTESTED = ("missing", "new", "accepted", "not_comparable")
KEPT = (
    "success",
    "infra_error",
    "steps",
    "unsafe",
)  # columns that a verdict reads besides its metrics'


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """`kept` of each of the `runs`, oldest first, stand in `table`."""

    table: Table
    runs: tuple[BaselineRun, ...]

    @property
    def newest(self) -> str:
        return max((run.created_at for run in self.runs), default="")

    def without(self, known: frozenset[str]) -> Rounds:
        """Without the runs of these session ids."""
        wanted = [run.session_id not in known for run in self.runs for _ in range(run.kept)]
        runs = tuple(run for run in self.runs if run.session_id not in known)
        return Rounds(table=with_rounds(self.table, wanted), runs=runs)


def joined(parts: Sequence[Rounds]) -> Rounds:
    """All rounds of at least one part, in order of time; a run that several parts have counts
    once.
    """
    first, *others = sorted(parts, key=lambda part: part.newest)
    whole = first
    for part in others:
        more = part.without(frozenset(run.session_id for run in whole.runs))
        if more.runs:
            table = append_rounds(whole.table, more.table, keep_absent=True)
            whole = Rounds(table=table, runs=(*whole.runs, *more.runs))
    return whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The rounds of one suite, and how a run asks it."""

    name: str
    table: Table
    runs: tuple[BaselineRun, ...]  # as in Rounds
    rounds: int  # that a run plans
    batch: int = 1  # trials between two looks, at least
    gates: tuple[GateRule, ...] = ()
    drift: Mapping[str, float] = field(default_factory=dict)  # as in verdict.SuiteData
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A suite whose rounds can be dealt out. `blocking`: names of its blocking metrics."""

    recorded: Recorded
    deck: Deck
    blocking: frozenset[str] = frozenset()

    @property
    def cases(self) -> int:
        return len(self.deck.table.cases)

    @property
    def rounds(self) -> int:
        """Planned of those that the current arm gets."""
        return min(self.recorded.rounds, self.deck.current)

    def dealt(self, gate: Rehearsal, rng: Shuffler) -> Arms:
        return self._arms(self.deck.deal(rng), self.deck.current, self.recorded.drift, gate, rng)

    def left_out(self, session_id: str, gate: Rehearsal, rng: Shuffler) -> Arms | None:
        """One run against the pool that the others make; None where they share too few cases."""
        runs = self.recorded.runs
        number = next((n for n, run in enumerate(runs) if run.session_id == session_id), None)
        if number is None or len(runs) < 2:
            return None
        sides = one_against_others(self.recorded.table, runs, number)
        if too_few_left(len(sides.current.cases), len(self.recorded.table.cases)):
            return None
        others = BaselineFile(table=sides.baseline, runs=(*runs[:number], *runs[number + 1 :]))
        stored = newest(others, gate.config.baseline.keep_rounds)
        pooled = pool(stored.table, stored.runs)
        most = min(gate.cap(self.recorded.rounds), sides.current.rounds)
        narrowed = Sides(
            baseline=_narrowed(pooled.table, self.blocking),
            current=_narrowed(sides.current, self.blocking),
        )
        return self._arms(narrowed, most, pooled.drift, gate, rng)

    def _arms(
        self, sides: Sides, most: int, drift: Mapping[str, float], gate: Rehearsal, rng: Shuffler
    ) -> Arms:
        cases, rounds = len(sides.current.cases), min(self.recorded.rounds, most)
        return Arms(
            name=self.recorded.name,
            sides=sides,
            place=any_order(cases, rng),
            rounds=rounds,
            looks=gate.looks(cases, rounds, most, self.recorded.batch),
            gates=self.recorded.gates,
            drift=drift,
        )

    def shape(self, gate: Rehearsal) -> CalibrationShape:
        cap = gate.cap(self.recorded.rounds)
        return CalibrationShape(
            suite=self.recorded.name,
            cases=self.cases,
            recorded=rounds_recorded(self.recorded.table),
            runs=len(self.recorded.runs),
            baseline=self.deck.baseline,
            planned=self.rounds,
            at_most=self.deck.current,
            wanted_baseline=cap if gate.fresh else gate.config.baseline.keep_rounds,
            wanted_at_most=cap,
        )


def subjects(
    suites: Sequence[Recorded], gate: Rehearsal, rng: Shuffler
) -> tuple[list[Subject], list[str]]:
    """Those that can be judged, and why the others cannot. Raises UsageError when none can."""
    found, why = [], []
    for one in suites:
        cap, keep = gate.cap(one.rounds), gate.config.baseline.keep_rounds
        whole = Subject(
            recorded=one, deck=make_deck(one.table, baseline=keep, current=cap, alike=gate.fresh)
        )
        problem = _too_few(whole)
        blocking: frozenset[str] = frozenset()
        if not problem:
            blocking, problem = _blocking(whole, gate, rng)
        if problem:
            why.append(f"suite '{one.name}' is left out: {problem}")
            continue
        cards = replace(whole.deck, table=_narrowed(whole.deck.table, blocking))
        found.append(replace(whole, deck=cards, blocking=blocking))
    if not found:
        raise UsageError("gate calibrate: " + "; ".join(why or ["no suite was recorded"]))
    return found, why


def _too_few(subject: Subject) -> str:
    recorded = len(subject.recorded.table.cases)
    if not too_few_left(subject.cases, recorded):
        return ""
    have = f"{subject.cases} of its cases have two recorded rounds"
    wanted = MIN_PAIRED if recorded >= MIN_PAIRED else 1
    return f"{have} and {wanted} {'are' if wanted > 1 else 'is'} needed; give more sessions of it"


def _blocking(subject: Subject, gate: Rehearsal, rng: Shuffler) -> tuple[frozenset[str], str]:
    """Names of the metrics that can block, or why there is none."""
    arms = subject.dealt(gate, rng)
    verdict = decide([arms.at(arms.most, fresh=gate.fresh)], **gate.rules())
    rows = [r for r in verdict.comparisons if r.level == "block" and r.status not in UNTESTED]
    if rows and all(row.status == "inconclusive" and row.reason for row in rows):
        return frozenset(), rows[0].reason  # nothing could ever be blocked
    if rows:
        return frozenset(row.metric for row in rows), ""
    if verdict.outcome in ("error", "not_comparable"):
        return frozenset(), verdict.reason
    return frozenset(), "none of its metrics blocks"


def _narrowed(table: Table, metrics: frozenset[str]) -> Table:
    """Without the metrics that only warn, and without a column of errors where there is none."""
    specs = {name: spec for name, spec in table.specs.items() if name in metrics}
    own = {name for spec in specs.values() for name in spec.columns}
    wanted = {*own, *(UNSCORED + name for name in own), *KEPT}
    columns = {
        name: values
        for name, values in table.columns.items()
        if name in wanted and not (name == "infra_error" and not (values > 0.0).any())
    }
    return replace(table, specs=specs, columns=columns)
