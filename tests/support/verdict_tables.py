"""Tables with known effects for the tests of the verdict."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gate.analysis.table import Table
from gate.analysis.tally import Tally
from gate.records import Looks, MetricSpec
from gate.store.baseline.find import Compared
from gate.verdict.suite_data import UNPLANNED, SuiteData

SUCCESS = MetricSpec(name="agent.success_rate", column="success", family="rate", unit="share")
RECALL = MetricSpec(name="retrieval.recall@5", column="recall", unit="share")
JUDGE = MetricSpec(name="correctness.factual_correctness", column="judge", low=1.0, high=5.0)
P95 = MetricSpec(
    name="operational.p95_latency_ms",
    column="latency_ms",
    family="quantile",
    unit="ms",
    direction="lower",
    high=None,
)
COST = MetricSpec(
    name="agent.cost_per_task",
    column="cost_usd",
    family="log_mean",
    unit="USD",
    direction="lower",
    high=None,
)
SPECS = (SUCCESS, RECALL, JUDGE, P95, COST)


def build(
    columns: Mapping[str, np.ndarray],
    *,
    suite: str = "s",
    specs: tuple[MetricSpec, ...] = SPECS,
    graders: Mapping[str, str] | None = None,
    prefix: str = "c",
) -> Table:
    """Cases are called c000, c001, ...; infrastructure errors are 0 unless given."""
    first = next(iter(columns.values()))
    ids = tuple(f"{prefix}{i:03d}" for i in range(len(first)))
    return Table(
        suite=suite,
        cases=ids,
        digests=ids,
        rounds=first.shape[1],
        columns={"infra_error": np.zeros(first.shape), **columns},
        specs={spec.name: spec for spec in specs},
        graders=graders or {},
    )


def passing(cases: int, rounds: int, failed: int = 0) -> np.ndarray:
    """All rounds pass, but for those of the first `failed` cases."""
    values = np.ones((cases, rounds))
    values[:failed] = 0.0
    return values


def noisy(cases: int, rounds: int, mean: float, seed: int) -> np.ndarray:
    """Independent passes with one chance."""
    return (np.random.default_rng(seed).random((cases, rounds)) < mean).astype(float)


def latencies(cases: int, rounds: int, factor: float = 1.0, seed: int = 0) -> np.ndarray:
    """Log-normal milliseconds."""
    rng = np.random.default_rng(seed)
    return factor * np.exp(7.0 + 0.3 * rng.standard_normal((cases, rounds)))


def suite_data(
    *,
    current: Table,
    baseline: Table | None = None,
    chosen: int = 0,
    planned: int = 0,
    made: int = 0,
    looks: Looks | None = None,
    unanswered: str = "",
    fresh: bool = False,
    drift: Mapping[str, float] | None = None,
    not_comparable: str = "",
    **more: object,
) -> SuiteData:
    """A suite whose plan asks `chosen` cases in `planned` trials, of which `made` were made;
    `unanswered`: why calls ended in infrastructure errors.
    """
    lost = {"infra_error": Counter({unanswered: 1})} if unanswered else {}
    rounds = planned // chosen if chosen else 0
    return SuiteData(
        **{
            "name": "s",
            "current": current,
            "compared": Compared(table=baseline, drift=drift or {}, not_comparable=not_comparable),
            "meta": replace(UNPLANNED, cases=chosen, rounds=rounds, looks=looks),
            "tally": Tally(trials=made, errors=lost),
            "control": Tally() if fresh else None,
            **more,
        }
    )
