"""The gate's own verdict in the shape that a verdict simulator calls: arrays in, statuses out.

`fixed` builds tables from the arrays and asks `gate.verdict.decide`, which is what `gate run` asks.
Every metric is a rate that blocks.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gate.records import MetricRule, MetricSpec, Policy, RegressionRules, Tolerance
from gate.table import Table
from gate.verdict import SuiteData, decide

Array = npt.NDArray[np.float64]
_KNOWN = ("regression", "improvement", "no_regression")


def fixed(
    baseline: Array, candidate: Array, *, tolerance: float, alpha: float, **_: object
) -> list[str]:
    """Arrays of cases x rounds x metrics, NaN where a call was not made -> a status a metric."""
    names = [f"m.{j}" for j in range(candidate.shape[2])]
    rules = RegressionRules(
        alpha=alpha,
        tolerance=Tolerance(value=tolerance),
        metrics={name: MetricRule(metric=name) for name in names},
    )
    suite = SuiteData(name="s", current=_table(candidate, names), baseline=_table(baseline, names))
    verdict = decide([suite], gates=(), regression=rules, policy=Policy(), mode="branch")
    status = {row.metric: row.status for row in verdict.comparisons}
    return [status[name] if status[name] in _KNOWN else "inconclusive" for name in names]


def _table(values: Array, names: list[str]) -> Table:
    cases = tuple(f"c{i:06d}" for i in range(len(values)))
    return Table(
        suite="s",
        cases=cases,
        digests=cases,
        rounds=values.shape[1],
        columns={name: values[:, :, j] for j, name in enumerate(names)},
        specs={name: MetricSpec(name=name, column=name, family="rate") for name in names},
    )
