"""The cases that make a metric worse than it was."""

from __future__ import annotations

from collections.abc import Set

import numpy as np

from gate.analysis.pairing import pair_cases
from gate.analysis.table import Array, Table
from gate.records import CaseFall, MetricFall, MetricSpec

_NONE: frozenset[str] = frozenset()


def find_falls(
    current: Table,
    baseline: Table | None,
    spec: MetricSpec,
    *,
    limit: float | None = None,
    skip: Set[str] = _NONE,
    most: int = 20,
) -> MetricFall | None:
    """The cases whose mean over their rounds got worse, the largest fall first, at most `most`.

    Where no paired case fell, those beyond the `limit` of a gate, the worst first. `skip`: cases
    that another list shows already. None when nothing is left to show.
    """
    sign = 1.0 if spec.direction == "higher" else -1.0
    pairing = pair_cases(baseline or current.select([]), current)
    was = _by_case(pairing.baseline, spec)
    now = _by_case(current, spec)
    fallen = {c: sign * (was[c] - now[c]) for c in was if c in now and sign * (was[c] - now[c]) > 0}
    if not fallen and limit is not None:
        fallen = {c: 0.0 for c, value in now.items() if sign * (limit - value) > 0}
    cases = sorted(fallen.keys() - skip, key=lambda c: (-fallen[c], sign * now[c], c))
    if not cases:
        return None
    categories = dict(zip(current.cases, current.categories or [None] * len(now), strict=False))
    worst = (
        CaseFall(case_id=c, category=categories.get(c), baseline=was.get(c), current=now[c])
        for c in cases[:most]
    )
    return MetricFall(
        suite=current.suite,
        metric=spec.name,
        column=spec.column,
        unit=spec.unit,
        direction=spec.direction,
        cases=len(cases),
        fell=any(fallen.values()),
        worst=tuple(worst),
    )


def _by_case(table: Table, spec: MetricSpec) -> dict[str, float]:
    """Case -> mean over its rounds, of those with a value."""
    values: Array = table.column(spec.column)
    measured = ~np.isnan(values)
    rounds = measured.sum(axis=1)
    means = np.where(measured, values, 0.0).sum(axis=1) / np.maximum(rounds, 1)
    rows = np.flatnonzero(rounds).tolist()
    return {table.cases[row]: float(means[row]) for row in rows}
