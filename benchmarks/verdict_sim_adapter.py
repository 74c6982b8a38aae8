"""The gate's own verdict in the shape that a verdict simulator calls: arrays in, statuses out.

`fixed` judges once, `sequential` after each batch, `two_stages` after half of the trials and at the
end, as `gate merge` does for shards. They build tables from the arrays and ask `gate/verdict/`.
Every metric is a rate that blocks.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gate.analysis.table import Table
from gate.analysis.tally import Tally
from gate.records import Looks, MetricRule, MetricSpec, Policy, RegressionRules, Tolerance
from gate.store.baseline.find import Compared
from gate.verdict.decide import decide
from gate.verdict.stop_rule import look_at_suites
from gate.verdict.suite_data import UNPLANNED, SuiteData

Array = npt.NDArray[np.float64]
PLANNED: int | None = None  # rounds of the runs that are simulated
_KNOWN = ("regression", "improvement", "no_regression")


def fixed(
    baseline: Array, candidate: Array, *, tolerance: float, alpha: float, **_: object
) -> list[str]:
    """Arrays of cases x rounds x metrics, NaN where a call was not made -> a status a metric."""
    names = [f"m.{j}" for j in range(candidate.shape[2])]
    compared = Compared(table=_table(baseline, names))
    suite = SuiteData(name="s", current=_table(candidate, names), compared=compared)
    return _statuses(suite, names, _rules_of(candidate, tolerance, alpha))


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
    """As `fixed`; "continue" for every metric while the run would go on. Half of the most rounds
    are planned, as without `max_rounds`, unless `PLANNED` says otherwise.
    """
    rounds = PLANNED or math.ceil(looks[-1] / len(candidate) / 2)
    return _look(
        baseline, candidate, _rules_of(candidate, tolerance, alpha), calls_done, looks, rounds
    )


def two_stages(
    baseline: Array,
    candidate: Array,
    *,
    tolerance: float,
    alpha: float,
    calls_done: int,
    looks: list[int],
    **_: object,
) -> list[str]:
    """As `sequential`, with the two looks of a run in shards: after the planned rounds, which are
    half of the most, and at the end.
    """
    planned, cap = looks[-1] // 2, looks[-1]
    if calls_done not in (planned, cap):
        return ["continue"] * candidate.shape[2]
    rules, rounds = _rules_of(candidate, tolerance, alpha), planned // len(candidate)
    return _look(baseline, candidate, rules, calls_done, [planned, cap], rounds)


def _look(
    baseline: Array,
    candidate: Array,
    rules: RegressionRules,
    calls_done: int,
    looks: list[int],
    rounds: int,
) -> list[str]:
    names = [f"m.{j}" for j in range(candidate.shape[2])]
    started = int(np.count_nonzero(~np.isnan(candidate[:, 0, 0])))
    suite = SuiteData(
        name="s",
        current=_table(candidate[:started], names),
        compared=Compared(table=_table(baseline[:started], names)),
        meta=replace(
            UNPLANNED,
            cases=len(candidate),
            rounds=rounds,
            looks=Looks(calls=tuple(looks)),
        ),
        tally=Tally(trials=calls_done),
    )
    if look_at_suites([suite], gates=(), regression=rules).suites:
        return ["continue"] * len(names)
    return _statuses(suite, names, rules)


def _statuses(suite: SuiteData, names: list[str], rules: RegressionRules) -> list[str]:
    verdict = decide([suite], gates=(), regression=rules, policy=Policy())
    status = {row.metric: row.status for row in verdict.comparisons}
    return [status[name] if status[name] in _KNOWN else "inconclusive" for name in names]


def _rules_of(candidate: Array, tolerance: float, alpha: float) -> RegressionRules:
    return _rules([f"m.{j}" for j in range(candidate.shape[2])], tolerance, alpha)


def _rules(names: list[str], tolerance: float, alpha: float) -> RegressionRules:
    return RegressionRules(
        alpha=alpha,
        tolerance=Tolerance(value=tolerance),
        metrics={name: MetricRule(metric=name) for name in names},
    )


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
