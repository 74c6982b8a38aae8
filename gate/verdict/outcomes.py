"""From statuses to outcomes and the exit code (docs/semantics.md 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gate.analysis.columns import UNGRADED
from gate.analysis.default_gates import interest
from gate.records import (
    Comparison,
    Floor,
    GateResult,
    MetricSpec,
    Outcome,
    Policy,
    limits_by_metric,
)
from gate.records.baseline import AnchorReport
from gate.suites.config.levels import ALWAYS
from gate.text import figures
from gate.text.main_level import describe_fall, describe_first_seen
from gate.verdict.comparability import ACCEPTED, Standing
from gate.verdict.reasons import (
    describe_floor,
    describe_gate_failure,
    describe_regression,
    describe_suspicion,
    describe_undecided,
    describe_unjudged,
)

FEWEST = 5  # graded answers, below which nothing is said (docs/semantics.md 3)
DECIDES = "success"  # the column of pass and fail

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
class OutcomeReason:
    """One thing that decides: the outcome it asks for, and why."""

    outcome: Outcome
    reason: str
    binds: bool = False  # whatever the policy says


def list_reasons(
    standing: Standing,
    comparisons: Sequence[Comparison],
    gates: Sequence[GateResult],
    policy: Policy,
    power: float,
    out: Sequence[MetricSpec] = (),
) -> list[OutcomeReason]:
    """Everything that keeps a suite from passing, the worst first; what is equally bad in the order
    in which a reader wants to know it.

    `comparisons`, `gates`: those of this suite. `out`: blocking metrics for which no judge was
    available.
    """
    reasons = _suite_reasons(standing)
    if standing.error:
        return reasons  # nothing else was judged
    if out:
        reason = describe_unjudged([spec.name for spec in out], standing.judge_outage(out[0]))
        reasons.append(OutcomeReason(outcome="error", reason=reason))
    names = {spec.name for spec in standing.current.specs.values() if standing.judge_outage(spec)}
    comparisons = [row for row in comparisons if row.metric not in names]
    gates = [row for row in gates if row.metric not in names]
    if not standing.not_comparable:  # said once, for the suite
        rows = sorted((row for row in comparisons if row.level == "block"), key=_interest)
        held = limits_by_metric(gates)
        for row in rows:
            held_against = held.get((row.suite, row.metric), ())
            reasons += _comparison_reasons(row, policy, power, held_against)
    limits = sorted((row for row in gates if row.level == "block"), key=_interest)
    reasons += [f for row in limits for f in _gate_reasons(row, policy)]
    floor = floor_of(standing)
    if floor is not None and not floor.mild:
        reasons.append(OutcomeReason(outcome="fail", reason=describe_floor(floor)))
    return sorted(reasons, key=lambda finding: WORST_FIRST.index(finding.outcome))


def with_falls(
    reasons: list[OutcomeReason], standing: Standing, anchor: AnchorReport | None
) -> list[OutcomeReason]:
    """With what main has lost since its anchor. It fails main's own runs and releases, and no pull
    request.
    """
    if anchor is None or not anchor.decides or standing.error:
        return reasons
    falls = [
        OutcomeReason(
            outcome="fail", reason=f"{describe_fall(anchor, level)}, {describe_first_seen(level)}"
        )
        for level in anchor.fallen
    ]
    return sorted([*falls, *reasons], key=lambda finding: WORST_FIRST.index(finding.outcome))


def _interest(row: Comparison | GateResult) -> tuple[bool, int]:
    """Last what was not measured."""
    return row.status == "missing", interest(row.metric)


def exit_code(reasons: Sequence[OutcomeReason], policy: Policy) -> int:
    """The exit code of the worst outcome whose policy is fail, or that no policy lets through; else
    0.
    """
    outcomes = {finding.outcome for finding in reasons}
    binding = {"fail", *(finding.outcome for finding in reasons if finding.binds)}
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


def _suite_reasons(standing: Standing) -> list[OutcomeReason]:
    reasons = []
    if standing.error:
        reasons.append(
            OutcomeReason(outcome="error", reason=standing.error, binds=standing.data.broken)
        )
    elif standing.not_comparable:
        reasons.append(OutcomeReason(outcome="not_comparable", reason=standing.not_comparable))
    elif standing.pairing is None and _ungraded_reason(standing):
        reasons.append(OutcomeReason(outcome="not_comparable", reason=_ungraded_reason(standing)))
    elif standing.pairing is None:
        reasons.append(
            OutcomeReason(outcome="no_baseline", reason="there is no baseline to compare with")
        )
    if standing.data.unasked:
        cases = f"{figures.count(standing.data.unasked, 'case')}"
        reason = f"{cases} {'was' if standing.data.unasked == 1 else 'were'} never run"
        if standing.data.stopped_by:
            reason = f"{standing.data.stopped_by}: {reason}"
        reasons.append(OutcomeReason(outcome="inconclusive", reason=reason))
    return reasons


def _ungraded_reason(standing: Standing) -> str:
    """Why a suite without a baseline is not judged by its limits either: success depends on every
    grader, and one of them is the pull request's own.
    """
    data = standing.data
    if data.accepts_all or ALWAYS in data.accepted:
        return ""
    return next(iter(data.edited.values()), "")


def _comparison_reasons(
    row: Comparison, policy: Policy, power: float, limits: Sequence[float]
) -> list[OutcomeReason]:
    if row.status == "regression":
        return [OutcomeReason(outcome="fail", reason=describe_regression(row, limits))]
    if row.status == "suspected":
        return [
            OutcomeReason(outcome="inconclusive", reason=describe_suspicion(row, power, limits))
        ]
    if row.status == "inconclusive":
        return [
            OutcomeReason(outcome="inconclusive", reason=describe_undecided(row.metric, row.reason))
        ]
    if row.status == "not_comparable":
        return [
            OutcomeReason(
                outcome="not_comparable", reason=describe_undecided(row.metric, row.reason)
            )
        ]
    if row.status == "missing" and policy.missing_metric == "fail":
        return [OutcomeReason(outcome="fail", reason=describe_undecided(row.metric, row.reason))]
    return []


def _gate_reasons(row: GateResult, policy: Policy) -> list[OutcomeReason]:
    if row.status == "fail":
        return [OutcomeReason(outcome="fail", reason=describe_gate_failure(row))]
    if row.status == "missing" and policy.missing_metric == "fail":
        return [OutcomeReason(outcome="fail", reason=describe_undecided(row.metric, row.reason))]
    if row.status == "inconclusive":
        return [
            OutcomeReason(outcome="inconclusive", reason=describe_undecided(row.metric, row.reason))
        ]
    return []


def floor_of(standing: Standing) -> Floor | None:
    """What the floor says of a suite; None where it has none, or something passed."""
    if not standing.data.floor or standing.error or standing.current.graders.get(DECIDES) == "":
        return None
    spec = standing.current.specs.get(ALWAYS)
    if spec is not None and standing.judge_outage(spec):
        return None
    success = standing.current.column(DECIDES)
    success = np.where(standing.current.column(UNGRADED) == 1.0, np.nan, success)
    answers = int((~np.isnan(success)).sum())
    if answers < FEWEST or np.nansum(success) > 0.0:
        return None
    return Floor(answers=answers, mild=_excuse(standing))


def _excuse(standing: Standing) -> str:
    """Why it only warns."""
    if standing.data.accepts_all or ALWAYS in standing.data.accepted:
        return ACCEPTED
    if standing.pairing is None:
        return ""
    before = standing.pairing.whole.column(DECIDES)
    measured = before[~np.isnan(before)]
    return "nothing passed in the baseline either" if measured.size and not measured.any() else ""
