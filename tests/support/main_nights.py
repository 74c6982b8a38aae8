"""Main's nights: simulated runs of one suite, and the anchor that follows them."""

from datetime import UTC, datetime, timedelta

import numpy as np

from gate.analysis.anchor import Watched
from gate.analysis.table import Table, append_rounds, last_rounds
from gate.records import MetricSpec, Tolerance
from gate.records.baseline import BaselineRun
from gate.store.baseline.anchor import AnchorRules, MainRuns, follow_main
from gate.store.baseline.file import BaselineFile, StoredAnchor

SUCCESS = MetricSpec(name="agent.success_rate", column="success", family="rate", unit="share")
FACTS = MetricSpec(name="correctness.fact_accuracy", column="facts", unit="share")
CASES, ROUNDS, KEPT = 100, 3, 5
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def watch(*specs: MetricSpec) -> tuple[Watched, ...]:
    return tuple(Watched(spec=spec, tolerance=Tolerance(value=0.02)) for spec in specs)


class Main:
    """Main's nightly runs and the file that they are saved to."""

    def __init__(self, wanted: str = "release", *specs: MetricSpec, seed: int = 1) -> None:
        self.specs = specs or (SUCCESS,)
        self.rules = AnchorRules(wanted=wanted, watched=watch(*self.specs))
        self.rng = np.random.default_rng(seed)
        kind = self.rng.random(CASES)
        self.chances = np.where(
            kind < 0.5, self.rng.beta(0.5, 0.5, CASES), self.rng.beta(20, 1, CASES)
        )
        self.anchor: StoredAnchor | None = None
        self.stored = MainRuns(table=self.table(0.0, rounds=0), runs=())
        self.nights = 0

    def table(self, fall: float, rounds: int = ROUNDS) -> Table:
        """A run in which every case passes so much less often."""
        wanted = self.chances * (1.0 - fall / self.chances.mean())
        passed = self.rng.random((CASES, rounds)) < wanted[:, None]
        ids = tuple(f"case-{number:03d}" for number in range(CASES))
        return Table(
            suite="demo",
            cases=ids,
            digests=ids,
            rounds=rounds,
            columns={spec.column: passed.astype(np.float64) for spec in self.specs},
            specs={spec.name: spec for spec in self.specs},
            graders={spec.column: "g" for spec in self.specs},
            categories=(None,) * CASES,
        )

    def run(self, fall: float = 0.0, times: int = 1, **changes: str) -> StoredAnchor:
        for _ in range(times):
            table = self.table(fall)
            run = BaselineRun(
                session_id=f"s{self.nights}",
                commit=f"{self.nights:040x}",
                created_at=(BEGAN + timedelta(days=self.nights)).isoformat(),
                rounds=ROUNDS,
                kept=ROUNDS,
                cases=CASES,
                fingerprint=changes,
            )
            self.anchor = follow_main(self.stored, self.anchor, table, run, self.rules)
            joined = append_rounds(self.stored.table, table)
            runs = (*self.stored.runs, run)[-KEPT:]
            self.stored = MainRuns(
                table=last_rounds(joined, sum(one.kept for one in runs)), runs=runs
            )
            self.nights += 1
        assert self.anchor is not None
        return self.anchor

    @property
    def lost(self) -> list[str]:
        return sorted(self.anchor.header.falls) if self.anchor else []

    def file(self) -> BaselineFile:
        return BaselineFile(table=self.stored.table, runs=self.stored.runs, anchor=self.anchor)
