"""Tables with known effects for the tests of the verdict."""

from collections.abc import Mapping

import numpy as np

from gate.analysis.table import Table
from gate.records import MetricSpec

SUCCESS = MetricSpec(name="agent.success_rate", column="success", family="rate", unit="share")
RECALL = MetricSpec(name="retrieval.recall@5", column="recall", unit="share")
JUDGE = MetricSpec(name="correctness.correctness", column="judge", low=1.0, high=5.0)
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
