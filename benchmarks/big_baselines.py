"""Two baselines of 100,000 cases x 3 rounds (pass or fail, errors and latency), a.json and b.json.

python benchmarks/big_baselines.py FOLDER [--cases 1000000] [--columns success]
python benchmarks/big_baselines.py --time      seconds of estimates and verdict, in memory
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gate.analysis.catalogue import TRIAL_METRICS
from gate.analysis.estimates import estimates
from gate.analysis.table import Table
from gate.records import Policy, RegressionRules
from gate.records.baseline import BaselineRun
from gate.store.baseline.file import BaselineFile, render
from gate.store.baseline.find import Compared
from gate.verdict.decide import decide
from gate.verdict.suite_data import SuiteData

ROUNDS = 3


COLUMNS = ("success", "first_success", "latency_ms", "agent_error")


def table(cases: int, seed: int, kept: Sequence[str] = COLUMNS) -> Table:
    """Cases that pass with chance 0.9 and take about a second, as one run measured them."""
    rng = np.random.default_rng(seed)
    passed = (rng.random((cases, ROUNDS)) < 0.9).astype(float)
    latency = np.round(rng.lognormal(7.0, 0.4, (cases, ROUNDS)), 1)
    columns = {
        "success": passed,
        "first_success": passed,
        "latency_ms": latency,
        "agent_error": np.zeros((cases, ROUNDS)),
    }
    return Table(
        suite="big",
        cases=tuple(f"case-{n:06}" for n in range(cases)),
        digests=tuple(f"{n:016x}" for n in range(cases)),
        rounds=ROUNDS,
        columns={name: values for name, values in columns.items() if name in kept},
        specs={spec.name: spec for spec in TRIAL_METRICS if spec.column in kept},
    )


def seconds() -> float:
    """Of estimates and verdict over two tables of 100,000 cases; the median of five."""
    before, after = table(100_000, 0), table(100_000, 1)
    taken = []
    for _ in range(5):
        start = time.perf_counter()
        estimates(after, after.specs)
        decide(
            [SuiteData(name="big", current=after, compared=Compared(table=before))],
            gates=(),
            regression=RegressionRules(),
            policy=Policy(),
        )
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", nargs="?", type=Path, default=Path())
    options.add_argument("--cases", type=int, default=100_000)
    options.add_argument("--columns", nargs="+", choices=COLUMNS, default=COLUMNS)
    options.add_argument("--time", action="store_true")
    given = options.parse_args()
    if given.time:
        print(f"{seconds():.2f}")
        return
    for seed, name in enumerate(("a", "b")):
        run = BaselineRun(
            session_id=f"20260101-00000{seed}-0000000{seed}",
            commit=f"{seed}" * 40,
            created_at="2026-01-01T00:00:00Z",
            rounds=ROUNDS,
            kept=ROUNDS,
        )
        baseline = BaselineFile(table=table(given.cases, seed, given.columns), runs=(run,))
        (given.folder / f"{name}.json").write_text(render(baseline), encoding="utf-8")


if __name__ == "__main__":
    main()
