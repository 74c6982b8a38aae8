"""Suites, gates and rules to one verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType

from gate.analysis.cases import case_changes
from gate.records import (
    CaseChange,
    CaseChanges,
    Comparison,
    GateResult,
    GateRule,
    Outcome,
    Policy,
    RegressionRules,
    Verdict,
)
from gate.records.baseline import AnchorReport
from gate.verdict.comparability import stand
from gate.verdict.comparisons import compare_all
from gate.verdict.gates import judge_gates
from gate.verdict.levels import list_unjudged
from gate.verdict.outcomes import (
    OutcomeReason,
    exit_code,
    floor_of,
    list_reasons,
    with_falls,
    worst,
)
from gate.verdict.reasons import describe_pass, join_reasons
from gate.verdict.suite_data import SuiteData

NO_ANCHORS: Mapping[str, AnchorReport] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class _SuiteDecision:
    """The outcome of one suite, and why."""

    name: str
    outcome: Outcome
    reason: str
    findings: list[OutcomeReason]


def decide(
    suites: Sequence[SuiteData],
    *,
    gates: Sequence[GateRule],
    regression: RegressionRules,
    policy: Policy,
    elsewhere: frozenset[str] = frozenset(),
    anchors: Mapping[str, AnchorReport] = NO_ANCHORS,
) -> Verdict:
    """`gates`: the top-level ones. `elsewhere`: metrics of suites that did not run here: a gate on
    one of them is not missing. `anchors`: by suite.
    """
    standings = [stand(data, max_removed=regression.max_removed) for data in suites]
    comparisons = compare_all(standings, gates, regression)
    results = judge_gates(standings, gates, alpha=regression.alpha, elsewhere=elsewhere)
    floors = {standing.data.name: floor for standing in standings if (floor := floor_of(standing))}
    decided = []
    for standing in standings:
        rows = [row for row in comparisons if row.suite == standing.data.name]
        limits = [row for row in results if row.suite == standing.data.name]
        out = list_unjudged(standing, gates, regression)
        reasons = list_reasons(standing, rows, limits, policy, regression.power, out)
        reasons = with_falls(reasons, standing, anchors.get(standing.data.name))
        decided.append(_decide_suite(standing.data.name, reasons, rows, limits, regression.power))
    everything = [finding for standing in decided for finding in standing.findings]
    return Verdict(
        outcome=worst([standing.outcome for standing in decided]),
        exit_code=exit_code(everything, policy),
        reason=_run_reason(decided),
        suites={standing.name: (standing.outcome, standing.reason) for standing in decided},
        comparisons=comparisons,
        gates=results,
        cases=_all_cases(suites),
        floors=floors,
    )


def _decide_suite(
    name: str,
    reasons: list[OutcomeReason],
    comparisons: list[Comparison],
    gates: list[GateResult],
    power: float,
) -> _SuiteDecision:
    if not reasons:
        reason = describe_pass(comparisons, gates, power)
        return _SuiteDecision(name=name, outcome="pass", reason=reason, findings=reasons)
    outcome = reasons[0].outcome
    reason = join_reasons([finding.reason for finding in reasons if finding.outcome == outcome])
    return _SuiteDecision(name=name, outcome=outcome, reason=reason, findings=reasons)


def _run_reason(decided: Sequence[_SuiteDecision]) -> str:
    """The worst suite's reason; with its name where there are several."""
    if not decided:
        return "no suite was run"
    outcome = worst([one.outcome for one in decided])
    same = [one for one in decided if one.outcome == outcome]
    if len(decided) == 1:
        return same[0].reason
    others = f" ({outcome} in {len(same)} of {len(decided)} suites)"
    return f"{same[0].name}: {same[0].reason}" + (others if len(same) > 1 else "")


def _all_cases(suites: Sequence[SuiteData]) -> CaseChanges:
    """The lists of all suites, one after the other."""
    lists = [
        case_changes(
            data.current,
            data.baseline,
            quarantined=data.quarantined,
            not_asked=data.excused_cases | data.unasked_cases,
            lost=data.lost_cases,
        )
        for data in suites
    ]
    joined_lists: dict[str, tuple[CaseChange, ...]] = {
        field.name: tuple(change for one in lists for change in getattr(one, field.name))
        for field in fields(CaseChanges)
    }
    return CaseChanges(**joined_lists)
