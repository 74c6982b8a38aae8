"""How a suite stands before any metric is looked at: what gates, and whether it can be judged."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
from gate.analysis.outages import OUT
from gate.analysis.pairing import MIN_PAIRED, Pairing, pair_cases, too_few_left
from gate.analysis.table import Table
from gate.records import MetricSpec
from gate.text import figures
from gate.text.shortening import shorten
from gate.verdict.suite_data import SuiteData

ACCEPTED = "this change was accepted"
_SHOWN = 80  # characters of a case's id
TOO_MANY_ERRORS = 0.20  # more infrastructure errors: nothing is judged (docs/semantics.md 4)


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
        """The sentence that a judge was out for so many answers that the metric is not judged at
        all, or nothing.
        """
        if share_unjudged(self.current, spec) > TOO_MANY_ERRORS:
            return f"{OUT}{self.data.tally.why_unjudged}"
        useless = self.data.tally.no_vote_reason
        if useless and share_unjudged(self.current, spec, useless=True) > TOO_MANY_ERRORS:
            return useless
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
    baseline = None if data.baseline is None else data.baseline.without(left_out)
    current = without_silence(data.current.without(left_out), baseline)
    pairing = None if baseline is None else pair_cases(baseline, current, data.excused_cases)
    return Standing(
        data=data,
        current=current,
        pairing=pairing,
        error=_error_reason(data),
        not_comparable=data.compared.not_comparable
        or _not_comparable_reason(pairing, max_removed, data.unasked),
    )


def _error_reason(data: SuiteData) -> str:
    if data.unreachable:
        return data.unreachable
    if data.control_unreachable:
        return f"the control agent cannot be reached: {data.control_unreachable}"
    if data.lost:
        return "; ".join(_tell_lost(why, cases) for why, cases in data.lost.items())
    if data.outage:
        return data.outage.said
    tables = {"calls": data.current}
    if data.fresh and data.baseline is not None:
        tables["control agent's calls"] = data.baseline
    for calls, table in tables.items():
        share = infra_share(table)
        if share > TOO_MANY_ERRORS:
            ended = "ended in infrastructure errors, too many for a verdict"
            why = data.tally.why_unanswered if table is data.current else ""
            return f"{figures.portion(share)} of the {calls} {ended}{why}"
    return ""


def _tell_lost(why: str, cases: frozenset[str]) -> str:
    names = figures.join_words([f"`{shorten(case, _SHOWN)}`" for case in sorted(cases)], most=5)
    has = "has" if len(cases) == 1 else "have"
    return f"{figures.count(len(cases), 'case')} {has} no result ({names}): {why}"


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
