"""A run of the gate rehearsed on recorded rounds: looks, early end and verdict as `gate run` has
them, and no agent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gate.analysis.estimates import family_of
from gate.analysis.resample_arms import Places, Sides, take_trials
from gate.analysis.tally import Tally
from gate.records import Comparison, Config, GateRule, Looks, RegressionRules, equal_looks
from gate.store.baseline.find import Compared
from gate.suites.config.levels import tolerance_of
from gate.verdict.course import course
from gate.verdict.stop_rule import look_at_suites
from gate.verdict.suite_data import UNPLANNED, SuiteData

EPSILON = 1e-9  # 0.82 - 0.80 is no more than 0.02

Key = tuple[str, str]  # suite, metric


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalArms:
    """Both arms of a suite. `place`: of each case in the order of asking."""

    name: str
    sides: Sides
    place: Places
    rounds: int  # planned
    looks: Looks | None
    gates: tuple[GateRule, ...] = ()
    drift: Mapping[str, float] = field(default_factory=dict)

    @property
    def planned(self) -> int:
        return len(self.place) * self.rounds

    @property
    def most(self) -> int:
        """Trials that it may come to."""
        return self.looks.cap if self.looks else self.planned

    def at_once(self) -> RehearsalArms:
        """All that there is, judged a single time."""
        return replace(self, rounds=self.sides.current.rounds, looks=None)

    def at(self, trials: int, *, fresh: bool) -> SuiteData:
        """What is known after this many trials."""
        now = take_trials(self.sides, self.place, trials, both=fresh)
        return SuiteData(
            name=self.name,
            current=now.current,
            compared=Compared(table=now.baseline, drift=self.drift),
            control=Tally() if fresh else None,
            meta=replace(UNPLANNED, cases=len(self.place), rounds=self.rounds, looks=self.looks),
            tally=Tally(trials=trials),
            gates=tuple(map(without_limit, self.gates)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalResult:
    """What a rehearsal came to: its blocking comparisons, and the trials of all who were asked."""

    rows: tuple[Comparison, ...]
    calls: int

    def keys(self, *status: str) -> set[Key]:
        """The metrics that are said to stand so."""
        return {(row.suite, row.metric) for row in self.rows if row.status in status}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What `gate run` does on a pull request by the rules of `config`, limits left out."""

    config: Config

    @property
    def regression(self) -> RegressionRules:
        return self.config.regression

    @property
    def fresh(self) -> bool:
        return self.regression.control == "fresh"

    def cap(self, rounds: int) -> int:
        """The most rounds that a suite with so many planned may come to."""
        if self.regression.stop == "off" and not self._extends:
            return rounds
        return max(rounds, self.regression.max_rounds or 2 * rounds)

    def looks(self, cases: int, rounds: int, most: int, batch: int) -> Looks | None:
        """None, too, where there would be a single one: then a run makes what it planned."""
        if self.regression.stop == "off":
            second = self._extends and most > rounds
            return Looks(calls=(cases * rounds, cases * most)) if second else None
        looks = equal_looks(cases * most, batch=batch)
        return looks if len(looks.calls) > 1 else None

    @property
    def _extends(self) -> bool:
        return self.config.policy.inconclusive == "extend"

    @property
    def gates(self) -> tuple[GateRule, ...]:
        return tuple(map(without_limit, self.config.gates))

    def run(self, arms: Sequence[RehearsalArms]) -> RehearsalResult:
        """Look by look, until the verdict stands."""
        steps = course({arm.name: arm.looks for arm in arms if arm.looks is not None}, "", None)
        while True:
            trials = {arm.name: arm.planned for arm in arms}
            trials |= {name: steps.trials(name).stop for name in steps.plans}
            suites = [arm.at(trials[arm.name], fresh=self.fresh) for arm in arms]
            look = look_at_suites(suites, gates=self.gates, regression=self.regression)
            steps = steps.after(look.suites, look.why)
            if not steps.going:
                break
        return RehearsalResult(
            rows=tuple(row for row in look.rows if row.level == "block"),
            calls=sum(trials.values()) * (2 if self.fresh else 1),
        )

    def list_untested(self, arms: RehearsalArms) -> Iterator[Key]:
        """Metrics that got worse by more than their tolerance in the planned rounds, whatever a
        test says.
        """
        before, now = arms.sides.baseline, arms.sides.current
        for spec in now.specs.values():
            family = family_of(spec)
            was = family.reduce(before.values(spec))
            change = family.reduce(now.values(spec)[:, : arms.rounds]) - was
            allowed = tolerance_of(spec, self.regression)
            limit = allowed.value * (abs(was) if allowed.relative else 1.0)
            if (change if spec.direction == "lower" else -change) > limit + EPSILON:
                yield (arms.name, spec.name)


def without_limit(gate: GateRule) -> GateRule:
    """It still says which metric blocks; missing a number is no false alarm."""
    return replace(gate, min=None, max=None, target=None)
