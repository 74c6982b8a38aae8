"""Each metric of one run as a number with its interval, and what a metric takes by default."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from gate.analysis.missing_answers import share_unjudged
from gate.analysis.outages import OUT
from gate.analysis.table import Table
from gate.plugins import METRICS, Array, Family
from gate.records import Estimate, Level, MetricSpec, Tolerance
from gate.records.codec import from_json
from gate.stats.intervals import Bounds, share_of_cases_like_these

CONFIDENCE = 0.95


def family_of(spec: MetricSpec) -> Family:
    """The reduction that the spec names; UsageError when there is none of that name."""
    return from_json(METRICS.get_class(spec.family), spec.options)


def default_tolerance(spec: MetricSpec) -> Tolerance:
    """Harm nobody minds on each scale (docs/semantics.md 2)."""
    usual = {(0.0, 1.0): 0.02, (1.0, 5.0): 0.1, (0.0, 10.0): 0.2}
    if spec.low is not None and spec.high is not None and (spec.low, spec.high) in usual:
        return Tolerance(value=usual[spec.low, spec.high])
    return Tolerance(value=0.05, relative=True)


def default_level(spec: MetricSpec) -> Level:
    """Latency only warns: it shifts from day to day for reasons that are not the agent's."""
    return "warn" if spec.unit == "ms" else "block"


def estimates(table: Table, specs: Mapping[str, MetricSpec]) -> dict[str, Estimate]:
    """Metric name -> estimate; one that could not be measured has no value but a reason."""
    return {name: _estimate(table, spec) for name, spec in specs.items()}


def _estimate(table: Table, spec: MetricSpec) -> Estimate:
    values = table.values(spec)
    family = family_of(spec)
    value = family.reduce(values)
    if math.isnan(value):
        return Estimate(
            metric=spec.name,
            value=None,
            unit=spec.unit,
            direction=spec.direction,
            reason=OUT if share_unjudged(table, spec) else _why_unmeasured(table, values, family),
        )
    each = family.per_case(values)
    each = each[~np.isnan(each)]
    interval = family.interval(values, spec, confidence=CONFIDENCE)
    return Estimate(
        metric=spec.name,
        value=value,
        min=float(each.min()) if each.size else None,
        max=float(each.max()) if each.size else None,
        ci_low=finite(interval.low) if interval else None,
        ci_high=finite(interval.high) if interval else None,
        confidence=CONFIDENCE,
        n=int((~np.isnan(values)).sum()),
        unit=spec.unit,
        direction=spec.direction,
        method=interval.method if interval else "",
    )


def success_of_cases_like_these(table: Table, seed: int) -> Bounds | None:
    """What the success rate would be if other cases of their kind had been taken; its own interval,
    as `estimates` has it, is for these cases. None: it was not measured.
    """
    spec = table.specs.get("agent.success_rate")
    if spec is None:
        return None
    return share_of_cases_like_these(table.values(spec), CONFIDENCE, seed=seed)


def finite(number: float) -> float | None:
    """None for what is unknown (NaN) or unbounded."""
    return number if math.isfinite(number) else None


def _why_unmeasured(table: Table, values: Array, family: Family) -> str:
    infra, failed = table.column("infra_error"), table.column("agent_error")
    if not table.cases:
        return "no case ran"
    if np.nanmin(infra, initial=1.0) == 1.0:
        return "every call ended in an infrastructure error"
    if np.nanmin(failed, initial=1.0) == 1.0:
        return "every call ended in an agent error"
    if not np.isnan(values).all():
        return str(getattr(family, "needs", "one value is too few"))
    if values is table.columns.get("success"):
        return "no grader of this suite decides whether an answer passes"
    return "no trial has a value: no case needs it, or the agent does not report it"
