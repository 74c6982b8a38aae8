"""A suite's categories side by side: how often their cases pass, what they take and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gate.analysis.estimates import family_of, finite
from gate.analysis.failures.modes import ORDER
from gate.analysis.table import Table
from gate.records import CategoryReport, FailureMode

MOST = 200  # categories that are told, the largest

Failed = Mapping[FailureMode, Mapping[str, int]]  # mode -> case -> trials


def categories(table: Table, failed: Failed) -> tuple[CategoryReport, ...]:
    """The categories by name, cases without one last; empty where all cases are of one category."""
    rows: dict[str | None, list[int]] = {}
    for row, name in enumerate(table.categories):
        rows.setdefault(name, []).append(row)
    if len(rows) < 2:
        return ()
    largest = sorted(rows, key=lambda name: (-len(rows[name]), *_by_name(name)))[:MOST]
    modes = _modes(table, failed)
    return tuple(
        _category(table.select(rows[name]), name, modes.get(name, {}))
        for name in sorted(largest, key=_by_name)
    )


def _category(
    table: Table, name: str | None, modes: Mapping[FailureMode, Sequence[int]]
) -> CategoryReport:
    unpriced = (table.column("agent_error") == 0.0) & np.isnan(table.column("cost_usd"))
    top = min(modes, key=lambda mode: (*modes[mode], ORDER.index(mode)), default=None)
    return CategoryReport(
        category=name,
        cases=len(table.cases),
        trials=int((~np.isnan(table.column("infra_error"))).sum()),
        success_rate=_value(table, "agent.success_rate"),
        avg_steps=_value(table, "agent.avg_steps"),
        cost_per_task=_value(table, "agent.cost_per_task"),
        cost_per_success=_value(table, "agent.cost_per_success"),
        unknown_cost=int(unpriced.sum()),
        top_mode=top,
        top_mode_cases=0 if top is None else -modes[top][0],
    )


def _value(table: Table, metric: str) -> float | None:
    spec = table.specs.get(metric)
    return None if spec is None else finite(family_of(spec).reduce(table.values(spec)))


def _modes(table: Table, failed: Failed) -> dict[str | None, dict[FailureMode, tuple[int, int]]]:
    """Category -> mode -> less cases, less trials: what is most comes first."""
    category = dict(zip(table.cases, table.categories, strict=True))
    counts: dict[str | None, dict[FailureMode, tuple[int, int]]] = {}
    for mode, cases in failed.items():
        for case, trials in cases.items():
            if case in category:
                modes = counts.setdefault(category[case], {})
                before = modes.get(mode, (0, 0))
                modes[mode] = (before[0] - 1, before[1] - trials)
    return counts


def _by_name(name: str | None) -> tuple[bool, str]:
    return name is None, name or ""
