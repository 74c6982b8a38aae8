"""From statuses to outcomes and the exit code (docs/semantics.md 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gate.analysis.default_gates import interest
from gate.records import (
    Comparison,
    GateResult,
    MetricSpec,
    Outcome,
    Policy,
    limits_by_metric,
)
from gate.suites.config.levels import ALWAYS
from gate.verdict.comparability import Standing
from gate.verdict.floor import floor_of
from gate.verdict.reasons import (
    gate_failed,
    nothing_passed,
    regressed,
    suspected,
    undecided,
    unjudged,
)

WORST_FIRST: tuple[Outcome, ...] = (
    "fail",
    "error",
    "not_comparable",
    "no_baseline",
    "inconclusive",
    "pass",
)
EXIT_CODES: dict[Outcome, int] = {
    "fail": 1,
    "inconclusive": 3,
    "no_baseline": 4,
    "not_comparable": 5,
    "error": 6,
    "pass": 0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that decides: the outcome it asks for, and why."""

    outcome: Outcome
    reason: str
    binds: bool = False  # whatever the policy says


def findings(
    one: Standing,
    comparisons: Sequence[Comparison],
    gates: Sequence[GateResult],
    policy: Policy,
    power: float,
    out: Sequence[MetricSpec] = (),
) -> list[Finding]:
    """Everything that keeps a suite from passing, worst first, and of what is as bad what a reader
    wants to know first. The rows are this suite's; `out`: what blocks and no judge was there for.
    """
    found = _of_suite(one)
    if one.error:
        return found  # nothing else was judged
    if out:
        reason = unjudged([spec.name for spec in out], one.out(out[0]))
        found.append(Finding(outcome="error", reason=reason))
    names = {spec.name for spec in one.current.specs.values() if one.out(spec)}
    comparisons = [row for row in comparisons if row.metric not in names]
    gates = [row for row in gates if row.metric not in names]
    if not one.not_comparable:  # said once, for the suite
        rows = sorted((row for row in comparisons if row.level == "block"), key=_interest)
        held = limits_by_metric(gates)
        for row in rows:
            held_against = held.get((row.suite, row.metric), ())
            found += _of_comparison(row, policy, power, held_against)
    limits = sorted((row for row in gates if row.level == "block"), key=_interest)
    found += [f for row in limits for f in _of_gate(row, policy)]
    floor = floor_of(one)
    if floor is not None and not floor.mild:
        found.append(Finding(outcome="fail", reason=nothing_passed(floor)))
    return sorted(found, key=lambda finding: WORST_FIRST.index(finding.outcome))


def _interest(row: Comparison | GateResult) -> tuple[bool, int]:
    """Last what was not measured."""
    return row.status == "missing", interest(row.metric)


def exit_code(found: Sequence[Finding], policy: Policy) -> int:
    """That of the worst outcome whose policy is fail, or that no policy lets through, else 0."""
    outcomes = {finding.outcome for finding in found}
    binding = {"fail", *(finding.outcome for finding in found if finding.binds)}
    for outcome in WORST_FIRST:
        if outcome in outcomes and (outcome in binding or _policy_of(outcome, policy) == "fail"):
            return EXIT_CODES[outcome]
    return 0


def worst(outcomes: Sequence[Outcome]) -> Outcome:
    return min(outcomes, key=WORST_FIRST.index, default="pass")


def _policy_of(outcome: Outcome, policy: Policy) -> Literal["pass", "warn", "fail"]:
    return {
        "error": policy.error,
        "not_comparable": policy.not_comparable,
        "no_baseline": policy.no_baseline,
        "inconclusive": "warn" if policy.inconclusive == "extend" else policy.inconclusive,
    }.get(outcome, "pass")


def _of_suite(one: Standing) -> list[Finding]:
    found = []
    if one.error:
        found.append(Finding(outcome="error", reason=one.error, binds=one.data.broken))
    elif one.not_comparable:
        found.append(Finding(outcome="not_comparable", reason=one.not_comparable))
    elif one.pairing is None and _ungraded(one):
        found.append(Finding(outcome="not_comparable", reason=_ungraded(one)))
    elif one.pairing is None:
        found.append(Finding(outcome="no_baseline", reason="there is no baseline to compare with"))
    if one.data.unasked:
        reason = f"{one.data.unasked} cases were never asked"
        found.append(Finding(outcome="inconclusive", reason=reason))
    return found


def _ungraded(one: Standing) -> str:
    """Why a suite without a baseline is not judged by its limits either: success depends on every
    grader, and one of them is the pull request's own.
    """
    data = one.data
    if data.accepts_all or ALWAYS in data.accepted:
        return ""
    return next(iter(data.edited.values()), "")


def _of_comparison(
    row: Comparison, policy: Policy, power: float, limits: Sequence[float]
) -> list[Finding]:
    if row.status == "regression":
        return [Finding(outcome="fail", reason=regressed(row, limits))]
    if row.status == "suspected":
        return [Finding(outcome="inconclusive", reason=suspected(row, power, limits))]
    if row.status == "inconclusive":
        return [Finding(outcome="inconclusive", reason=undecided(row.metric, row.reason))]
    if row.status == "not_comparable":
        return [Finding(outcome="not_comparable", reason=undecided(row.metric, row.reason))]
    if row.status == "missing" and policy.missing_metric == "fail":
        return [Finding(outcome="fail", reason=undecided(row.metric, row.reason))]
    return []


def _of_gate(row: GateResult, policy: Policy) -> list[Finding]:
    if row.status == "fail":
        return [Finding(outcome="fail", reason=gate_failed(row))]
    if row.status == "missing" and policy.missing_metric == "fail":
        return [Finding(outcome="fail", reason=undecided(row.metric, row.reason))]
    if row.status == "inconclusive":
        return [Finding(outcome="inconclusive", reason=undecided(row.metric, row.reason))]
    return []
