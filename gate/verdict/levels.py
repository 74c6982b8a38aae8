"""Which rules apply to which metric of a suite, and whether they block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gate.analysis.estimates import default_level, default_tolerance
from gate.records import GateRule, Level, MetricSpec, RegressionRules, Tolerance
from gate.verdict.standing import Standing, SuiteData

ALWAYS = "agent.success_rate"  # blocks without being named


def applicable_gates(data: SuiteData, top_level: Sequence[GateRule]) -> tuple[GateRule, ...]:
    """The suite's own, then those top-level ones whose metric its graders can yield; a metric that
    may not gate only warns.
    """
    own = {gate.metric for gate in data.gates}
    shared = (g for g in top_level if g.metric not in own and g.metric in data.current.specs)
    return tuple(
        replace(gate, level="warn") if gate.metric in data.advisory else gate
        for gate in (*data.gates, *shared)
    )


def unjudged_blocking(
    one: Standing, top_level: Sequence[GateRule], rules: RegressionRules
) -> list[MetricSpec]:
    """The metrics that block, by a comparison or a limit, and that no judge was there for."""
    gates = applicable_gates(one.data, top_level)
    limited = {gate.metric for gate in gates if gate.level == "block"}
    return [
        spec
        for spec in one.current.specs.values()
        if spec.name not in one.data.advisory
        and (spec.name in limited or level_of(spec, gates, rules) == "block")
        and one.out(spec)
    ]


def tolerance_of(spec: MetricSpec, rules: RegressionRules) -> Tolerance:
    """The metric's own, the run's, or the default of its scale.

    The run's absolute tolerance is meant for shares; other scales keep their defaults.
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
