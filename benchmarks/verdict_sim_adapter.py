"""The gate's own verdict in the shape that a verdict simulator calls: arrays in, statuses out.

`fixed` judges once, `sequential` after each batch. Both build tables from the arrays and ask
`gate/verdict/`, as `gate run` does. Every metric is a rate that blocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gate.analysis.table import Table
from gate.records import Looks, MetricRule, MetricSpec, Policy, RegressionRules, Tolerance
from gate.verdict.comparability import SuiteData
from gate.verdict.decide import decide
from gate.verdict.stop_rule import look_at_suites

Array = npt.NDArray[np.float64]
_KNOWN = ("regression", "improvement", "no_regression")


def fixed(
    baseline: Array, candidate: Array, *, tolerance: float, alpha: float, **_: object
) -> list[str]:
    """Arrays of cases x rounds x metrics, NaN where a call was not made -> a status a metric."""
    names = [f"m.{j}" for j in range(candidate.shape[2])]
    suite = SuiteData(name="s", current=_table(candidate, names), baseline=_table(baseline, names))
    return _statuses(suite, names, _rules(names, tolerance, alpha))


def sequential(
    baseline: Array,
    candidate: Array,
    *,
    tolerance: float,
    alpha: float,
    calls_done: int,
    looks: list[int],
    **_: object,
) -> list[str]:
    """As `fixed`; "continue" for every metric while the run would go on."""
    names = [f"m.{j}" for j in range(candidate.shape[2])]
    started = int(np.count_nonzero(~np.isnan(candidate[:, 0, 0])))
    suite = SuiteData(
        name="s",
        current=_table(candidate[:started], names),
        baseline=_table(baseline[:started], names),
        looks=Looks(calls=tuple(looks)),
        made=calls_done,
        chosen=len(candidate),
        planned=looks[-1],
    )
    rules = _rules(names, tolerance, alpha)
    if look_at_suites([suite], **rules).suites:
        return ["continue"] * len(names)
    return _statuses(suite, names, rules)


def _statuses(suite: SuiteData, names: list[str], rules: dict[str, Any]) -> list[str]:
    status = {row.metric: row.status for row in decide([suite], **rules).comparisons}
    return [status[name] if status[name] in _KNOWN else "inconclusive" for name in names]


def _rules(names: list[str], tolerance: float, alpha: float) -> dict[str, Any]:
    regression = RegressionRules(
        alpha=alpha,
        tolerance=Tolerance(value=tolerance),
        metrics={name: MetricRule(metric=name) for name in names},
    )
    return {"gates": (), "regression": regression, "policy": Policy(), "mode": "branch"}


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
