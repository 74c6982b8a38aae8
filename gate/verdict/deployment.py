"""Whether a run of the main branch, or of a release, says to deploy (docs/semantics.md 10)."""

from __future__ import annotations

from gate.analysis.default_gates import interest
from gate.records import Comparison, Decision, GateResult, Policy, Verdict, limits_by_metric
from gate.text import figures
from gate.verdict.reasons import describe_improvement as told

NAMED = 3  # metrics in the reason


def decide_deployment(verdict: Verdict, policy: Policy) -> Decision:
    """Only what passes is deployed; by default only what is proved better than the baseline too."""
    better = tuple(
        row for row in verdict.comparisons if row.level == "block" and row.status == "improvement"
    )
    improved = tuple(f"{row.suite}/{row.metric}" for row in better)
    if verdict.outcome != "pass":
        why = f"the outcome is {verdict.outcome.replace('_', ' ')}, and only a pass may be deployed"
        return Decision(deploy=False, reason=why, improved=improved)
    if better:
        return Decision(deploy=True, reason=_rose(better, verdict.gates), improved=improved)
    if policy.deploy == "not_worse":
        why = "no blocking metric got worse, and `policy.deploy` is not_worse"
        return Decision(deploy=True, reason=why)
    why = "no blocking metric is proven better than the baseline (`policy.deploy` is improved)"
    return Decision(deploy=False, reason=why)


def _rose(better: tuple[Comparison, ...], gates: tuple[GateResult, ...]) -> str:
    """What is best to know, with its numbers."""
    several = len({row.suite for row in better}) > 1
    first = sorted(better, key=lambda row: interest(row.metric))
    held = limits_by_metric(gates)
    words = [
        told(row, held.get((row.suite, row.metric), ())) + (f" in {row.suite}" if several else "")
        for row in first
    ]
    return f"{figures.join_words(words, most=NAMED)}, and no blocking metric got worse"
