"""What a run, merge or comparison hands to its conclusion: its suites, and their setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from gate.analysis.outages import Outage
from gate.analysis.table import Table
from gate.analysis.tally import Tally
from gate.graders.trajectories.path import PathsOf, no_paths
from gate.records import (
    AcceptedChange,
    BaselineInfo,
    GateRule,
    Label,
    Looks,
    Mode,
    Provenance,
    Ratings,
)
from gate.store.baseline.find import Compared
from gate.store.session import SuiteMeta

UNPLANNED = SuiteMeta(dataset="", dataset_digest="", rounds=0, cases=0)
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteData:
    """One suite with the trials that it has so far, and what they are compared with."""

    name: str
    meta: SuiteMeta = UNPLANNED
    current: Table
    tally: Tally = field(default_factory=Tally)
    compared: Compared = field(default_factory=Compared)
    control: Tally | None = None  # of the agent that was asked beside; `compared` has its answers
    gates: tuple[GateRule, ...] = ()  # the suite's own; they win over the top-level ones by metric
    floor: bool = False  # fails where nothing at all passes; what was imported does not
    edited: Mapping[str, str] = field(default_factory=dict)  # column -> why nothing compares it
    new_cases: frozenset[str] = _NONE  # run, but do not gate
    quarantined: frozenset[str] = _NONE  # run and listed, but do not gate
    accepted: frozenset[str] = _NONE  # metrics whose change somebody accepted
    accepts_all: bool = False  # somebody accepted whatever got worse, without naming it
    unreachable: str = ""  # what the health check said, as a sentence
    answered: bool = False  # that health check, by something that is no agent that is well
    control_unreachable: str = ""
    # Why -> cases that lack trials, because a part of the run was lost.
    lost: Mapping[str, frozenset[str]] = field(default_factory=dict)
    not_run: int = 0  # trials that a budget or an interruption left unmade
    stopped_by: str = ""  # what left them unmade, as a sentence
    unasked_cases: Set[str] = _NONE  # cases that were to run and never got a round
    not_asked: Set[str] = _NONE  # cases that were not to run, or had not to any more
    ended: str = ""  # why a suite with looks made no more trials
    labels: Mapping[str, Sequence[Label]] = field(default_factory=dict)  # metric -> people's
    people: tuple[Ratings, ...] = ()  # what all labels say, whoever judged
    advisory: Mapping[str, str] = field(default_factory=dict)  # metric -> why it does not gate
    references_of: PathsOf = field(default=no_paths, repr=False)  # `reference_trajectory`, by case

    @property
    def baseline(self) -> Table | None:
        return self.compared.table

    @property
    def fresh(self) -> bool:
        """Whether the baseline was measured in the same run, round by round."""
        return self.control is not None

    @property
    def chosen(self) -> int:
        """Cases that the plan asks."""
        return self.meta.cases

    @property
    def planned(self) -> int:
        """Trials that the gates may ask for."""
        return self.meta.cases * self.meta.rounds

    @property
    def looks(self) -> Looks | None:
        """The plan of a run that may stop early; None: a fixed size."""
        return self.meta.looks

    @property
    def cap(self) -> int:
        """The most trials that the suite may come to."""
        return self.looks.cap if self.looks else self.planned

    @property
    def made(self) -> int:
        """Trials of the plan so far."""
        return min(self.tally.trials, self.cap)

    @property
    def look(self) -> int:
        """Looks that were reached, from 1."""
        return sum(calls <= self.made for calls in self.looks.calls) if self.looks else 0

    @property
    def complete(self) -> bool:
        """Whether the planned trials were made; more of them are for doubts only."""
        return self.looks is None or self.made >= min(self.planned, self.cap)

    @property
    def at_cap(self) -> bool:
        """Whether no trial can be added to those that there are."""
        return self.looks is None or self.made >= self.cap

    @property
    def all_asked(self) -> bool:
        """Whether every case was asked once; a part of them has another mean."""
        return self.looks is None or self.made >= self.chosen

    @property
    def cut_short(self) -> bool:
        """Whether the verdict on something else may have ended the run first."""
        return not (self.complete or self.not_run)

    @property
    def unasked(self) -> int:
        """Cases that were to run and never got a round."""
        return max(0, self.chosen - len(self.current.cases)) if self.not_run else 0

    @property
    def excused_cases(self) -> Set[str]:
        """Cases whose absence says nothing: left out on purpose, or the agent was not there."""
        if self.unreachable and self.baseline is not None:
            return frozenset(self.baseline.cases)
        return self.not_asked | self.lost_cases

    @property
    def lost_cases(self) -> frozenset[str]:
        return frozenset().union(*self.lost.values())

    @property
    def partners(self) -> float:
        """Trials of the control for each one of the suite's own."""
        if self.control is None or not self.chosen:
            return 0.0
        return 1.0 - len(self.new_cases) / self.chosen

    @property
    def outage(self) -> Outage | None:
        """The outage of the agent, else that of the control agent."""
        why = self.tally.transports.outage()
        if why is None and self.control is not None:
            why = self.control.transports.outage("control agent's calls")
        return why

    @property
    def broken(self) -> bool:
        """Whether nothing is judged because of an agent that was there: a change may have broken
        it.
        """
        if self.unreachable or self.lost:
            return self.answered
        out = None if self.control_unreachable else self.outage
        return out is not None and out.answered


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
    shows_answers: bool = True  # what was expected, and what the base branch answered
    page_url: str = ""  # where report.html will be found
    next_commands: Mapping[str, str] = field(default_factory=dict)  # on a laptop, by outcome
    # Options that say who was asked; None: nobody was, so nothing can be asked again.
    asked_with: Mapping[str, str] | None = field(default_factory=dict)

    @property
    def is_deployed(self) -> bool:
        """Whether the run is of what users have, or are about to get."""
        return self.measures_main or self.mode in ("schedule", "release")


def first_baseline(suites: Sequence[SuiteData]) -> BaselineInfo:
    """That of the first suite that is compared with one; else why the first has none."""
    infos = [one.compared.info for one in suites if one.baseline is not None]
    return next(iter(infos or [one.compared.info for one in suites]), BaselineInfo(source="none"))
