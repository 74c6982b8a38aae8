"""Numbers over what reports keep apart: all suites together, and the dimensions of a suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from gate.analysis.table import Array, Table
from gate.records import MetricSpec
from gate.records.report import Totals
from gate.stats.pairs import case_means

TOP = 10  # failure codes


def sum_totals(tables: Sequence[Table], codes: Iterable[Counter[str]]) -> Totals:
    """Totals over the trials of all suites, each trial with the same weight. `codes`: for each
    suite its failure codes with their trials.
    """
    summed: Counter[str] = Counter()
    for some in codes:
        summed.update(some)
    top = sorted(summed.items(), key=lambda item: (-item[1], item[0]))[:TOP]
    success, latency = _known_values(tables, "success"), _known_values(tables, "latency_ms")
    return Totals(
        suites=len(tables),
        cases=sum(len(table.cases) for table in tables),
        trials=len(_known_values(tables, "infra_error")),
        judged=len(success),
        success_rate=_mean(success),
        mean_latency_ms=_mean(latency),
        worst_latency_ms=float(latency.max()) if len(latency) else None,
        avg_tokens=_mean(_known_values(tables, "total_tokens")),
        failures_top=tuple(top),
    )


def dimension_scores(table: Table) -> dict[str, float | None]:
    """Dimension -> its score over the suite, from 0 to 1: the mean over cases of the mean over
    their trials of the mean of the dimension's values, each on the way from its worst (0) to its
    best (1). None: none was measured. What has no bounds has no such place.
    """
    bounded: dict[str, list[Array]] = {}
    for name, values in table.columns.items():
        spec = table.specs.get(name)
        if spec is None or spec.column != name or spec.low is None or spec.high is None:
            continue
        bounded.setdefault(spec.dimension, []).append(_places(values, spec, spec.low, spec.high))
    return {name: _mean(_without_nan(case_means(_over(some)))) for name, some in bounded.items()}


def _places(values: Array, spec: MetricSpec, low: float, high: float) -> Array:
    share = (values - low) / (high - low)
    return share if spec.direction == "higher" else 1.0 - share


def _over(some: Sequence[Array]) -> Array:
    """Mean of arrays of one shape, of the values that are there."""
    count = sum(~np.isnan(one) for one in some)
    summed = sum(np.nan_to_num(one) for one in some)
    means: Array = np.full(some[0].shape, np.nan)
    np.divide(summed, count, out=means, where=np.asarray(count) > 0)
    return means


def _known_values(tables: Sequence[Table], name: str) -> Array:
    return np.concatenate([np.zeros(0), *(_without_nan(table.column(name)) for table in tables)])


def _without_nan(values: Array) -> Array:
    return values[~np.isnan(values)]


def _mean(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None
