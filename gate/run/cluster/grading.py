"""Recorded answers graded by the workers of a cluster."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import cast

from gate.files.own_source import digest_of_gate
from gate.run.cluster import on_worker
from gate.run.cluster.connect import Cluster, Future, PoolLost, connect, refuse_open_ways
from gate.run.grading.case_store import CaseFile
from gate.run.grading.collect import Graded
from gate.run.grading.grade_batch import GradingKit, Reply
from gate.run.grading.read_trials import Batch
from gate.system.in_order import OrderedWorker
from gate.text.redaction import Redactor

_AHEAD = 2  # batches on their way to each thread of a worker, so that it never waits for one


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterHelpers:
    """Helpers (gate/run/grading/collect.py) of a cluster."""

    cluster: Cluster
    know_secrets: bool

    def workers(self, kit: GradingKit) -> list[OrderedWorker[Batch, Graded]]:
        known = kit if self.know_secrets else replace(kit, redactor=Redactor(()))
        sent = pickle.dumps((known, self.know_secrets))
        number = _AHEAD * self.cluster.count_threads()
        return [_Sender(self.cluster, sent, CaseFile(kit.cases)) for _ in range(number)]


@contextmanager
def open_helpers(scheduler: str, *, send_secrets: bool) -> Iterator[ClusterHelpers]:
    """Raises UsageError, InfrastructureError."""
    with connect(scheduler) as cluster:
        if send_secrets:
            refuse_open_ways([scheduler, *cluster.list_workers()])
        yield ClusterHelpers(cluster=cluster, know_secrets=send_secrets)


class _Sender:
    """Has one batch at a time graded, by whichever worker Dask chooses."""

    def __init__(self, cluster: Cluster, kit: bytes, cases: CaseFile) -> None:
        self._cluster, self._kit, self._cases = cluster, kit, cases
        self._future: Future | None = None

    def work(self, batch: Batch) -> Graded:
        cases = {place: self._cases.find(place) for _, place, _, _ in batch.trials}
        self._future = self._cluster.submit(
            on_worker.grade, self._kit, digest_of_gate(), pickle.dumps((batch.trials, cases))
        )
        return batch, cast("list[Reply]", self._cluster.wait_for(self._future))

    def close(self) -> None:
        with suppress(PoolLost):
            self._cluster.cancel([self._future] if self._future else [])
        self._cases.close()
