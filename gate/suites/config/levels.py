"""Whether a metric blocks, and its tolerance, by the rules of gate.yml alone."""

from __future__ import annotations

from collections.abc import Sequence

from gate.analysis.estimates import default_level, default_tolerance
from gate.records import GateRule, Level, MetricSpec, RegressionRules, Tolerance

ALWAYS = "agent.success_rate"  # blocks without being named


def tolerance_of(spec: MetricSpec, rules: RegressionRules) -> Tolerance:
    """The tolerance of the metric: its own, that of the run, or the default of its scale. An
    absolute tolerance of the run applies to shares only.
    """
    rule = rules.metrics.get(spec.name)
    if rule is not None and rule.tolerance is not None:
        return rule.tolerance
    wide = rules.tolerance
    if wide is not None and (wide.relative or (spec.low, spec.high) == (0.0, 1.0)):
        return wide
    return default_tolerance(spec)


def level_of(spec: MetricSpec, gates: Sequence[GateRule], rules: RegressionRules) -> Level:
    """Whether a regression of the metric blocks (docs/semantics.md 2)."""
    rule = rules.metrics.get(spec.name)
    if rule is not None and rule.level is not None:
        return rule.level
    gate = next((gate for gate in gates if gate.metric == spec.name), None)
    if gate is not None and gate.level == "warn":
        return "warn"
    named = rule is not None or (gate is not None and not gate.by_default)
    if named or spec.name == ALWAYS:
        return default_level(spec)
    return "warn"
