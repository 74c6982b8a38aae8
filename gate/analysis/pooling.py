"""Which rounds of a stored baseline count: the newest runs that agree with each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gate.plugins import Array
from gate.stats.pairs import pair
from gate.stats.shuffle import shuffle_test
from gate.table import Table

DIFFERS = 0.01  # two-sided p-value below which a run is no longer the same agent


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The rounds to compare with, and which runs they come from (newest last)."""

    table: Table
    runs: tuple[str, ...]
    notes: tuple[str, ...] = ()


def pool(table: Table, runs: Sequence[tuple[str, int]]) -> Pool:
    """`table`: all stored rounds, oldest first; `runs`: (run id, its rounds) in the same order.

    Goes from the newest run backwards until one differs from the newer ones in success (shuffle
    test, p < .01), or has none of the newer ones' cases and graders any more.
    """
    success = table.column("success")
    scored = not np.isnan(success).all()
    start = table.rounds
    used: list[str] = []
    notes: list[str] = []
    for run_id, rounds in reversed(runs):
        older = success[:, start - rounds : start]
        if used and scored:
            p = _difference(older, success[:, start:])
            if p is None:
                notes.append(f"run {run_id} and older left out: other cases or graders")
                break
            if p < DIFFERS:
                notes.append(f"run {run_id} and older left out: it differs (p = {p:.2g})")
                break
        start -= rounds
        used.append(run_id)
    return Pool(table=_last_rounds(table, start), runs=tuple(reversed(used)), notes=tuple(notes))


def _difference(older: Array, newer: Array) -> float | None:
    """Two-sided p-value; None when they have no case in common."""
    pairs = pair(older, newer)
    if not pairs.cases:
        return None
    test = shuffle_test(pairs)
    return min(1.0, 2.0 * min(test.p_down, test.p_up))


def _last_rounds(table: Table, start: int) -> Table:
    columns = {name: values[:, start:] for name, values in table.columns.items()}
    return replace(table, rounds=table.rounds - start, columns=columns)
