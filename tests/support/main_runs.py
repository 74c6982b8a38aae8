"""Runs of main as a baseline file keeps them: a table of values and a header a run."""

from collections.abc import Mapping, Sequence

import numpy as np

from gate.analysis.table import Table
from gate.records import MetricSpec
from gate.records.baseline import BaselineRun
from tests.support.verdict_tables import SUCCESS

NAN = float("nan")


def past(
    *blocks: np.ndarray | Mapping[str, np.ndarray],
    specs: tuple[MetricSpec, ...] = (SUCCESS,),
    older: Sequence[BaselineRun] = (),
    fingerprints: Sequence[Mapping[str, str]] = (),
) -> tuple[Table, list[BaselineRun]]:
    """Each block is a run, oldest first: success, or columns by name, each of cases x rounds.

    `older`: runs before them that kept no values. Runs are called r00, r01, ... over all.
    """
    columns = [block if isinstance(block, Mapping) else {"success": block} for block in blocks]
    first = next(iter(columns[0].values()))
    ids = tuple(f"c{i:03d}" for i in range(len(first)))
    runs = list(older)
    for number, block in enumerate(columns):
        rounds = next(iter(block.values())).shape[1]
        made = fingerprints[number] if fingerprints else {}
        runs.append(header(len(runs), cases=len(ids), rounds=rounds, kept=rounds, fingerprint=made))
    table = Table(
        suite="s",
        cases=ids,
        digests=ids,
        rounds=sum(run.kept for run in runs),
        columns={name: np.hstack([block[name] for block in columns]) for name in columns[0]},
        specs={spec.name: spec for spec in specs},
        graders=dict.fromkeys(columns[0], "g"),
    )
    return table, runs


def header(number: int, **changes: object) -> BaselineRun:
    known = {
        "session_id": f"r{number:02d}",
        "commit": f"{number:02d}" * 20,
        "created_at": f"2026-11-{number + 1:02d}T08:00:00Z",
    }
    return BaselineRun(**{**known, **changes})


def passes(share: float, cases: int = 60, rounds: int = 3, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng([seed, round(1000 * share)])
    return (rng.random((cases, rounds)) < share).astype(float)
