"""How latency and cost spread over the trials of a run, and over those of its baseline."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gate.analysis.pairing import pair_cases
from gate.analysis.table import Array, Table
from gate.records import Spread, SpreadOf
from gate.stats.quantiles import quantile

UNITS: Mapping[str, str] = {"latency_ms": "ms", "cost_usd": "USD"}  # by column
BINS = 24
WIDE = 30.0  # as many times the lowest value: from there on the steps are equal ratios


def measure_spreads(current: Table, baseline: Table | None) -> dict[str, Spread]:
    """By column, of those that have different values. Of the baseline the trials of cases that are
    as they were then.
    """
    before = pair_cases(baseline, current).baseline if baseline else None
    return {
        column: spread
        for column, unit in UNITS.items()
        if (spread := _spread(_values(current, column), _values(before, column), unit))
    }


def _values(table: Table | None, column: str) -> Array:
    values = table.column(column) if table else np.empty(0)
    return values[np.isfinite(values)]


def _spread(now: Array, was: Array, unit: str) -> Spread | None:
    every = np.concatenate([now, was])
    if not now.size or every.min() == every.max():
        return None
    low, high = float(every.min()), float(every.max())
    ratios = low > 0 and high / low >= WIDE
    edges = (np.geomspace if ratios else np.linspace)(low, high, BINS + 1)
    return Spread(
        unit=unit,
        low=low,
        high=high,
        ratios=ratios,
        now=_spread_of(now, edges),
        was=_spread_of(was, edges) if was.size else None,
    )


def _spread_of(values: Array, edges: Array) -> SpreadOf:
    inside = np.clip(values, edges[0], edges[-1])  # the ends are rounded
    return SpreadOf(
        trials=tuple(np.histogram(inside, edges)[0].tolist()),
        median=quantile(values, 0.5),
        p95=quantile(values, 0.95),
    )
