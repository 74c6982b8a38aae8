"""How a suite stands before any metric is looked at: what gates, and whether it can be judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gate.analysis.missing_answers import (
    Missing,
    could_be_anything,
    infra_share,
    share_unjudged,
    share_unscored,
    too_much_missing,
    too_much_unscored,
    without_silence,
)
from gate.analysis.outages import OUT, Outage
from gate.analysis.pairing import MIN_PAIRED, Pairing, pair_cases, too_few_left
from gate.analysis.table import Table
from gate.records import GateRule, Looks, MetricSpec
from gate.text import figures

ACCEPTED = "this change was accepted"
TOO_MANY_ERRORS = 0.20  # more infrastructure errors: nothing is judged (docs/semantics.md 4)
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteData:
    """What the verdict needs to know of one suite."""

    name: str
    current: Table
    baseline: Table | None
    gates: tuple[GateRule, ...] = ()  # the suite's own; they win over the top-level ones by metric
    floor: bool = False  # fails where nothing at all passes
    not_comparable: str = ""  # a reason found before, such as another dataset
    edited: Mapping[str, str] = field(default_factory=dict)  # column -> why nothing compares it
    new_cases: frozenset[str] = _NONE  # run, but do not gate
    quarantined: frozenset[str] = _NONE  # run and listed, but do not gate
    accepted: frozenset[str] = _NONE  # metrics whose change somebody accepted
    accepts_all: bool = False  # somebody accepted whatever got worse, without naming it
    unreachable: str = ""  # what the health check said, as a sentence
    answered: bool = False  # that health check, by something that is no agent that is well
    control_unreachable: str = ""  # of the agent that a fresh baseline comes from
    outage: Outage | None = None  # nearly all trials failed alike, below what the agent says
    unjudged: str = ""  # that a judge, though it may have answered, scored nothing at all
    why_unjudged: str = ""  # why most votes of judges failed, after a colon
    why_unanswered: str = ""  # what most calls that nobody answered ended with, after a colon
    not_run: int = 0  # trials that a budget left unmade
    unasked: int = 0  # cases among them that never got a round
    not_asked: frozenset[str] = _NONE  # cases of the dataset that this run left out
    looks: Looks | None = None  # the plan of a run that may stop early; None: a fixed size
    made: int = 0  # trials of that plan so far
    chosen: int = 0  # cases that the plan asks
    planned: int = 0  # trials that the gates may ask for: chosen x rounds
    fresh: bool = False  # the baseline was measured in the same run, round by round
    drift: Mapping[str, float] = field(default_factory=dict)  # metric -> session effect's variance
    advisory: Mapping[str, str] = field(default_factory=dict)  # metric -> why it does not gate

    @property
    def complete(self) -> bool:
        """Whether the planned trials were made; more of them are for doubts only."""
        return self.looks is None or self.made >= min(self.planned, self.looks.cap)

    @property
    def at_cap(self) -> bool:
        """Whether no trial can be added to those that there are."""
        return self.looks is None or self.made >= self.looks.cap

    @property
    def all_asked(self) -> bool:
        """Whether every case was asked once; a part of them has another mean."""
        return self.looks is None or self.made >= self.chosen

    @property
    def cut_short(self) -> bool:
        """Whether the verdict on something else may have ended the run first."""
        return not (self.complete or self.not_run)

    @property
    def broken(self) -> bool:
        """Whether nothing is judged because of an agent that was there: a change may have broken
        it.
        """
        if self.unreachable:
            return self.answered
        out = None if self.control_unreachable else self.outage
        return out is not None and out.answered

    @property
    def excused_cases(self) -> frozenset[str]:
        """Cases whose absence says nothing: left out on purpose, or the agent was not there."""
        if self.unreachable and self.baseline is not None:
            return frozenset(self.baseline.cases)
        return self.not_asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A suite cut to what gates. `error` or `not_comparable` says why it cannot be judged."""

    data: SuiteData
    current: Table
    pairing: Pairing | None  # None: there is no baseline
    error: str
    not_comparable: str

    def lacks(self, spec: MetricSpec) -> Missing:
        """Why missing values of the metric cannot simply be left out, or nothing."""
        arms = (self.current, self.pairing)
        missing, unscored = too_much_missing(*arms, spec), too_much_unscored(*arms, spec)
        if not (missing and unscored):
            return missing or unscored
        if missing.beyond is None or unscored.beyond is None:
            return missing if missing.beyond is None else unscored
        return replace(missing, beyond=missing.beyond + unscored.beyond)

    def judge_outage(self, spec: MetricSpec) -> str:
        """That a judge was out for so many answers that the metric is not judged at all, or
        nothing.
        """
        if share_unjudged(self.current, spec) > TOO_MANY_ERRORS:
            return f"{OUT}{self.data.why_unjudged}"
        useless = bool(self.data.unjudged)
        if useless and share_unjudged(self.current, spec, useless=True) > TOO_MANY_ERRORS:
            return self.data.unjudged
        return ""

    def hides(self, spec: MetricSpec) -> bool:
        """Whether what is missing may be beyond anything that was measured."""
        return could_be_anything(self.current, spec)

    def lacks_too_much(self, spec: MetricSpec) -> bool:
        """Whether so many answers have no score that what they could hide is no mere doubt: an
        agent could make its grader fail.
        """
        return share_unscored(self.current, spec) > TOO_MANY_ERRORS


def stand(data: SuiteData, *, max_removed: float) -> Standing:
    """Leaves out new and quarantined cases, then checks docs/semantics.md 4 and 5."""
    left_out = data.new_cases | data.quarantined
    baseline = None if data.baseline is None else _without(data.baseline, left_out)
    current = without_silence(_without(data.current, left_out), baseline)
    pairing = None if baseline is None else pair_cases(baseline, current, data.excused_cases)
    return Standing(
        data=data,
        current=current,
        pairing=pairing,
        error=_error_reason(data),
        not_comparable=data.not_comparable
        or _not_comparable_reason(pairing, max_removed, data.unasked),
    )


def _without(table: Table, cases: frozenset[str]) -> Table:
    if cases.isdisjoint(table.cases):
        return table
    return table.select([row for row, case in enumerate(table.cases) if case not in cases])


def _error_reason(data: SuiteData) -> str:
    if data.unreachable:
        return data.unreachable
    if data.control_unreachable:
        return f"the control agent cannot be reached: {data.control_unreachable}"
    if data.outage:
        return data.outage.said
    tables = {"calls": data.current}
    if data.fresh and data.baseline is not None:
        tables["control agent's calls"] = data.baseline
    for calls, table in tables.items():
        share = infra_share(table)
        if share > TOO_MANY_ERRORS:
            ended = "ended in infrastructure errors, too many for a verdict"
            why = data.why_unanswered if table is data.current else ""
            return f"{figures.portion(share)} of the {calls} {ended}{why}"
    return ""


def _not_comparable_reason(pairing: Pairing | None, max_removed: float, unasked: int) -> str:
    if pairing is None:
        return ""
    # Cases that the budget left unasked are gone from the table, but nobody removed them.
    removed = max(0, len(pairing.removed) - unasked)
    before, changed = len(pairing.whole.cases), len(pairing.changed)
    # Of those that were not asked (yet) as many have changed in proportion.
    kept = pairing.n_paired + changed
    gone = removed + (changed * (before - removed) / kept if kept else 0.0)
    if before and gone > max_removed * before + 1e-9:
        return (
            f"{round(gone)} of the baseline's {before} cases were removed or changed "
            f"(limit {figures.percent(max_removed)})"
        )
    if not pairing.n_paired:
        return "this run and the baseline have no case in common"
    had = kept + removed
    if too_few_left(pairing.n_paired, had):
        left = f"{figures.count(pairing.n_paired, 'case')} of the baseline's {had}"
        return f"only {left} remain to compare ({MIN_PAIRED} of that many are needed)"
    return ""
