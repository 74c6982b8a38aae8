"""Which rules apply to which metric of a suite, and whether they block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gate.records import GateRule, MetricSpec, RegressionRules
from gate.suites.config.levels import level_of
from gate.verdict.comparability import Standing
from gate.verdict.suite_data import SuiteData


def applicable_gates(data: SuiteData, top_level: Sequence[GateRule]) -> tuple[GateRule, ...]:
    """The suite's own, then those top-level ones whose metric its graders can yield; a metric that
    may not gate only warns.
    """
    metrics = {gate.metric for gate in data.gates}
    shared = (g for g in top_level if g.metric not in metrics and g.metric in data.current.specs)
    return tuple(
        replace(gate, level="warn") if gate.metric in data.advisory else gate
        for gate in (*data.gates, *shared)
    )


def list_unjudged(
    standing: Standing, top_level: Sequence[GateRule], rules: RegressionRules
) -> list[MetricSpec]:
    """The metrics that block, by a comparison or a limit, and that no judge was there for."""
    gates = applicable_gates(standing.data, top_level)
    limited = {gate.metric for gate in gates if gate.level == "block"}
    return [
        spec
        for spec in standing.current.specs.values()
        if spec.name not in standing.data.advisory
        and (spec.name in limited or level_of(spec, gates, rules) == "block")
        and standing.judge_outage(spec)
    ]
