"""What a run, merge or comparison hands to its conclusion: suites measured, their setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gate.analysis.outages import Outage
from gate.analysis.table import Table
from gate.analysis.tally import Tally
from gate.graders.trajectories.path import PathsOf, no_paths
from gate.records import AcceptedChange, GateRule, Label, Mode, Provenance, Ratings
from gate.store.baseline.find import Compared
from gate.store.session import SuiteMeta


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One suite with the trials that it has so far."""

    name: str
    meta: SuiteMeta
    table: Table
    tally: Tally
    baseline: Compared
    control: Tally | None = None  # of the agent that was asked beside, whose answers `baseline` has
    gates: tuple[GateRule, ...] = ()
    floor: bool = False  # fails where nothing at all passes; what was imported does not
    new_cases: frozenset[str] = frozenset()
    edited: Mapping[str, str] = field(default_factory=dict)  # column -> why nothing compares it
    unreachable: str = ""
    control_unreachable: str = ""
    not_run: int = 0  # trials that a budget or an interruption left unmade
    not_asked: frozenset[str] = frozenset()  # cases that were not to run, or had not to any more
    ended: str = ""  # why a suite with looks made no more trials
    labels: Mapping[str, Sequence[Label]] = field(default_factory=dict)  # metric -> people's
    people: tuple[Ratings, ...] = ()  # what all labels say, whoever judged
    advisory: Mapping[str, str] = field(default_factory=dict)  # metric -> why it does not gate
    references_of: PathsOf = field(default=no_paths, repr=False)  # `reference_trajectory`, by case

    @property
    def planned(self) -> int:
        return self.meta.cases * self.meta.rounds

    @property
    def outage(self) -> Outage | None:
        """The outage of the agent, else that of the control agent."""
        found = self.tally.transports.outage()
        if found is None and self.control is not None:
            found = self.control.transports.outage("control agent's calls")
        return found

    @property
    def cap(self) -> int:
        """The most trials that the suite may come to."""
        return self.meta.looks.cap if self.meta.looks else self.planned

    @property
    def partners(self) -> float:
        """Trials of the control for each one of the suite's own."""
        if self.control is None or not self.meta.cases:
            return 0.0
        return 1.0 - len(self.new_cases) / self.meta.cases

    @property
    def unasked(self) -> int:
        """Cases that were to run and never got a round."""
        return max(0, self.meta.cases - len(self.table.cases)) if self.not_run else 0

    @property
    def made(self) -> int:
        """Trials of the plan."""
        return min(self.tally.trials, self.cap)

    @property
    def look(self) -> int:
        """Looks that were reached, from 1."""
        return sum(calls <= self.made for calls in self.meta.looks.calls) if self.meta.looks else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a report says about the run as a whole."""

    session_id: str
    created_at: str
    duration_s: float
    mode: Mode
    provenance: Provenance
    loosened: tuple[str, ...] = ()
    answered: bool = False  # the health check, by something that is no agent that is well
    unprotected: bool = False  # what is loosened is in force
    notes: tuple[str, ...] = ()
    comment_id: str = "gate"
    accepted: tuple[AcceptedChange, ...] = ()
    elsewhere: frozenset[str] = field(default_factory=frozenset)  # metrics of suites left out
    measures_main: bool = False  # a run of the branch that is deployed, no change to it
    # Options that say who was asked; None: nobody was, so nothing can be asked again.
    asked_with: Mapping[str, str] | None = field(default_factory=dict)
